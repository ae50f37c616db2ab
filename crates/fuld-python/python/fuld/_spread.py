"""A run whose chains are spread over an executor."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
)
from concurrent.futures import wait as first_of
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuld import _native
from fuld._potential import Target
from fuld._progress import Progress
from fuld._result import Draws, Output
from fuld._sampling import LOOK, Interrupted, Sampling
from fuld._shelf import Part, Shelf

#: How often a part is run again whose worker died.
_TRIES = 4


@dataclass(frozen=True)
class Job:
    """What a worker needs to know."""

    target: Target
    options: dict[str, Any]
    threads: int

    def run(self, chains: range) -> Part:
        """Run these chains of the whole, where the executor wants it."""
        plan = _native.Plan(self.target.native(), self.options)
        run = plan.start(chains.start, len(chains), self.threads, None, False)
        try:
            while not run.wait(LOOK):
                pass
        except BaseException:
            run.stop()
            raise
        _, diverged = run.outcome()
        x, v = run.draws()
        return Part(chains, x, v, [chains[chain] for chain, _ in diverged])


class SpreadSampling(Sampling):
    """A run in the processes of an executor.

    The chains are divided into parts, each of which is a task. Chains depend on the seed and on
    their own number alone, so that it does not matter where, how often, or in what order they are
    run: a part whose worker died is run again. With a store, parts are kept as they come.
    """

    def __init__(
        self,
        executor: Executor,
        job: Job,
        plan: _native.Plan,
        names: list[str],
        *,
        parts: int,
        shelf: Shelf | None,
        output: Output,
    ) -> None:
        super().__init__(output)
        if parts < 1:
            raise ValueError(f"parts must be at least 1, got {parts}")
        _check_picklable(executor, job)
        self._executor = executor
        self._job = job
        self._settings = plan.settings
        self._names = names
        self._shelf = shelf
        self._begun = time.monotonic()
        self._stopped = False
        self._error: BaseException | None = None
        self._parts = [] if shelf is None else shelf.load()
        self._resumed = sum(len(part.chains) for part in self._parts)
        self._running: dict[Future[Part], range] = {}
        self._tries: dict[range, int] = {}
        size = -(-self._settings["chains"] // parts)
        for chains in self._missing(size):
            self._submit(chains)

    def _missing(self, size: int) -> Iterator[range]:
        """Ranges of chains, of this size at most, that are not there."""
        there = {chain for part in self._parts for chain in part.chains}
        first, end = 0, self._settings["chains"]
        while first < end:
            last = first
            while last < end and last not in there and last - first < size:
                last += 1
            if last > first:
                yield range(first, last)
            first = max(last, first + 1)

    def _submit(self, chains: range) -> None:
        self._tries[chains] = self._tries.get(chains, 0) + 1
        self._running[self._executor.submit(self._job.run, chains)] = chains

    def _hear(self, future: Future[Part]) -> None:
        """Take what a task came to."""
        chains = self._running.pop(future)
        try:
            part = future.result()
        except (BrokenExecutor, CancelledError) as error:
            self._again(chains, error)
        except KeyboardInterrupt:  # in a terminal Ctrl-C reaches the workers as well
            self._stop()
        except Exception as error:
            # As dask calls the same, if it is the scheduler that gives up.
            if type(error).__name__ == "KilledWorker":
                self._again(chains, error)
            else:
                self._fail(error)
        else:
            self._parts.append(part)
            if self._shelf is not None:
                self._shelf.keep(part)

    def _again(self, chains: range, error: BaseException) -> None:
        """Run a part again whose worker died, unless it kills every worker or none is left."""
        if self._stopped:
            return
        try:
            if self._tries[chains] >= _TRIES:
                raise error
            self._submit(chains)
        except (BrokenExecutor, CancelledError, RuntimeError) as last:
            kept = "; with resume=True what is in the store is not run again" if self._shelf else ""
            failure = RuntimeError(
                f"the executor lost the chains {chains.start} to {chains.stop - 1} and cannot run "
                f"them again: {last or type(last).__name__}{kept}"
            )
            failure.__cause__ = error
            self._fail(failure)

    def _fail(self, error: BaseException) -> None:
        self._error = self._error or error
        self._stop()

    @property
    def progress(self) -> Progress | None:
        """How far it is, by the parts that are done."""
        self._wait(0.0)
        settings = self._settings
        each = settings["warmup"] + settings["draws"] * settings["thin"]
        done = sum(len(part.chains) for part in self._parts)
        return Progress(
            steps=done * each,
            total=settings["chains"] * each,
            draws=settings["draws"] if done else 0,
            diverged=sum(len(part.diverged) for part in self._parts),
            elapsed=time.monotonic() - self._begun,
            resumed_at=self._resumed * each,
        )

    @property
    def finished(self) -> bool:
        """Whether it ended."""
        return self._wait(0.0)

    @property
    def paused(self) -> bool:
        """Never: see `pause`."""
        return False

    def pause(self) -> None:
        """Raise an error: there is no way to reach the workers of an executor."""
        raise NotImplementedError(
            "a run in an executor cannot pause: abort it, and go on with resume=True"
        )

    def resume(self) -> None:
        """Do nothing: it never pauses."""

    def _stop(self) -> None:
        self._stopped = True
        for future in self._running:
            future.cancel()
        # What runs already is left alone; nobody waits for it.
        self._running.clear()

    def _wait(self, seconds: float) -> bool:
        if self._running:
            for future in first_of(self._running, seconds, FIRST_COMPLETED).done:
                if future in self._running:
                    self._hear(future)
        return not self._running

    def _peek(self) -> Draws:
        self._wait(0.0)
        if not self._parts:
            raise ValueError(
                "there are no draws yet: chains come in whole, when their part is done"
            )
        parts = sorted(self._parts, key=lambda part: part.chains.start)
        x = np.concatenate([part.x for part in parts])
        v = [part.v for part in parts if part.v is not None]
        about = self._settings | {
            "stopped": int(self._stopped),
            "diverged_chains": [chain for part in parts for chain in part.diverged],
            "sampling_time": time.monotonic() - self._begun,
        }
        chains = np.concatenate([np.arange(part.chains.start, part.chains.stop) for part in parts])
        return Draws(x, np.concatenate(v) if v else None, self._names, chains, about)

    def _collect(self) -> Draws:
        if self._error is not None:
            raise self._error
        draws = self._peek()
        if self._stopped:
            warnings.warn(
                f"the run was stopped when {len(draws.chains)} of {self._settings['chains']} "
                "chains were done",
                Interrupted,
                stacklevel=5,
            )
        elif self._shelf is not None:
            self._shelf.close(draws.x, draws.v)
        return draws


def _check_picklable(executor: Executor, job: Job) -> None:
    if isinstance(executor, ProcessPoolExecutor):
        try:
            pickle.dumps(job)
        except Exception as error:
            raise TypeError(
                "this potential cannot be sent to other processes: define the function at the top "
                f"level of a module, not as a lambda or inside another function ({error})"
            ) from None
