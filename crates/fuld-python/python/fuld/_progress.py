"""The progress of a run, and a line that shows it."""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import dataclass
from typing import TextIO

#: Signs of a bar: of the longest, and of the shortest that is worth it.
_WIDTH = 30
_NARROWEST = 8


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    steps: int
    """Steps made, a chain."""
    total: int
    """Steps in all."""
    draws: int
    """Draws made, a chain."""
    diverged: int
    """Chains that diverged so far."""
    elapsed: float
    """Seconds since the run was begun or resumed."""
    resumed_at: int = 0
    """Steps that were there when it was resumed."""
    acceptance: float | None = None
    """Mean acceptance probability of recent iterations, for ``integrator="exact"``."""

    @property
    def fraction(self) -> float:
        """Between 0 and 1."""
        return self.steps / self.total if self.total else 0.0

    @property
    def remaining(self) -> float:
        """Seconds to go, at the pace so far; infinite before the first step."""
        made = self.steps - self.resumed_at
        return self.elapsed * (self.total - self.steps) / made if made > 0 else float("inf")

    def __str__(self) -> str:
        text = f"{100 * self.fraction:.0f} % of {self.total:,} steps, {self.draws:,} draws a chain"
        if self.diverged:
            text += f", {self.diverged} chains diverged"
        if self.acceptance is not None:
            text += f", {100 * self.acceptance:.0f} % accepted"
        if 0.0 < self.remaining < float("inf"):
            text += f", {_duration(self.remaining)} left"
        return text


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it was closed
        return False


def _signs(stream: TextIO | None) -> tuple[str, str]:
    """Both ends of a bar and a block of it, as the stream can write them."""
    try:
        "▕█▏".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeError, LookupError):
        return "[]", "#"
    return "▕▏", "█"


class Bar:
    """A line that is written over and over: in a terminal or a notebook, after a second."""

    def __init__(self, wanted: bool, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr  # None where a program has no window
        self._wanted = wanted and (_is_terminal(self._stream) or "ipykernel" in sys.modules)
        self._ends, self._block = _signs(self._stream)
        self._begun = time.monotonic()
        self._length = 0

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *error: object) -> None:
        self.clear()

    def show(self, progress: Progress | None) -> None:
        """Say how far it is."""
        if not self._wanted or progress is None or time.monotonic() < self._begun + 1.0:
            return
        # A line that is longer than the terminal is wide would not be written over, but repeated.
        columns = shutil.get_terminal_size().columns
        words = f" {progress}"
        width = min(_WIDTH, columns - len(words) - len("fuld ▕▏") - 1)
        if width >= _NARROWEST:
            blocks = (self._block * round(width * progress.fraction)).ljust(width)
            text = f"fuld {self._ends[0]}{blocks}{self._ends[1]}{words}"
        else:
            text = f"fuld{words}"[: columns - 1]
        self._write("\r" + text.ljust(self._length))
        self._length = len(text)

    def say(self, text: str) -> None:
        """Show a text at once, until it is cleared or a bar replaces it."""
        if self._wanted:
            self._write(f"\rfuld {text}")
            self._length = len(f"fuld {text}")

    def clear(self) -> None:
        """Leave nothing behind."""
        if self._length:
            self._write("\r" + " " * self._length + "\r")
            self._length = 0

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the output was closed
            self._wanted = False
