"""Potentials: formulas, names, and functions of one point or of all chains at once.

`target_of` checks a potential and collects everything that is needed to build it again. A function
is called at the starting points, to find out whether it takes all chains at once and whether its
values have the right shapes. It is identified by its name and a hash of its code, not by values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fuld import _native
from fuld._function_check import FunctionCheck
from fuld._function_identity import code_hash

#: A formula or a name, or a function that returns value and gradient.
Potential: TypeAlias = str | Callable[..., tuple[Any, Any]]


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

    @property
    def name(self) -> str:
        """The formula, the name with its parameters, or the name of the function."""
        if isinstance(self.potential, str):
            return ", ".join([self.potential, *(f"{k} = {v:g}" for k, v in self.params.items())])
        return self.function_name

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
            "potential must be a formula like 'x^4/4 - x^2/2', a name like 'double_well', or a "
            f"function that returns (value, gradient), got {type(potential).__name__}"
        )
    if params:
        raise ValueError("params are for potentials with names; a function has its own")
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
        if vectorized is None:
            vectorized = check.is_vectorized()
        value, gradient = check.all_points(vectorized)
    except Exception as error:
        if guessed and hasattr(error, "add_note"):
            error.add_note("fuld: called with dim = 1, since neither dim nor start was given")
        raise
    # Exact sampling draws random starts again.
    exact = options["integrator"] in (None, "exact") and not stochastic
    check.check_starts(value, chains, redrawn=exact and start is None)
    check.check_gradient(gradient, vectorized)
    if name is None:
        name = getattr(potential, "__qualname__", type(potential).__name__)
    return Target(potential, dim, {}, vectorized, stochastic, name, code)
