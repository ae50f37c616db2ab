"""Parts of a run as tasks of an executor: handed out, waited for, and handed out again."""

from __future__ import annotations

# Imported for what it does at the end of the interpreter, which must come after what is done here.
import concurrent.futures.thread  # noqa: F401
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
from fuld._sampling import LOOK

#: How often a part is run whose workers die.
_TRIES = 4

#: How jobs are told to stop that run in threads of this process; those elsewhere find nothing here.
_stops: weakref.WeakValueDictionary[str, threading.Event] = weakref.WeakValueDictionary()


def _stop_all() -> None:
    for stop in list(_stops.values()):
        stop.set()


# Before executors wait for their threads, which they do before anything that atexit knows of.
if hasattr(threading, "_register_atexit"):
    threading._register_atexit(_stop_all)


@dataclass(frozen=True)
class Job:
    """What a worker needs to know."""

    target: Target
    options: dict[str, Any]
    threads: int
    name: str = field(default_factory=lambda: uuid4().hex)

    def run(self, chains: range) -> Part:
        """Run these chains of the whole, where the executor wants it."""
        stop = _stops.get(self.name)
        plan = _native.Plan(self.target.native(), self.options)
        run = plan.start(chains.start, len(chains), self.threads, None)
        try:
            while not run.wait(LOOK):
                if stop is not None and stop.is_set():
                    run.stop()
        finally:
            run.stop()
        stopped, diverged = run.outcome()
        if stopped:  # also when the worker's interpreter ends
            raise CancelledError
        x, v = run.draws()
        return Part(chains, x, v, [chains[chain] for chain, _ in diverged])


class Tasks:
    """Runs ranges of chains on an executor, in a thread of its own that hears of them.

    Chains depend on the seed and on their own number alone, so that it does not matter where, how
    often, or in what order they are run.
    """

    def __init__(self, executor: Executor, job: Job) -> None:
        self._executor = executor
        self._job = job
        self._running: dict[Future[Part], range] = {}
        self._tries: dict[range, int] = {}
        self._ended = threading.Event()
        self._stop = threading.Event()
        _stops[job.name] = self._stop
        self.error: BaseException | None = None
        self.parts: list[Part] = []

    def begin(
        self,
        chains: Iterable[range],
        keep: Callable[[Part], None],
        close: Callable[[list[Part]], None],
        release: Callable[[], None],
    ) -> None:
        """Hand out the ranges; call `keep` with each part, `close` when all are there.

        At the end, whatever it is, `release` is called.
        """
        for some in chains:
            self._submit(some)
        ends = (keep, close, release)
        threading.Thread(target=self._work, args=ends, name="fuld", daemon=True).start()

    def stop(self) -> None:
        """Cancel what has not begun; of what runs already, nobody waits for what is elsewhere."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether it was stopped before its end."""
        return self._stop.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, but no longer; say whether it came."""
        return self._ended.wait(seconds)

    def _work(
        self,
        keep: Callable[[Part], None],
        close: Callable[[list[Part]], None],
        release: Callable[[], None],
    ) -> None:
        try:
            while self._running and not self._stop.is_set():
                done = first_of(self._running, LOOK, FIRST_COMPLETED).done
                # Of those that an executor cancels when it is shut down nobody else is told.
                for future in done | {future for future in self._running if future.cancelled()}:
                    self._hear(future, keep)
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
        self._running[self._executor.submit(self._job.run, chains)] = chains

    def _hear(self, future: Future[Part], keep: Callable[[Part], None]) -> None:
        """Take what a task came to."""
        try:
            part = future.result()
        except KeyboardInterrupt:  # in a terminal Ctrl-C reaches the workers as well
            self._stop.set()
        except (Exception, CancelledError) as error:
            # The last as dask calls it, when it has seen a part kill worker after worker.
            if (
                isinstance(error, (BrokenExecutor, CancelledError))
                or type(error).__name__ == "KilledWorker"
            ):
                self._again(future, error)
            else:
                self.error = self.error or error
                self._stop.set()
        else:
            keep(part)
            self.parts.append(part)
            del self._running[future]

    def _again(self, future: Future[Part], error: BaseException) -> None:
        """Run a part again whose worker died, unless it kills every worker or none is left."""
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
        failure = RuntimeError(
            f"the executor lost the chains {chains.start} to {chains.stop - 1} and cannot run them "
            f"again: {last or type(last).__name__}. With a store and resume=True, only what is "
            "missing is run"
        )
        failure.__cause__ = error
        self.error = self.error or failure
        self._stop.set()
