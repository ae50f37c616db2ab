"""The native module. Its functions take and return plain arrays; the package wraps them."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import NDArray

Real = TypeVar("Real", np.float32, np.float64)
Doubles = NDArray[np.float64]

__version__: str

# The law
def check_parameters(alpha: Doubles, scale: Doubles) -> None: ...
def kinetic_scale(alpha: Doubles) -> Doubles: ...
def evaluate(name: str, x: NDArray[Real], alpha: Doubles, scale: Doubles) -> NDArray[Real]: ...

@final
class Sampler:
    def __new__(cls, alpha: float) -> Sampler: ...
    def transform(self, words: NDArray[np.uint64], scale: Doubles, out: NDArray[Real]) -> None: ...

# Its field
@final
class FieldTable:
    def __new__(cls, alpha: float) -> FieldTable: ...
    def eval_into(self, v: NDArray[Real], out: NDArray[Real]) -> None: ...

# Runs
@final
class Target:
    @staticmethod
    def of_text(text: str, dim: int | None, params: dict[str, float]) -> Target: ...
    @staticmethod
    def of_function(
        function: Callable[..., tuple[Any, Any]],
        dim: int,
        vectorized: bool,
        stochastic: bool,
        fingerprint: int,
    ) -> Target: ...
    @property
    def names(self) -> list[str]: ...

@final
class Plan:
    def __new__(cls, target: Target, options: dict[str, Any]) -> Plan: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def fingerprint(self) -> str: ...
    def start(
        self, first_chain: int, chains: int, threads: int, store: str | None, resume: bool
    ) -> Run: ...
    def write_store(
        self, store: str, x: Doubles, v: Doubles | None
    ) -> None: ...
    def read_store(self, store: str) -> tuple[Doubles, Doubles | None]: ...

@final
class Run:
    @property
    def progress(self) -> tuple[int, int, int, int, float] | None: ...
    @property
    def finished(self) -> bool: ...
    @property
    def paused(self) -> bool: ...
    def pause(self, paused: bool) -> None: ...
    def stop(self) -> None: ...
    def wait(self, seconds: float) -> bool: ...
    def ask(self) -> int: ...
    def wait_for_draws(self, before: int, seconds: float) -> bool: ...
    def outcome(self) -> tuple[bool, list[tuple[int, int]]]: ...
    def draws(self) -> tuple[Doubles, Doubles | None]: ...

def starts(
    dim: int, chains: int, seed: int, start: list[float] | None, spread: float
) -> Doubles: ...
def systems() -> dict[str, str]: ...
def potentials() -> dict[str, tuple[str, dict[str, float]]]: ...

# Tail indices.
def tail_index(
    x: Doubles,
    dimension: int,
    common_scale: bool,
    method: str,
    settings: Mapping[str, int | list[int] | None],
    level: float,
    resamples: int,
    seed: int,
    control: bool,
) -> tuple[
    float,
    tuple[float, float],
    float | None,
    tuple[float, float] | None,
    int,
    tuple[float, tuple[float, float]] | None,
]: ...

# Fields.
def riesz(u: Doubles, dx: float, gamma: float) -> Doubles: ...
def drift_c(v: Doubles, alpha: float, beta: float) -> Doubles: ...
def transport_h(v: Doubles, alpha: float, beta: float) -> Doubles: ...
def flmc_drift(
    potential: str, x: Doubles, alpha: float, beta: float
) -> Doubles: ...
def conformal_field(
    potential: str,
    points: tuple[Doubles, Doubles],
    gaussian: bool,
    alpha: float,
    beta: float,
    gamma: float,
) -> tuple[Doubles, Doubles, Doubles]: ...
