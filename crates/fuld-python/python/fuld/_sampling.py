"""A run that goes on in the background."""

from __future__ import annotations

import atexit
import time
import warnings
import weakref
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any

import numpy as np

from fuld import _native
from fuld._progress import Bar, Progress
from fuld._result import Draws, Output

#: Seconds between two looks at a run, and at Ctrl-C.
LOOK = 0.1


class Interrupted(UserWarning):
    """A run was stopped before its end: the draws are those made until then."""


class Sampling(ABC):
    """A run in the background, as ``fuld.sample(..., blocking=False)`` returns it.

    It can be looked at (`progress`, `peek`), stopped for a while (`pause`, `resume`) or for good
    (`abort`), and waited for (`result`). As a context manager it is aborted at the end.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._result: Any = None
        self._collected = False

    @property
    @abstractmethod
    def progress(self) -> Progress | None:
        """How far it is; None before the first step."""

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether it ended: at its end, by `abort`, or by an error."""

    @property
    @abstractmethod
    def paused(self) -> bool:
        """Whether it is told to pause."""

    @abstractmethod
    def pause(self) -> None:
        """Stop stepping, within a tenth of a second, until `resume`."""

    @abstractmethod
    def resume(self) -> None:
        """Go on after `pause`."""

    @abstractmethod
    def _stop(self) -> None:
        """Ask it to save and stop."""

    @abstractmethod
    def _wait(self, seconds: float) -> bool:
        """Wait for the end, but no longer; say whether it came."""

    @abstractmethod
    def _peek(self) -> Draws:
        """The draws made so far."""

    @abstractmethod
    def _collect(self) -> Draws:
        """The draws of a run that ended; raises what ended it."""

    def peek(self) -> Any:  # noqa: ANN401
        """Return the draws made so far, in the form of the result; the run goes on."""
        return self._result if self._collected else self._peek().to(self._output)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, for so many seconds at most; say whether it came."""
        end = float("inf") if timeout is None else time.monotonic() + timeout
        while not self._wait(max(0.0, min(LOOK, end - time.monotonic()))):
            if time.monotonic() >= end:
                return False
        return True

    def result(self, timeout: float | None = None) -> Any:  # noqa: ANN401
        """Wait for the end and return the draws; raise what ended the run, if something did.

        Raises
        ------
        TimeoutError
            If it takes longer than `timeout` seconds. The run goes on.
        """
        if not self.wait(timeout):
            raise TimeoutError(f"the run has not ended after {timeout} s: {self.progress}")
        if not self._collected:
            self._result = self._collect().to(self._output)
            self._collected = True
        return self._result

    def abort(self) -> Any:  # noqa: ANN401
        """Save, stop, and return the draws made so far."""
        self._stop()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Interrupted)
            return self.result()

    def follow(self, show: bool) -> Any:  # noqa: ANN401
        """Wait with a progress bar; on Ctrl-C stop and return what there is."""
        bar = Bar(show)
        try:
            while not self._wait(LOOK):
                bar.show(self.progress)
        except KeyboardInterrupt:
            progress = self.progress
            self._stop()
            if progress is None or progress.draws == 0:
                raise  # there is nothing to return
            self.wait()
        finally:
            bar.clear()
        return self.result()

    def __enter__(self) -> Sampling:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()
        self.wait()

    def __repr__(self) -> str:
        if self.finished:
            return "<fuld.Sampling, finished>"
        state = "paused" if self.paused else "running"
        return f"<fuld.Sampling, {state}: {self.progress or 'not begun'}>"


class LocalSampling(Sampling):
    """A run in threads of this process."""

    def __init__(
        self, run: _native.Run, names: list[str], settings: dict[str, Any], output: Output
    ) -> None:
        super().__init__(output)
        self._run = run
        self._names = names
        self._settings = settings
        self._first: int | None = None
        _living.add(self)

    @property
    def progress(self) -> Progress | None:
        """How far it is; None before the first step."""
        progress = self._run.progress
        return None if progress is None else Progress(*progress)

    @property
    def finished(self) -> bool:
        """Whether it ended."""
        return self._run.finished

    @property
    def paused(self) -> bool:
        """Whether it is told to pause."""
        return self._run.paused

    def pause(self) -> None:
        """Stop stepping until `resume`."""
        self._run.pause(True)

    def resume(self) -> None:
        """Go on after `pause`."""
        self._run.pause(False)

    def _stop(self) -> None:
        self._run.stop()

    def _wait(self, seconds: float) -> bool:
        return self._run.wait(seconds)

    def _peek(self) -> Draws:
        before = self._run.ask()
        while not self._run.wait_for_draws(before, LOOK):
            pass
        return self._draws(stopped=not self.finished, diverged=[])

    def _collect(self) -> Draws:
        stopped, diverged = self._run.outcome()
        if stopped:
            progress = self.progress
            made = progress.draws if progress else 0
            warnings.warn(
                f"the run was stopped after {made} of {self._settings['draws']} draws a chain",
                Interrupted,
                stacklevel=5,
            )
        return self._draws(stopped, [chain for chain, _ in diverged])

    def _draws(self, stopped: bool, diverged: list[int]) -> Draws:
        x, v = self._run.draws()
        about = self._settings | {"stopped": int(stopped), "diverged_chains": diverged}
        progress = self.progress
        if progress is not None:
            about["sampling_time"] = progress.elapsed
        return Draws(x, v, self._names, np.arange(len(x)), about)


#: Runs whose threads may call Python, which they must not once the interpreter ends.
_living: weakref.WeakSet[LocalSampling] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    for sampling in list(_living):
        sampling._stop()
    for sampling in list(_living):
        sampling.wait(5.0)
