"""FULD for JAX: optimizers as those of optax.

`guard` is a transformation that makes any optimizer survive heavy tails, bursts and corrupted
gradients. `fuld` is the optimizer, `scale_by_fuld` its transformation without the learning rate,
and `from_paper` the optimizer in the paper's symbols. ``help(fuld.optax.guard)`` has examples.
"""

try:
    import optax as _optax  # noqa: F401
except ImportError as error:
    raise ImportError("fuld.optax requires optax and jax: pip install optax") from error

from fuld.optax._fuld import from_paper, fuld
from fuld.optax._guard import GuardState, guard
from fuld.optax._scale_by_fuld import scale_by_fuld

__all__ = ["GuardState", "from_paper", "fuld", "guard", "scale_by_fuld"]


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
