"""NumPyro models for `fuld.sample`.

Examples
--------
>>> import jax.numpy as jnp
>>> import numpyro
>>> import numpyro.distributions as dist
>>> import fuld
>>> import fuld.numpyro
>>> def coin(heads, throws):
...     p = numpyro.sample("p", dist.Beta(1, 1))
...     numpyro.sample("heads", dist.Binomial(throws, p), obs=heads)
>>> samples = fuld.sample(fuld.numpyro.model(coin, 7, 10), seed=1)
>>> bool(abs(samples["p"].mean() - 8 / 12) < 0.01)
True
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray
from numpyro import handlers
from numpyro.infer.util import initialize_model

from fuld._constraints import Array
from fuld._gradients import JaxGradient
from fuld._model import Model
from fuld._returned_arrays import float64

__all__ = ["model"]


def model(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Model:  # noqa: ANN401
    """Return a NumPyro model with its arguments, which `fuld.sample` accepts.

    Parameters
    ----------
    function
        The model, a function with ``numpyro.sample`` statements.
    args, kwargs
        What the model is called with.
    """
    if not callable(function):
        raise TypeError(f"a NumPyro model must be a function, got {type(function).__name__}")
    return NumPyroModel(function, args, kwargs)


class NumPyroModel(Model):
    """A NumPyro model whose latent variables are continuous."""

    uses_jax = True

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.name = getattr(function, "__name__", "NumPyro model")
        self.dims = {}
        self.coords = {}
        self.dim = self._info[1]

    @cached_property
    def _info(self) -> tuple[Any, int, Callable[[Any], Any]]:
        """What NumPyro made of the model, its dimension, and the map from points to parameters."""
        trace = handlers.trace(handlers.seed(self.function, 0)).get_trace(*self.args, **self.kwargs)
        latent = {
            name: site["fn"]
            for name, site in trace.items()
            if site["type"] == "sample" and not site["is_observed"]
        }
        discrete = [name for name, law in latent.items() if law.support.is_discrete]
        if discrete:
            raise TypeError(
                f"fuld samples continuous variables, but {', '.join(discrete)} of the NumPyro "
                "model are discrete: sum over them in the model"
            )
        if not latent:
            raise TypeError(f"the NumPyro model {self.name} has no variables to sample")
        info = initialize_model(
            jax.random.key(0),
            self.function,
            model_args=self.args,
            model_kwargs=self.kwargs,
            validate_grad=False,
        )
        leaves, form = jax.tree.flatten(info.param_info.z)
        shapes = [np.shape(leaf) for leaf in leaves]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes]).tolist()

        def unravel(x: Any) -> Any:  # noqa: ANN401
            parts = jax.numpy.split(x, ends[:-1])
            shaped = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
            return jax.tree.unflatten(form, shaped)

        return info, ends[-1], unravel

    @cached_property
    def _gradient(self) -> JaxGradient:
        info, _, unravel = self._info
        return JaxGradient(lambda x: info.potential_fn(unravel(x)))

    @cached_property
    def _constrain(self) -> Callable[[Array], Any]:
        info, _, unravel = self._info
        constrain: Callable[[Array], Any] = jax.jit(
            jax.vmap(lambda x: info.postprocess_fn(unravel(x)))
        )
        return constrain

    def __call__(self, x: Array, *words: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return f = -log p and its gradient."""
        value, gradient = self._gradient(np.atleast_2d(x))
        return (value, gradient) if np.ndim(x) > 1 else (value[0], gradient[0])

    def values(self, x: Array) -> dict[str, NDArray[Any]]:
        """Return the latent variables and the deterministic ones."""
        return {name: float64(array) for name, array in self._constrain(x).items()}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without compiled code."""
        made = {"_info", "_gradient", "_constrain"}
        return {name: value for name, value in self.__dict__.items() if name not in made}
