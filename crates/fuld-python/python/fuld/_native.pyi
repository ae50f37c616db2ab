"""The native module. Its functions take and return plain arrays; the package wraps them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

_Real = TypeVar("_Real", np.float32, np.float64)
_Doubles: TypeAlias = NDArray[np.float64]

__all__ = [
    "FieldTable",
    "GuardedTensors",
    "PlannedRun",
    "Run",
    "Sampler",
    "StepRule",
    "Target",
    "__version__",
    "adam_step",
    "adapted_numbers",
    "alpha_bands",
    "check_guard_state",
    "check_parameters",
    "conformal_field",
    "drift_c",
    "end_runs",
    "evaluate",
    "explanation",
    "field_factors",
    "flmc_drift",
    "forget_runs",
    "guard_constants",
    "guard_positions",
    "kinetic_scale",
    "potentials",
    "quadruple_estimate",
    "random_seed",
    "read_store",
    "riesz",
    "starts",
    "step_factors",
    "stored_seed",
    "systems",
    "table_data",
    "tail_index",
    "transport_h",
    "velocity_step",
]

__version__: str

# The law
def check_parameters(alpha: _Doubles, scale: _Doubles) -> None: ...
def kinetic_scale(alpha: _Doubles) -> _Doubles: ...
def evaluate(name: str, x: NDArray[_Real], alpha: _Doubles, scale: _Doubles) -> NDArray[_Real]: ...

@final
class Sampler:
    def __new__(cls, alpha: float) -> Sampler: ...
    def transform(
        self, words: NDArray[np.uint64], scale: _Doubles, out: NDArray[_Real]
    ) -> None: ...

# Its field
@final
class FieldTable:
    def __new__(cls, alpha: float) -> FieldTable: ...
    def eval_into(self, v: NDArray[_Real], out: NDArray[_Real]) -> None: ...

_TableData: TypeAlias = tuple[
    int, list[float] | None, int, int, NDArray[np.int32], NDArray[np.float64]
]

def alpha_bands() -> list[_TableData]: ...
def table_data(alpha: float, single: bool) -> _TableData: ...

# The optimizer
def step_factors(
    alpha: float,
    momentum: float,
    *,
    noise_scale: float | None = None,
    beta: float | None = None,
) -> tuple[float, float]: ...

# The sampler of torch
def field_factors(alpha: float, beta: float) -> tuple[float, float]: ...
def velocity_step(
    alpha: float, beta: float, gamma: float, step: float, noise_scale: float
) -> tuple[float, float]: ...

@final
class StepRule:
    def __new__(cls, alpha: float) -> StepRule: ...
    def field(
        self, dtype: str, tensors: list[int], lengths: Sequence[int], threads: int
    ) -> None: ...
    def step(
        self,
        dtype: str,
        params: list[int],
        buffers: list[int],
        grads: list[int],
        lengths: Sequence[int],
        lr: float,
        momentum: float,
        noise_scale: float | None,
        beta: float | None,
        weight_decay: float,
        decoupled: bool,
        nesterov: bool,
        maximize: bool,
        threads: int,
        guard: tuple[GuardedTensors, float] | None = None,
    ) -> None: ...

@final
class GuardedTensors:
    def __new__(cls, states: list[int], lengths: Sequence[int]) -> GuardedTensors: ...
    def apply(
        self, dtype: str, grads: list[int], clip: float, scale: float, threads: int
    ) -> None: ...

def adam_step(
    dtype: str,
    params: list[int],
    first: list[int],
    second: list[int],
    grads: list[int],
    steps: list[int],
    lengths: Sequence[int],
    guarded: GuardedTensors,
    clip: float,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    maximize: bool,
    threads: int,
) -> None: ...
def guard_constants() -> dict[str, float]: ...
def guard_positions(length: int) -> NDArray[np.int64]: ...
def check_guard_state(numbers: list[float]) -> None: ...

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
        name: str,
        code: str,
    ) -> Target: ...
    @property
    def names(self) -> list[str]: ...

@final
class PlannedRun:
    def __new__(cls, target: Target, options: Mapping[str, Any]) -> PlannedRun: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def fingerprint(self) -> str: ...
    def start(
        self,
        first_chain: int,
        chains: int,
        threads: int,
        store: str | None,
        warm_state: bytes | None,
    ) -> Run: ...
    def start_warm_up(self, threads: int) -> Run: ...
    @property
    def headline(self) -> str: ...
    def summary(
        self, x: _Doubles, names: list[str], statistics: _Doubles | None, adapted: Mapping[str, Any]
    ) -> tuple[str, list[tuple[str, str]], list[str]]: ...
    def write_store(
        self, store: str, x: _Doubles, v: _Doubles | None, statistics: _Doubles | None
    ) -> None: ...

@final
class Run:
    @property
    def progress(self) -> tuple[int, int, int, int, float, int, float | None] | None: ...
    @property
    def finished(self) -> bool: ...
    @property
    def paused(self) -> bool: ...
    def pause(self, paused: bool) -> None: ...
    def stop(self) -> None: ...
    def wait(self, seconds: float) -> bool: ...
    def ask(self) -> int: ...
    def wait_for_draws(self, before: int, seconds: float) -> bool: ...
    def outcome(
        self,
    ) -> tuple[bool, list[tuple[int, int]], dict[str, float | _Doubles] | None]: ...
    def draws(self) -> tuple[_Doubles, _Doubles | None, _Doubles | None]: ...
    def warm_state(self) -> bytes | None: ...

def adapted_numbers(warm_state: bytes) -> dict[str, float | _Doubles] | None: ...
def starts(dim: int, chains: int, options: Mapping[str, Any]) -> _Doubles: ...
def random_seed() -> int: ...
def explanation(anchor: str) -> str: ...
def stored_seed(store: str) -> int | None: ...
def read_store(store: str) -> tuple[_Doubles, _Doubles | None, _Doubles | None]: ...
def end_runs() -> bool: ...
def forget_runs() -> None: ...
def systems() -> dict[str, str]: ...
def potentials() -> dict[str, tuple[str, dict[str, float]]]: ...

# Tail indices.
def tail_index(
    x: _Doubles,
    dimension: int,
    common_scale: bool,
    method: str,
    settings: Mapping[str, int | list[int] | None],
    level: float,
    resamples: int,
    seed: int,
    control: bool,
) -> tuple[
    str,
    float,
    tuple[float, float],
    float | None,
    tuple[float, float] | None,
    int,
    tuple[float, tuple[float, float]] | None,
]: ...
def quadruple_estimate(
    mean_log: float,
    growth: float,
    mean_log_variance: float,
    growth_variance: float,
    covariance: float,
) -> tuple[float, float, float, float]: ...

# Fields.
def riesz(u: _Doubles, dx: float, order: float) -> _Doubles: ...
def drift_c(v: _Doubles, alpha: float, beta: float) -> _Doubles: ...
def transport_h(v: _Doubles, alpha: float, beta: float) -> _Doubles: ...
def flmc_drift(potential: str, x: _Doubles, alpha: float, beta: float) -> _Doubles: ...
def conformal_field(
    potential: str,
    points: tuple[_Doubles, _Doubles],
    gaussian: bool,
    alpha: float,
    beta: float,
    gamma: float,
) -> tuple[_Doubles, _Doubles, _Doubles]: ...
