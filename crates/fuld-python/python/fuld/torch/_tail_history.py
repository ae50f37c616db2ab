"""Copies of running sums at some past steps, for the plot over time."""

from __future__ import annotations

import torch

MOST = 64
"""The largest number of copies kept."""


class TailHistory:
    """Copies of sums at even intervals, which double when there are too many copies."""

    def __init__(self) -> None:
        self.moments: list[tuple[int, list[torch.Tensor]]] = []
        self.interval = 1
        self._since = 0

    def offer(self, step: int, sums: list[torch.Tensor]) -> None:
        """Keep a copy if it is time for one."""
        self._since += 1
        if self._since < self.interval:
            return
        self._since = 0
        self.moments.append((step, [tensor.clone() for tensor in sums]))
        if len(self.moments) == MOST:
            # Every second one stays, the newest among them.
            self.moments = self.moments[1::2]
            self.interval *= 2
