"""Functions that are far slower than they need to be are noticed before the run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuld._function_check import FunctionCheck
from fuld._function_model import FunctionModel
from fuld._gradients import TorchGradient, WrittenGradient, at, package_of

#: Seconds that a run must take at least for its speed to matter.
_LONG_RUN = 10.0
#: Times by which the advice must be faster.
_FASTER = 3.0
#: Iterations of a run if its settings do not say: the default warm-up.
_WARMUP = 500


class SlowFunction(UserWarning):
    """A function is far slower than it needs to be; the message has the line that fixes it."""


def slow_function(
    check: FunctionCheck, vectorized: bool, first_seconds: float, options: Mapping[str, Any]
) -> list[str]:
    """Return advice if a function is slow, and compiling it or calling it for all chains helps.

    `first_seconds` is the time of the first call for all chains, which may have compiled it.
    """
    function = check.function
    iterations = (options["warmup"] or _WARMUP) + options["draws"] * (options["thin"] or 1)
    points = check.points[: options["chains"]]
    if first_seconds * iterations < _LONG_RUN:
        return []
    seconds = _seconds(lambda: check.all_points(vectorized))
    if seconds * iterations < _LONG_RUN:
        return []
    taken = f"{1e3 * seconds:.3g} ms for all {len(points)} chains"
    if isinstance(function, FunctionModel):
        gradient = function.gradient
        if function.framework == "written" and _returns_jax(function, points):
            return [
                f"{function.name} takes {taken}, because JAX runs it operation by operation and "
                "chain by chain: return the value alone, which fuld differentiates and compiles"
            ]
        if not isinstance(gradient, TorchGradient) or gradient.one_by_one is None:
            return []
        reason = str(gradient.one_by_one).strip().split("\n")[0]
        return [
            f"{function.name} is called for one chain at a time and takes {taken}, because "
            f"torch.func.vmap cannot call it for all: {reason}. Distributions require "
            "validate_args=False, and torch.where replaces `if`"
        ]
    if check.stochastic or not _is_jax(function, points, vectorized):
        return []
    import jax

    wrapped = "jax.jit({})" if vectorized else "jax.jit(jax.vmap({}))"
    compiled = jax.jit(function if vectorized else jax.vmap(function))
    try:
        np.asarray(compiled(points)[0])
        better = _seconds(lambda: np.asarray(compiled(points)[0]))
    except Exception:  # it uses something that JAX cannot compile
        return []
    if seconds < _FASTER * better:
        return []
    name = getattr(function, "__name__", "f")
    name = name if name.isidentifier() else "f"
    return [
        f"{name} takes {taken}, and {1e3 * better:.3g} ms if JAX compiles it: sample from "
        f"{wrapped.format(name)}, or return the value alone, which fuld differentiates and compiles"
    ]


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _returns_jax(model: FunctionModel, points: Any) -> bool:  # noqa: ANN401
    """Return whether a function of variables that is called chain by chain uses JAX."""
    if model.rows is not None or not isinstance(model.gradient, WrittenGradient):
        return False
    answer = model.gradient.function(at(model.values(points[:1]), 0))
    return bool(package_of(answer[0]) == "jax")


def _is_jax(function: Callable[..., Any], points: Any, vectorized: bool) -> bool:  # noqa: ANN401
    """Return whether a function returns arrays of JAX."""
    if vectorized and hasattr(function, "lower"):  # compiled already
        return False
    answer = function(points if vectorized else points[0])
    return bool(package_of(answer[0]) == "jax")
