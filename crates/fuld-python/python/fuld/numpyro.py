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

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray
from numpyro import handlers
from numpyro.distributions import ImproperUniform
from numpyro.infer.util import initialize_model, unconstrain_fn

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
        self.coords = {}
        self.dims = _plates(self._trace)
        self.dim = self._info[1]

    @cached_property
    def _trace(self) -> dict[str, Any]:
        """The sites of the model, with values drawn from the prior."""
        seeded = handlers.seed(handlers.substitute(self.function, substitute_fn=_improper), 0)
        trace: dict[str, Any] = handlers.trace(seeded).get_trace(*self.args, **self.kwargs)
        return trace

    @cached_property
    def _info(self) -> tuple[Any, int, Callable[[Any], Any]]:
        """What NumPyro made of the model, its dimension, and the map from points to parameters."""
        latent = {
            name: site["fn"]
            for name, site in self._trace.items()
            if site["type"] == "sample" and not site["is_observed"]
        }
        discrete = [name for name, law in latent.items() if law.support.is_discrete]
        if discrete:
            raise TypeError(
                f"the NumPyro model has discrete variables ({', '.join(discrete)}), which fuld "
                "cannot sample: sum over them in the model"
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

    def coordinates(self, values: Mapping[str, object]) -> Array:
        """Return the point at which the latent variables have these values."""
        names = list(self._info[0].param_info.z)
        if set(values) != set(names):
            raise ValueError(f"start must have a value for each of {names}, got {list(values)}")
        given = {name: jax.numpy.asarray(value, float) for name, value in values.items()}
        for name, value in given.items():
            shape = np.shape(self._trace[name]["value"])
            if value.shape != shape:
                raise ValueError(f"start[{name!r}] must have shape {shape}, got {value.shape}")
        free = unconstrain_fn(self.function, self.args, self.kwargs, given)
        point = np.concatenate([np.ravel(float64(leaf)) for leaf in jax.tree.leaves(free)])
        if not np.isfinite(point).all():
            raise ValueError(f"start must be inside the support of its variables, got {values}")
        return point

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without compiled code."""
        made = {"_trace", "_info", "_gradient", "_constrain"}
        return {name: value for name, value in self.__dict__.items() if name not in made}


def _improper(site: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return a value for a variable with an improper law, which has no draws."""
    law = site.get("fn")
    if site["type"] != "sample" or not isinstance(law, ImproperUniform):
        return None
    return law.support.feasible_like(jax.numpy.zeros(law.shape()))


def _plates(trace: dict[str, Any]) -> dict[str, list[str]]:
    """Return the names of the axes of variables: those of their plates."""
    dims = {}
    for name, site in trace.items():
        plates = {frame.dim: frame.name for frame in site.get("cond_indep_stack", ())}
        if site["type"] != "sample" or site["is_observed"] or not plates:
            continue
        shape, event = np.shape(site["value"]), len(site["fn"].event_shape)
        batch = len(shape) - event
        axes = [plates.get(i - batch, f"{name}_dim_{i}") for i in range(len(shape))]
        dims[name] = axes
    return dims
