"""Potentials: formulas, names, functions and models, as everything that is needed to build them.

`target_of` checks a potential. A function of points is called at the starting points, to find out
whether it takes all chains at once and whether its values have the right shapes; if it returns no
gradient, JAX or torch differentiates it. A function is identified by its name and a hash of its
code, not by values.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fuld import _native
from fuld._function_check import FunctionCheck
from fuld._function_identity import code_hash
from fuld._gradients import TENSORS, PrecisionError, framework_of
from fuld._log_density import LogDensity
from fuld._model import Model
from fuld._models import function_model
from fuld._slow_functions import slow_function

#: Steps of a log density that change acceptance probabilities by a hundredth.
_COARSE = 0.01
#: A formula or a name, a function, or a model.
Potential: TypeAlias = Any


@dataclass(frozen=True)
class Target:
    """A potential with everything that is needed to build it again, also in another process."""

    potential: Potential
    dim: int | None
    params: Mapping[str, float]
    vectorized: bool = False
    stochastic: bool = False
    function_name: str = ""
    """The name of a function in stores, given by the caller or its own."""
    code: str = ""
    """The hash of a function's code; empty without a store."""
    warnings: list[str] = field(default_factory=list)
    """Why the function seems to be wrong."""
    advice: list[str] = field(default_factory=list)
    """What would make it faster."""

    @property
    def name(self) -> str:
        """The formula, the name with its parameters, or the name of the function."""
        if isinstance(self.potential, str):
            return ", ".join([self.potential, *(f"{k} = {v:g}" for k, v in self.params.items())])
        return self.function_name

    @property
    def model(self) -> Model | None:
        """The model whose variables the draws are returned by; None if it has none."""
        model = self.potential
        return model if isinstance(model, Model) and model.named else None

    def native(self) -> _native.Target:
        """Build the potential."""
        if isinstance(self.potential, str):
            return _native.Target.of_text(self.potential, self.dim, dict(self.params))
        assert self.dim is not None
        return _native.Target.of_function(
            self.potential,
            self.dim,
            self.vectorized,
            self.stochastic,
            self.function_name,
            self.code,
        )


def target_of(
    potential: Potential,
    *,
    dim: int | None,
    params: Mapping[str, float],
    vectorized: bool | None,
    stochastic: bool,
    name: str | None,
    identify: bool,
    options: Mapping[str, Any],
) -> Target:
    """Check a potential and return its target; a function is called at the starting points.

    If `identify`, the target has the hash of a function's code, which stores require.
    """
    if isinstance(potential, str):
        if vectorized is not None or stochastic or name is not None:
            raise ValueError(
                "vectorized, stochastic and name are for functions, not for formulas or names"
            )
        return Target(potential, dim, params)
    if not callable(potential):
        raise TypeError(
            "potential must be a formula like 'x^4/4 - x^2/2', a name like 'double_well', a "
            "function that returns (value, gradient), a model of PyMC or BridgeStan, or what "
            "fuld.numpyro.model returns, got "
            f"{type(potential).__name__}"
        )
    if params:
        raise ValueError("params are for potentials with names; a function has its own")
    if isinstance(potential, Model):
        if stochastic:
            raise ValueError("stochastic is for functions of points: give data= and batch_size=")
        return _model_target(potential, name, identify, options)
    # Before the function is called, which may change what it refers to.
    code = code_hash(potential) if identify else ""
    chains, start = options["chains"], options["start"]
    guessed = dim is None and start is None
    if dim is None:
        dim = 1 if start is None else np.shape(start)[-1]
    # As many points as chains, so that a function is compiled for one shape only. But never as many
    # as coordinates, so that the two axes of a shape can be told apart.
    check = FunctionCheck(
        potential, stochastic, _native.starts(dim, chains + (chains == dim), options)
    )
    try:
        together = check.is_vectorized() if vectorized is None else vectorized
        began = time.perf_counter()
        value, gradient = check.all_points(together)
        seconds = time.perf_counter() - began
    except Exception as error:
        # Only functions that return no gradient have a framework.
        if not stochastic and _framework(potential, check.points[0]) is not None:
            is_log_density = isinstance(potential, LogDensity)
            model = function_model(
                potential.function if is_log_density else potential,
                is_log_density=is_log_density,
                dim=dim,
                name=name,
            )
            return _model_target(model, name, identify, options)
        if guessed and hasattr(error, "add_note"):
            error.add_note("fuld: called with dim = 1, since neither dim nor start was given")
        raise
    _check_starts(check, value, options, stochastic)
    if name is None:
        name = getattr(potential, "__qualname__", type(potential).__name__)
    return Target(
        potential,
        dim,
        {},
        together,
        stochastic,
        name,
        code,
        check.wrong_gradient(gradient, together),
        slow_function(check, together, seconds, options),
    )


def _framework(function: Callable[..., Any], point: Any) -> str | None:  # noqa: ANN401
    """Return the framework that can differentiate a function; None if there is none."""
    try:
        framework = framework_of(function, point)
    except PrecisionError:
        raise
    except Exception as error:
        if TENSORS in getattr(error, "__notes__", ()):
            raise
        return None
    return None if framework == "written" else framework


def _model_target(
    model: Model, name: str | None, identify: bool, options: Mapping[str, Any]
) -> Target:
    code = code_hash(model.identity()) if identify else ""
    points = _native.starts(model.dim, options["chains"], options)
    check = FunctionCheck(model, model.stochastic, points)
    began = time.perf_counter()
    value, gradient = check.all_points(model.vectorized)
    seconds = time.perf_counter() - began
    _check_starts(check, value, options, model.stochastic)
    suspicion = _single_precision(model, value)
    if model.written_gradient:
        suspicion += check.wrong_gradient(gradient, model.vectorized)
    return Target(
        model,
        model.dim,
        {},
        model.vectorized,
        model.stochastic,
        name or model.name,
        code,
        suspicion,
        slow_function(check, model.vectorized, seconds, options),
    )


def _single_precision(model: Model, value: NDArray[np.float64]) -> list[str]:
    """Return a warning if JAX computes values so large that its precision decides on proposals."""
    if not model.uses_jax:
        return []
    import jax

    largest = np.abs(value[np.isfinite(value)]).max(initial=0.0)
    spacing = float(np.spacing(np.float32(largest)))
    if jax.numpy.result_type(float) == np.float64 or spacing < _COARSE:
        return []
    return [
        f"JAX computes in single precision, in which the log density, about {largest:.1g}, changes "
        f"in steps of {spacing:.1g}: proposals are accepted by chance. Before JAX is used, call "
        "jax.config.update('jax_enable_x64', True)"
    ]


def _check_starts(
    check: FunctionCheck,
    value: NDArray[np.float64],
    options: Mapping[str, Any],
    stochastic: bool,
) -> None:
    # Exact sampling draws random starts again.
    exact = options["integrator"] in (None, "exact") and not stochastic
    check.check_starts(value, options["chains"], redrawn=exact and options["start"] is None)
