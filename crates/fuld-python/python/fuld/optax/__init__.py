"""FULD for JAX: optimizers as those of optax.

`fuld` is the optimizer, `scale_by_fuld` its transformation without the learning rate, and
`from_paper` the optimizer in the paper's symbols. `calibration` reports the estimates of
``alpha="auto"``. ``help(fuld.optax.fuld)`` has examples.
"""

try:
    import optax as _optax  # noqa: F401
except ImportError as error:
    raise ImportError("fuld.optax requires optax and jax: pip install optax") from error

from fuld.optax._calibrated import calibration
from fuld.optax._fuld import from_paper, fuld
from fuld.optax._scale_by_fuld import scale_by_fuld

__all__ = ["calibration", "from_paper", "fuld", "scale_by_fuld"]


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
