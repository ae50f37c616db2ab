"""What is sampled, from what users give: formulas, functions, PyMC models and Stan models."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from fuld._constraints import Array
from fuld._function_model import VECTOR, FunctionModel, detect
from fuld._gradients import Framework
from fuld._log_density import LogDensity
from fuld._minibatches import Rows, rows_of
from fuld._model import Model
from fuld._variables import Variables, check_dims


def foreign_model(given: object) -> Model | None:
    """Return the model of another package; None if it is none that fuld knows."""
    if isinstance(given, Model):
        return given
    for kind in type(given).__mro__:
        where = (kind.__module__.split(".")[0], kind.__name__)
        if where == ("pymc", "Model"):
            from fuld._pymc import PyMCModel

            return PyMCModel(given)
        if where == ("bridgestan", "StanModel"):
            from fuld._stan import StanModel

            return StanModel(given)
    return None


def model_in_context() -> object | None:
    """Return the PyMC model of the present ``with`` block; None if there is none."""
    if "pymc" not in sys.modules:
        return None
    from pymc.model.core import modelcontext

    try:
        model: object = modelcontext(None)
    except TypeError:
        return None
    return model


def subject_of(
    potential: object,
    logp: object,
    *,
    variables: Mapping[str, object] | None,
    dims: Mapping[str, Sequence[str]] | None,
    coords: Mapping[str, Sequence[Any]] | None,
    gradient: str | None,
    data: Any,  # noqa: ANN401
    batch_size: int | None,
    dim: int | None,
    vectorized: bool | None,
    name: str | None,
    start: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Return what is sampled: text, a function that returns value and gradient, or a model."""
    if potential is not None and logp is not None:
        raise TypeError("give either a potential f or logp=, which is -f, but not both")
    given = potential if logp is None else logp
    if given is None:
        given = model_in_context()
    if given is None:
        raise TypeError(
            "nothing to sample from: give a potential like 'x^4/4 - x^2/2', a log density as "
            "logp=, or a PyMC model, or call fuld.sample() inside `with model:`"
        )
    if batch_size is not None and data is None:
        raise ValueError("batch_size requires data=")
    model = foreign_model(given)
    if model is None:
        _refuse_numpyro(given)
    for_functions = {"variables": variables, "gradient": gradient, "data": data}
    foreign = next((k for k, value in for_functions.items() if value is not None), None)
    if foreign is not None and (model is not None or not callable(given)):
        raise ValueError(f"{foreign} is for functions, got {type(given).__name__}")
    if model is not None:
        if vectorized is not None:
            raise ValueError(f"vectorized is for functions, got {type(given).__name__}")
        return with_labels(model, dims, coords)
    if foreign is not None:
        return function_model(
            given,  # type: ignore[arg-type]
            is_log_density=logp is not None,
            dim=dim,
            name=name,
            variables=variables,
            rows=None if data is None else rows_of(data, batch_size),
            gradient=gradient,
            vectorized=vectorized,
            dims=dims,
            coords=coords,
            start=start,
        )
    if dims or coords:
        raise ValueError("dims and coords are for models with named variables: give variables=")
    if logp is None:
        return given
    if isinstance(logp, str):
        return f"-({logp})"
    return LogDensity(logp) if callable(logp) else logp


def _refuse_numpyro(given: object) -> None:
    """Raise an error if a function has ``numpyro.sample`` statements: it computes no density."""
    code, known = getattr(given, "__code__", None), getattr(given, "__globals__", {})
    if code is None or "numpyro" not in sys.modules:
        return
    modules = [getattr(known.get(name), "__name__", "") for name in code.co_names]
    if "numpyro" in modules and "sample" in code.co_names:
        raise TypeError(
            f"{code.co_name} is a NumPyro model: import fuld.numpyro, and give "
            f"fuld.sample(fuld.numpyro.model({code.co_name}, ...)) with the model's arguments"
        )


def with_labels(
    model: Model,
    dims: Mapping[str, Sequence[str]] | None,
    coords: Mapping[str, Sequence[Any]] | None,
) -> Model:
    """Return the model with names of axes, and labels along them, that the user gave."""
    if dims or coords:
        values = model.values(np.zeros((1, model.dim)))
        shapes = {name: array.shape[1:] for name, array in values.items()}
        named, labels = check_dims(shapes, dims, coords)
        model = copy(model)
        model.dims, model.coords = {**model.dims, **named}, {**model.coords, **labels}
    return model


def _first_point(variables: Variables, start: Any) -> Array:  # noqa: ANN401
    """Return the point at which a function is called first: where the first chain starts."""
    if isinstance(start, Mapping):
        start = variables.coordinates(start)
    if start is None:
        return np.zeros(variables.dim)
    return np.resize(np.atleast_2d(np.asarray(start, np.float64))[0], variables.dim)


def function_model(
    function: Callable[..., Any],
    *,
    is_log_density: bool,
    dim: int | None,
    name: str | None,
    variables: Mapping[str, object] | None = None,
    rows: Rows | None = None,
    gradient: str | None = None,
    vectorized: bool | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    coords: Mapping[str, Sequence[Any]] | None = None,
    start: Any = None,  # noqa: ANN401
) -> FunctionModel:
    """Return the model of a function of named variables, or of one vector of `dim` coordinates."""
    laid_out = Variables({VECTOR: dim or 1} if variables is None else variables)
    if variables is not None and dim not in (None, laid_out.dim):
        raise ValueError(
            f"dim must be left out with variables, which have {laid_out.dim} coordinates, got {dim}"
        )
    # Only functions with written gradients take all chains at once themselves.
    framework: Framework = "written"
    if not vectorized or gradient is not None:
        framework = detect(
            function,
            laid_out,
            takes_vector=variables is None,
            rows=rows,
            given=gradient,
            point=_first_point(laid_out, start),
        )
    return FunctionModel(
        function,
        laid_out,
        framework,
        is_log_density=is_log_density,
        takes_vector=variables is None,
        rows=rows,
        together=bool(vectorized),
        dims=dims,
        coords=coords,
        name=name,
    )
