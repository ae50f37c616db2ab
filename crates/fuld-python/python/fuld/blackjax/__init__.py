"""FULD for BlackJAX: exact sampling with heavy-tailed velocities.

`fuld` is the algorithm, with `init` and `step` as in BlackJAX. `metric` is its kinetic energy, for
`blackjax.nuts` and other kernels that accept a metric. ``help(fuld.blackjax.fuld)`` has examples.
"""

try:
    import blackjax as _blackjax  # noqa: F401
except ImportError as error:
    raise ImportError("fuld.blackjax requires blackjax: pip install blackjax") from error

from fuld.blackjax._fuld import fuld
from fuld.blackjax._metric import metric

__all__ = ["fuld", "metric"]


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
