"""Parts of a run as tasks of an executor: submitted, awaited, and submitted again if lost.

A part is a range of chains. `PartRunner` is pickled and runs a part in a worker; `Tasks` submits
the parts and collects their draws in a thread of this process. Chains that adapt together have
their warm-up in a task of its own, before the parts.
"""

from __future__ import annotations

# Registers a function that waits for its threads at the end of the interpreter. `_stop_all` has to
# run before it: functions registered later run earlier.
import concurrent.futures.thread  # noqa: F401
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future
from concurrent.futures import wait as first_of
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from fuld import _native
from fuld._part_files import Part
from fuld._potential import Target
from fuld._sampling import POLL_SECONDS

#: Number of times a part is run if its workers die.
_TRIES = 4

#: Stop flags, by name, of runners in threads of this process. Workers elsewhere have none.
_stop_flags: weakref.WeakValueDictionary[str, threading.Event] = weakref.WeakValueDictionary()


def _stop_all() -> None:
    for stop in list(_stop_flags.values()):
        stop.set()


# Not by atexit, whose functions run after executors have waited for their threads.
if hasattr(threading, "_register_atexit"):
    threading._register_atexit(_stop_all)


@dataclass(frozen=True)
class PartRunner:
    """Runs parts of a run in a worker."""

    target: Target
    options: dict[str, Any]
    threads: int
    name: str = field(default_factory=lambda: uuid4().hex)
    process: int = field(default_factory=os.getpid)

    def warm_up(self) -> bytes:
        """Run the warm-up of all chains and return their state after it."""
        stop = self._stop_flag()
        run = self._planned().start_warm_up(self.threads)
        _finish(run, stop)
        state = run.warm_state()
        assert state is not None
        return state

    def run(self, chains: range, warm_state: bytes | None) -> Part:
        """Run these chains, from their state after the warm-up if given, and return their draws."""
        stop = self._stop_flag()
        run = self._planned().start(chains.start, len(chains), self.threads, None, warm_state)
        diverged = _finish(run, stop)
        x, v, statistics = run.draws()
        return Part(chains, x, v, [chains[chain] for chain in diverged], statistics)

    def _stop_flag(self) -> threading.Event | None:
        """Return the stop flag; None in other processes."""
        stop = _stop_flags.get(self.name)
        if stop is None and os.getpid() == self.process:  # nobody waits for the draws any more
            raise CancelledError
        return stop

    def _planned(self) -> _native.PlannedRun:
        return _native.PlannedRun(self.target.native(), self.options)


def _finish(run: _native.Run, stop: threading.Event | None) -> list[int]:
    """Wait for the end of a run and return the chains that diverged."""
    try:
        while not run.wait(POLL_SECONDS):
            if stop is not None and stop.is_set():
                run.stop()
    finally:
        run.stop()
    stopped, diverged, _ = run.outcome()
    if stopped:  # by the flag, or because the interpreter of the worker ends
        raise CancelledError
    return [chain for chain, _ in diverged]


class Tasks:
    """Runs ranges of chains on an executor, and collects their draws in a background thread.

    The draws of a chain depend on the seed and its number only, so that chains may run anywhere,
    in any order, and again.
    """

    def __init__(self, executor: Executor, runner: PartRunner) -> None:
        self._executor = executor
        self._runner = runner
        # An empty range is the warm-up of all chains.
        self._running: dict[Future[Any], range] = {}
        self._waiting: list[range] = []
        self._tries: dict[range, int] = {}
        self._ended = threading.Event()
        self._stop = threading.Event()
        _stop_flags[runner.name] = self._stop
        self.error: BaseException | None = None
        self.parts: list[Part] = []
        self.warm_state: bytes | None = None

    def begin(
        self,
        chains: Iterable[range],
        warms_up: bool,
        keep: Callable[[Part | bytes], None],
        close: Callable[[list[Part]], None],
        release: Callable[[], None],
    ) -> None:
        """Submit the ranges; call `keep` with each part, and `close` once all have arrived.

        If `warms_up`, the warm-up of all chains comes first, unless `warm_state` is there; `keep`
        is called with its state. At the end `release` is called, also after an error.
        """
        self._waiting = list(chains)
        if warms_up and self._waiting and self.warm_state is None:
            self._submit(range(0))
        else:
            self._submit_waiting()
        ends = (keep, close, release)
        threading.Thread(target=self._work, args=ends, name="fuld", daemon=True).start()

    def stop(self) -> None:
        """Cancel the parts that have not started, and do not wait for parts in other processes."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether the run was stopped before its end."""
        return self._stop.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most this long; return whether the run has ended."""
        return self._ended.wait(seconds)

    def _work(
        self,
        keep: Callable[[Part | bytes], None],
        close: Callable[[list[Part]], None],
        release: Callable[[], None],
    ) -> None:
        try:
            while self._running and not self._stop.is_set():
                done = first_of(self._running, POLL_SECONDS, FIRST_COMPLETED).done
                # `wait` does not report futures that an executor cancels when it is shut down.
                for future in done | {future for future in self._running if future.cancelled()}:
                    self._collect(future, keep)
            if not self._running:
                self._stop.clear()
                close(self.parts)
        except BaseException as error:
            self.error = self.error or error
            self._stop.set()
        finally:
            for future in self._running:
                future.cancel()
            release()
            self._ended.set()

    def _submit(self, chains: range) -> None:
        self._tries[chains] = self._tries.get(chains, 0) + 1
        future: Future[Any]
        if chains:
            future = self._executor.submit(self._runner.run, chains, self.warm_state)
        else:
            future = self._executor.submit(self._runner.warm_up)
        self._running[future] = chains

    def _submit_waiting(self) -> None:
        while self._waiting:
            self._submit(self._waiting.pop(0))

    def _collect(self, future: Future[Any], keep: Callable[[Part | bytes], None]) -> None:
        """Keep the result of a finished task, or handle its error."""
        try:
            made = future.result()
        except KeyboardInterrupt:  # in a terminal Ctrl-C also interrupts workers
            self._stop.set()
        except (Exception, CancelledError) as error:
            # dask raises KilledWorker after a part has killed several workers.
            if (
                isinstance(error, (BrokenExecutor, CancelledError))
                or type(error).__name__ == "KilledWorker"
            ):
                self._retry(future, error)
            else:
                self.error = self.error or error
                self._stop.set()
        else:
            keep(made)
            if isinstance(made, Part):
                self.parts.append(made)
            else:
                self.warm_state = made
                self._submit_waiting()
            del self._running[future]

    def _retry(self, future: Future[Any], error: BaseException) -> None:
        """Submit a part again whose worker died; give up after `_TRIES`, or without workers."""
        if self._stop.is_set():
            return
        last, chains = error, self._running[future]
        if self._tries[chains] < _TRIES:
            try:
                self._submit(chains)
            except Exception as refused:
                last = refused
            else:
                del self._running[future]
                return
        what = f"the chains {chains.start} to {chains.stop - 1}" if chains else "the warm-up"
        failure = RuntimeError(
            f"the executor lost {what} and cannot run them "
            f"again: {last or type(last).__name__}. With a store and resume=True, only what is "
            "missing is run"
        )
        failure.__cause__ = error
        self.error = self.error or failure
        self._stop.set()
