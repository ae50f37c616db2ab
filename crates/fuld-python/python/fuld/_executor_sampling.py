"""A run whose chains are divided into tasks of an executor."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any

import numpy as np

from fuld import _native
from fuld._model import Model, NotPicklableError
from fuld._part_files import Part, PartFiles
from fuld._potential import Target
from fuld._progress import Progress
from fuld._result import Draws, Output
from fuld._sampling import Sampling
from fuld._tasks import PartRunner, Tasks


class ExecutorSampling(Sampling):
    """A run in the workers of an executor.

    The chains are divided into parts, each of which is a task. A part whose worker died is run
    again. With a store, parts are kept as they come.
    """

    def __init__(
        self,
        executor: Executor,
        runner: PartRunner,
        planned: _native.PlannedRun,
        target: Target,
        names: list[str],
        settings: dict[str, Any],
        *,
        parts: int,
        part_files: PartFiles | None,
        output: Output,
    ) -> None:
        super().__init__(planned, target, output)
        self._names = names
        self._settings = settings
        self._begun = time.monotonic()
        self._tasks = Tasks(executor, runner)
        self._tasks.parts += [] if part_files is None else part_files.load()
        self._resumed = self._done
        size = -(-settings["chains"] // parts)
        missing = list(_missing(settings["chains"], self._tasks.parts, size))
        # The chains of exact sampling adapt together.
        warms_up = bool(settings.get("adapt"))
        if part_files is None:
            self._tasks.begin(missing, warms_up, lambda _: None, lambda _: None, lambda: None)
        else:
            self._tasks.warm_state = part_files.load_warm_state() if warms_up else None
            close = lambda parts: part_files.close(_join(parts))  # noqa: E731
            self._tasks.begin(missing, warms_up, part_files.keep, close, part_files.release)

    def __del__(self) -> None:
        if hasattr(self, "_tasks"):
            self._tasks.stop()

    @property
    def _done(self) -> int:
        """Chains that are there."""
        return sum(len(part.chains) for part in self._tasks.parts)

    @property
    def progress(self) -> Progress | None:
        """How far it is, on the average over all chains, by the parts that are done."""
        settings = self._settings
        chains, warmup = settings["chains"], settings["warmup"]
        each = warmup + settings["draws"] * settings["thin"]
        done = self._done
        # The warm-up of all chains, if it is a task of its own, and then the parts.
        common = warmup if self._tasks.warm_state is not None else 0
        return Progress(
            steps=common + done * (each - common) // chains,
            total=each,
            draws=done * settings["draws"] // chains,
            diverged=sum(len(part.diverged) for part in self._tasks.parts),
            elapsed=time.monotonic() - self._begun,
            resumed_at=self._resumed * each // chains,
        )

    @property
    def finished(self) -> bool:
        """Whether it ended."""
        return self._tasks.wait(0.0)

    @property
    def paused(self) -> bool:
        """Never: see `pause`."""
        return False

    def pause(self) -> None:
        """Raise an error: there is no way to reach the workers of an executor."""
        raise NotImplementedError(
            "a run in an executor cannot pause: abort it, and continue with resume=True"
        )

    def resume(self) -> None:
        """Do nothing: it never pauses."""

    def _stop(self) -> None:
        self._tasks.stop()

    def _wait(self, seconds: float) -> bool:
        return self._tasks.wait(seconds)

    def _peek(self) -> Draws:
        parts = list(self._tasks.parts)
        if not parts:
            nothing = np.empty((0, self._settings["draws"], len(self._names)))
            velocities = nothing.copy() if self._settings["velocities"] else None
            parts = [Part(range(0), nothing, velocities, [])]
        whole = _join(parts)
        numbers = [chain for part in sorted(parts, key=_first) for chain in part.chains]
        settings = dict(self._settings)
        if self._tasks.warm_state is not None:
            settings |= _native.adapted_numbers(self._tasks.warm_state) or {}
        chains = np.array(numbers, np.int64)
        draws = Draws(whole.x, whole.v, self._names, chains, settings, whole.statistics)
        draws.diverged = whole.diverged
        draws.seconds = time.monotonic() - self._begun
        return draws

    def _collect(self) -> Draws:
        if self._tasks.error is not None:
            raise self._tasks.error
        draws = self._peek()
        if self._tasks.stopped:
            draws.stopped = f"{len(draws.chains)} of {self._settings['chains']} chains done"
        return draws


def _first(part: Part) -> int:
    return part.chains.start


def _join(parts: list[Part]) -> Part:
    """All chains of these parts, in their order, in new arrays: given ones may be unaligned."""
    parts = sorted(parts, key=_first)
    velocities = [part.v for part in parts if part.v is not None]
    statistics = [part.statistics for part in parts if part.statistics is not None]
    return Part(
        range(parts[0].chains.start, parts[-1].chains.stop),
        np.concatenate([part.x for part in parts]),
        np.concatenate(velocities) if velocities else None,
        sorted(chain for part in parts for chain in part.diverged),
        np.concatenate(statistics) if statistics else None,
    )


def _missing(chains: int, parts: list[Part], size: int) -> Iterator[range]:
    """Ranges of chains, of this size at most, that are not there."""
    there = {chain for part in parts for chain in part.chains}
    first = 0
    while first < chains:
        last = first
        while last < chains and last not in there and last - first < size:
            last += 1
        if last > first:
            yield range(first, last)
        first = max(last, first + 1)


def check_picklable(executor: Executor, runner: PartRunner) -> None:
    """Refuse, before any work, a potential that other processes cannot have."""
    if isinstance(executor, ProcessPoolExecutor):
        model = runner.target.potential
        context = getattr(executor, "_mp_context", None)
        forks = context is not None and context.get_start_method() == "fork"
        if forks and isinstance(model, Model) and model.uses_jax:
            raise ValueError(
                "JAX hangs in processes that were forked: give ProcessPoolExecutor("
                'mp_context=multiprocessing.get_context("spawn"))'
            )
        try:
            pickle.dumps(runner)
        except Exception as error:
            if isinstance(error, NotPicklableError):
                raise
            raise TypeError(
                "this potential cannot be sent to other processes: define the function at the top "
                f"level of a module, not as a lambda or inside another function ({error})"
            ) from None
