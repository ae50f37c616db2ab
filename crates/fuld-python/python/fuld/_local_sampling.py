"""A run in threads of this process."""

from __future__ import annotations

import atexit
import os
import sys
import time
from typing import Any

import numpy as np

from fuld import _native
from fuld._potential import Target
from fuld._progress import Progress
from fuld._result import Draws, Output
from fuld._sampling import POLL_SECONDS, Sampling
from fuld._store import Store

#: Seconds after which one would wonder why the interpreter does not end.
_PATIENCE = 2.0
#: The exit code of a process that Ctrl-C ended, as shells have it.
_INTERRUPTED = 130


class LocalSampling(Sampling):
    """A run in threads of this process."""

    def __init__(
        self,
        run: _native.Run,
        planned: _native.PlannedRun,
        target: Target,
        names: list[str],
        settings: dict[str, Any],
        store: Store | None,
        output: Output,
    ) -> None:
        super().__init__(planned, target, output)
        self._run = run
        self._store = store
        self._names = names
        self._settings = settings
        self._last: Draws | None = None

    @property
    def progress(self) -> Progress | None:
        """How far it is; None before the first step."""
        progress = self._run.progress
        return None if progress is None else Progress(*progress)

    @property
    def finished(self) -> bool:
        """Whether it ended."""
        return self._wait(0.0)

    @property
    def paused(self) -> bool:
        """Whether a pause was requested."""
        return self._run.paused

    def pause(self) -> None:
        """Stop stepping, within a tenth of a second, until `resume`."""
        self._run.pause(True)

    def resume(self) -> None:
        """Go on after `pause`."""
        self._run.pause(False)

    def _stop(self) -> None:
        self._run.stop()

    def _wait(self, seconds: float) -> bool:
        ended = self._run.wait(seconds)
        if ended and self._store is not None:
            self._store.release()
        return ended

    def _peek(self) -> Draws:
        before = self._run.ask()
        while not self._run.wait_for_draws(before, POLL_SECONDS):
            pass
        with self._lock:
            draws = self._draws()
            if not self.finished:
                made, wanted = draws.x.shape[1], self._settings["draws"]
                draws.stopped = f"still running: {made} of {wanted} draws a chain made"
            return draws

    def _collect(self) -> Draws:
        stopped, diverged, adapted = self._run.outcome()
        draws = self._draws()
        if adapted is not None:
            draws.settings = {**self._settings, **adapted}
        draws.diverged = [chain for chain, _ in diverged]
        if stopped:
            draws.stopped = f"{draws.x.shape[1]} of {self._settings['draws']} draws a chain made"
        return draws

    def _draws(self) -> Draws:
        """The draws as they are, under the lock: the run gives away those of its end, once."""
        if self._last is not None:
            return self._last
        finished = self.finished
        x, v, statistics = self._run.draws()
        draws = Draws(x, v, self._names, np.arange(len(x)), self._settings, statistics)
        draws.diverged = np.flatnonzero(np.isnan(x[:, -1:, 0]).any(axis=1)).tolist()
        progress = self.progress
        draws.seconds = progress.elapsed if progress else 0.0
        if finished:
            self._last = draws
        return draws


@atexit.register
def _end_all() -> None:
    """Wait for the threads of all runs: they must not call Python once the interpreter ends."""
    report_at = time.monotonic() + _PATIENCE
    try:
        while not _native.end_runs():
            time.sleep(0.01)
            if time.monotonic() > report_at:
                print(
                    "fuld: a function has not returned yet; waiting for it, Ctrl-C ends at once",
                    file=sys.stderr,
                    flush=True,
                )
                report_at = float("inf")
    except KeyboardInterrupt:
        # The interpreter cannot end under a function that is still called: so the process does.
        print("fuld: ended in the middle of a call", file=sys.stderr, flush=True)
        print(end="", flush=True)
        os._exit(_INTERRUPTED)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_native.forget_runs)
