"""Models given by a function: a log density or a potential of named variables, or of one vector.

The function is called with the values of its variables, by their names or as one dict; without
variables, with one point, an array (dim,). It returns the value alone if a framework can
differentiate it, and otherwise value and gradient. Transforms and their Jacobians are applied
here, so that they are the same for every framework.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuld._constraints import Array
from fuld._gradients import (
    FRAMEWORKS,
    Framework,
    at,
    framework_of,
    gradient_of,
    only_a_value,
)
from fuld._minibatches import Rows
from fuld._model import Model
from fuld._variables import Variables, check_dims

#: The variable of functions of one vector.
VECTOR = "x"


class FunctionModel(Model):
    """A function of variables."""

    def __init__(
        self,
        function: Callable[..., Any],
        variables: Variables,
        framework: Framework,
        *,
        is_log_density: bool,
        takes_vector: bool = False,
        rows: Rows | None = None,
        together: bool = False,
        dims: Mapping[str, Sequence[str]] | None = None,
        coords: Mapping[str, Sequence[Any]] | None = None,
        name: str | None = None,
    ) -> None:
        self.function = function
        self.variables = variables
        self.framework = framework
        self.is_log_density = is_log_density
        self.takes_vector = takes_vector
        self.named = not takes_vector
        self.rows = rows
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.dim = variables.dim
        self.stochastic = rows is not None and rows.batch_size is not None
        self.written_gradient = framework == "written"
        self.uses_jax = framework == "jax"
        shapes = {variable.name: variable.shape for variable in variables.all}
        self.dims, self.coords = check_dims(shapes, dims, coords)
        call = function if takes_vector else convention(function, variables.names, rows is not None)
        self.gradient = gradient_of(framework, call, shared=not self.stochastic, together=together)

    def __call__(self, x: Array, *words: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return f = -log p, with the Jacobians of the transforms, and its gradient."""
        points = np.atleast_2d(x)
        with np.errstate(all="ignore"):
            values, log_jacobian = self.variables.values(points)
            first: Any = values[VECTOR] if self.takes_vector else values
            rest: tuple[Any, ...] = ()
            if self.rows is not None:
                rest = (self.rows.batch(np.atleast_1d(words[0] if words else np.uint64(0))),)
            value, gradients = self.gradient(first, *rest)
            if self.takes_vector:
                gradients = {VECTOR: gradients}
            if not self.is_log_density:
                value, gradients = -value, {name: -g for name, g in gradients.items()}
            gradient = self.variables.pull_back(points, values, gradients)
            f = -(value + log_jacobian)
        return (f, -gradient) if np.ndim(x) > 1 else (f[0], -gradient[0])

    def values(self, x: Array) -> dict[str, NDArray[Any]]:
        """Return the variables at points."""
        return self.variables.values(x)[0]

    def coordinates(self, values: Mapping[str, object]) -> Array:
        """Return the point at which the variables have these values."""
        return self.variables.coordinates(values)


def detect(
    function: Callable[..., Any],
    variables: Variables,
    *,
    takes_vector: bool,
    rows: Rows | None,
    given: str | None,
    point: Array,
) -> Framework:
    """Return who computes the gradient: as `given`, or by what the function returns at a point."""
    if given is not None:
        if given not in FRAMEWORKS:
            raise ValueError(f"gradient must be 'jax' or 'torch', got {given!r}")
        return given  # type: ignore[return-value]
    values = at(variables.values(point[None])[0], 0)
    first = values[VECTOR] if takes_vector else values
    rest: tuple[Any, ...] = ()
    if rows is not None:
        batch = rows.batch(np.zeros(1, np.uint64))
        rest = (batch if rows.batch_size is None else at(batch, 0),)
    call = function if takes_vector else convention(function, variables.names, rows is not None)
    framework = framework_of(call, first, *rest)
    if framework is None:
        with np.errstate(all="ignore"):
            raise TypeError(only_a_value(call(first, *rest)))
    return framework


class ByName:
    """Calls a function with each variable by its name."""

    def __init__(self, function: Callable[..., Any], batch: str | None) -> None:
        self.function = function
        self.batch = batch

    def __call__(self, values: dict[str, Any], *rest: Any) -> Any:  # noqa: ANN401
        """Call the function; the minibatch has the name of the remaining parameter."""
        named = dict(zip([self.batch], rest, strict=True)) if self.batch else {}
        return self.function(**values, **named)


def convention(
    function: Callable[..., Any], names: list[str], has_rows: bool
) -> Callable[..., Any]:
    """Return a function of one dict, and of a minibatch if there is data.

    If every variable is a parameter of the function, it is called by name; if it has one
    parameter, beside that for the minibatch, it is called with the dict.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # compiled functions need not have one
        return function
    kinds = inspect.Parameter
    by_name = (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    named = {p.name for p in parameters if p.kind in by_name}
    alone = (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
    required = [p.name for p in parameters if p.kind not in alone and p.default is p.empty]
    others = [name for name in required if name not in names]
    any_name = any(p.kind is kinds.VAR_KEYWORD for p in parameters)
    if (set(names) <= named or any_name) and len(others) == int(has_rows):
        return ByName(function, others[0] if has_rows else None)
    anything = any(p.kind is kinds.VAR_POSITIONAL for p in parameters)
    if len(required) == 1 + int(has_rows) or (not required and (named or anything)):
        return function
    batch = ["batch"] if has_rows else []
    raise TypeError(
        f"the function must take the variables by name, def logp({', '.join([*names, *batch])}), "
        f"or as one dict, def logp({', '.join(['values', *batch])}); its parameters are "
        f"({', '.join(p.name for p in parameters)})"
    )
