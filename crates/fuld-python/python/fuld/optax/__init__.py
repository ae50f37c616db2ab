"""FULD for JAX: optimizers as those of optax.

`fuld` is the optimizer, `scale_by_fuld` its heart for chains of one's own, and `from_paper` the
same in the paper's symbols; `calibration` says what ``alpha="auto"`` has found.
``help(fuld.optax.fuld)`` says more, with examples.
"""

try:
    import optax as _optax  # noqa: F401
except ImportError as error:
    raise ImportError("fuld.optax needs optax and jax: pip install optax") from error

from fuld.optax._calibrated import calibration
from fuld.optax._fuld import from_paper, fuld
from fuld.optax._scale_by_fuld import scale_by_fuld

__all__ = ["calibration", "from_paper", "fuld", "scale_by_fuld"]


def __dir__() -> list[str]:
    """What users see."""
    return __all__
