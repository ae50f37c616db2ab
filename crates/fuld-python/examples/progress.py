"""A line that says how far it is and how long it will still take, where somebody looks."""

from __future__ import annotations

import sys
import time


class Progress:
    """Counts towards `total`."""

    def __init__(self, total: int, what: str) -> None:
        self.total, self.what = total, what
        self.done = 0
        self.start = self.shown = time.monotonic()

    def advance(self, count: int = 1) -> None:
        """Another `count` are done."""
        self.done += count
        now = time.monotonic()
        if not sys.stderr.isatty() or (now - self.shown < 0.2 and self.done < self.total):
            return
        self.shown = now
        left = (now - self.start) * (self.total / self.done - 1)
        line = f"{self.done / self.total:4.0%} of {self.what}, {left:.0f} s left"
        end = "\r" + " " * len(line) + "\r" if self.done >= self.total else ""
        print(f"\r{line} {end}", end="", file=sys.stderr, flush=True)
