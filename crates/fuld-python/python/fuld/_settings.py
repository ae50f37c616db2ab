"""The settings of a run that do not change what `sample` returns, as type checkers see them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, Literal, SupportsIndex, TypedDict

import numpy as np
from numpy.typing import ArrayLike


class Settings(TypedDict, total=False):
    """Keywords of `fuld.sample`, which documents them."""

    logp: Any
    variables: Mapping[str, object] | None
    dims: Mapping[str, Sequence[str]] | None
    coords: Mapping[str, Sequence[Any]] | None
    data: Any
    batch_size: SupportsIndex | None
    gradient: Literal["jax", "torch"] | None
    system: str
    alpha: float | None
    beta: float | None
    gamma: float | None
    step: float | None
    integrator: str | None
    adapt: bool | None
    path: float | None
    temper: SupportsIndex
    chains: SupportsIndex
    draws: SupportsIndex
    warmup: SupportsIndex | None
    thin: SupportsIndex | None
    seed: SupportsIndex | np.random.Generator | None
    dim: SupportsIndex | None
    params: Mapping[str, float] | None
    start: ArrayLike | Mapping[str, Any] | None
    spread: float
    step_power: float | None
    half_life: float | None
    noise_scale: float | None
    velocities: bool
    vectorized: bool | None
    stochastic: bool
    name: str | None
    threads: SupportsIndex | None
    executor: Executor | None
    parts: SupportsIndex
    progress: bool
    store: str | os.PathLike[str] | None
    resume: bool
