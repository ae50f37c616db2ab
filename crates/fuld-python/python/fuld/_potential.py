"""Potentials: formulas, names, and functions of one point or of all chains at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fuld import _native
from fuld._function_check import FunctionCheck

#: A formula or a name, or a function that returns value and gradient.
Potential: TypeAlias = str | Callable[..., tuple[Any, Any]]


@dataclass(frozen=True)
class Target:
    """A potential with all that is needed to build it again, in this process or in another."""

    potential: Potential
    dim: int | None
    params: Mapping[str, float]
    vectorized: bool = False
    stochastic: bool = False
    fingerprint: int = 0

    @property
    def name(self) -> str:
        """The formula, the name with its parameters, or the name of the function."""
        if isinstance(self.potential, str):
            return ", ".join([self.potential, *(f"{k} = {v:g}" for k, v in self.params.items())])
        return getattr(self.potential, "__qualname__", type(self.potential).__name__)

    def native(self) -> _native.Target:
        """Build it."""
        if isinstance(self.potential, str):
            return _native.Target.of_text(self.potential, self.dim, dict(self.params))
        assert self.dim is not None
        return _native.Target.of_function(
            self.potential, self.dim, self.vectorized, self.stochastic, self.fingerprint
        )


def target_of(
    potential: Potential,
    *,
    dim: int | None,
    params: Mapping[str, float],
    vectorized: bool | None,
    stochastic: bool,
    options: Mapping[str, Any],
) -> Target:
    """Find out all there is to know of a potential; a function is tried where chains start."""
    if isinstance(potential, str):
        if vectorized is not None or stochastic:
            raise ValueError(
                "vectorized and stochastic are for functions, not for formulas or names"
            )
        return Target(potential, dim, params)
    if not callable(potential):
        raise TypeError(
            "potential must be a formula like 'x^4/4 - x^2/2', a name like 'double_well', or a "
            f"function that returns (value, gradient), got {type(potential).__name__}"
        )
    if params:
        raise ValueError("params are for potentials with names; a function has its own")
    chains, start = options["chains"], options["start"]
    guessed = dim is None and start is None
    if dim is None:
        dim = 1 if start is None else len(start)
    # As many points as chains, so that a function that is compiled for a shape is so only once; but
    # never as many as coordinates, so that shapes tell which is which.
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
    check.check_starts(value, chains)
    check.check_gradient(gradient, vectorized)
    digest = hashlib.blake2b(value.tobytes() + gradient.tobytes(), digest_size=8).digest()
    return Target(potential, dim, {}, vectorized, stochastic, int.from_bytes(digest, "little"))
