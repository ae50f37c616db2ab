"""A run in the background, as users hold it."""

from __future__ import annotations

import threading
import time
import warnings
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any

from fuld import _native
from fuld._potential import Target
from fuld._progress import Bar, Progress
from fuld._result import Draws, Output
from fuld._samples import Samples, interruption

#: Seconds between two checks of a run and of Ctrl-C.
POLL_SECONDS = 0.1


#: Anchors of sections in the page that explains warnings.
_LOST_CHAINS = "chains-that-left-for-infinity"


class Interrupted(UserWarning):
    """A run was stopped before its end: the draws are those made until then."""


class Diverged(UserWarning):
    """Chains left for infinity: their draws are NaN from there on."""


class SamplingWarning(UserWarning):
    """The draws are not to be trusted yet: the message says why, and what helps."""


class Sampling(ABC):
    """A run in the background, as ``fuld.sample(..., blocking=False)`` returns it.

    It can be looked at (`progress`, `peek`), stopped for a while (`pause`, `resume`) or for good
    (`abort`), and waited for (`result`), from any thread. As a context manager it is aborted at the
    end; so it is when nothing refers to it any more, and when the interpreter ends.
    """

    def __init__(self, planned: _native.PlannedRun, target: Target, output: Output) -> None:
        self._planned = planned
        self._target = target
        self._output = output
        self._lock = threading.Lock()
        self._aborted = False
        # Of a run that ended, once someone has asked.
        self._final: Draws | None = None
        self._error: BaseException | None = None
        self._result: Any = None
        self._warnings: list[tuple[str, str]] = []

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
        """Whether a pause was requested."""

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
        """The draws made so far, also of a run that ended."""

    @abstractmethod
    def _collect(self) -> Draws:
        """The draws of a run that ended; raises what ended it. Called once."""

    def _samples(self, draws: Draws) -> Samples:
        draws.model = self._target.model
        return Samples(draws, self._planned, self._target.warnings)

    def peek(self) -> Any:  # noqa: ANN401
        """Return the draws made so far, in the form of the result; the run goes on.

        After an error in the run, these are the draws made before it.
        """
        return self._samples(self._peek()).to(self._output)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, at most `timeout` seconds; return whether the run has ended."""
        end = float("inf") if timeout is None else time.monotonic() + timeout
        while not self._wait(max(0.0, min(POLL_SECONDS, end - time.monotonic()))):
            if time.monotonic() >= end:
                return False
        return True

    def result(self, timeout: float | None = None) -> Any:  # noqa: ANN401
        """Wait for the end and return the draws, or raise the error that ended the run.

        Raises
        ------
        TimeoutError
            If it takes longer than `timeout` seconds. The run goes on.
        """
        if not self.wait(timeout):
            raise TimeoutError(f"the run has not ended after {timeout} s")
        return self._end(stacklevel=3)

    def abort(self) -> Any:  # noqa: ANN401
        """Save, stop, and return the draws made so far."""
        self._aborted = True
        self._stop()
        return self.result()

    def follow(self, show: bool) -> Any:  # noqa: ANN401
        """Wait with a progress bar; on Ctrl-C stop and return what there is."""
        bar = Bar(show)
        try:
            while not self._wait(POLL_SECONDS):
                bar.show(self.progress)
        except BaseException as error:
            self._stop()
            self.wait()  # a second Ctrl-C gets out of here
            if not isinstance(error, KeyboardInterrupt) or self._peek().x.size == 0:
                raise
        finally:
            bar.clear()
        return self._end(stacklevel=4)

    def _end(self, stacklevel: int) -> Any:  # noqa: ANN401
        """Return the draws of a run that ended, always the same, or raise what ended it."""
        with self._lock:
            if self._final is None and self._error is None:
                try:
                    self._final = self._collect()
                except BaseException as error:
                    self._error = error
            if self._final is None:
                assert self._error is not None
                raise self._error
            stopped = self._final.stopped
            if self._result is None:
                samples = self._samples(self._final)
                if not stopped and not self._aborted:
                    self._warnings = samples._summarised[1]
                self._result = samples.to(self._output)
        for section, text in self._warnings:
            kind = Diverged if section == _LOST_CHAINS else SamplingWarning
            warnings.warn(text, kind, stacklevel=stacklevel)
        if stopped and not self._aborted:
            warnings.warn(interruption(stopped), Interrupted, stacklevel=stacklevel)
        return self._result

    def __enter__(self) -> Sampling:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._aborted = self._aborted or not self.finished
        self._stop()
        self.wait()

    def __repr__(self) -> str:
        if self.finished:
            return "<fuld.Sampling, finished>"
        state = "paused" if self.paused else "running"
        return f"<fuld.Sampling, {state}: {self.progress or 'not begun'}>"
