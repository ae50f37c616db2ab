"""Running sums over the coordinates of many tensors, from which tail indices are estimated.

Four successive gradients of a coordinate form a quadruple with six differences and three contrasts.
Their logarithms are averaged over the coordinates of a tensor, so that four steps yield a few
numbers per tensor. Weighted sums of these over time are kept, with the squares and products that
the standard errors need. Everything stays on the tensors' device, without waiting for it.
"""

from __future__ import annotations

import torch

STEPS = 4
"""Gradients in a quadruple."""

MEANS = 7
"""Sums with exponential decay: finite quadruples, used ones, growth, log, covariance of logs;
coordinates beyond the knee, coordinates whose knee is known."""

SQUARES = 9
"""Products of (used, growth, log) with each other, which decay twice as fast."""

TOTALS = 2
"""Without decay: quadruples with a number that is not finite, groups of four steps used."""

LAST = 1
"""Of the last quadruple alone: momenta that are not finite."""

COLUMNS = MEANS + SQUARES + TOTALS + LAST


class TailSums:
    """The sums of several samples of coordinates on one device, and of all of them together.

    Parameters
    ----------
    counts : list of int
        Coordinates of each sample. They lie one after the other in `rows[k]`, the k-th gradients.
    device, dtype
        Where the gradients are, and what they are kept in.
    """

    def __init__(self, counts: list[int], device: torch.device, dtype: torch.dtype) -> None:
        self.rows = torch.full((STEPS, sum(counts)), torch.nan, device=device, dtype=dtype)
        # Without double precision, the errors of small numbers of steps are rough.
        self._double = torch.float32 if device.type == "mps" else torch.float64
        each = torch.tensor(counts, device=device)
        self._owner = torch.repeat_interleave(torch.arange(len(counts), device=device), each)
        # The last row is that of all samples together.
        self.sums = torch.zeros((len(counts) + 1, COLUMNS), device=device, dtype=self._double)

    def add(
        self,
        decay: float,
        absent: torch.Tensor | None = None,
        in_knees: torch.Tensor | None = None,
        lost: torch.Tensor | None = None,
    ) -> None:
        """Add the quadruples that `rows` hold, once the older ones have lost weight.

        Parameters
        ----------
        decay : float
            The weight that the older ones keep.
        absent : tensor or None
            Whether a coordinate is nan for want of a gradient, in the order of `rows`.
        in_knees : tensor or None
            Coordinates in units of the knee, nan where there is none.
        lost : tensor or None
            Whether the momentum of a coordinate is not finite.
        """
        of_each = self._of_samples(absent, in_knees, lost)
        of_each = torch.cat([of_each, of_each.sum(0, keepdim=True)])
        means, bad, lost_now = of_each.split([MEANS, 1, 1], dim=1)
        moments = means[:, 1:4]
        # About their mean at these steps: its change with time is not a spread of coordinates.
        means[:, 4].sub_(means[:, 3].square() / means[:, 1].clamp(min=1))
        squares = (moments.unsqueeze(2) * moments.unsqueeze(1)).flatten(1)
        used = (means[:, 1:2] > 0).to(means.dtype)
        self.sums[:, :MEANS].mul_(decay)
        self.sums[:, MEANS : MEANS + SQUARES].mul_(decay * decay)
        self.sums[:, -LAST:].zero_()
        self.sums.add_(torch.cat([means, squares, bad, used, lost_now], dim=1))

    def _of_samples(
        self, absent: torch.Tensor | None, in_knees: torch.Tensor | None, lost: torch.Tensor | None
    ) -> torch.Tensor:
        """Return the sums over each sample, and how many quadruples and momenta are not finite."""
        # A sum is finite if all its terms are: quicker than to ask each.
        finite = self.rows.sum(0).isfinite()
        logs = _logs(self.rows)
        used = logs.sum(0).isfinite()
        log = logs[:6].mean(0)
        growth = logs[6:].mean(0) - log
        # Logs of disjoint differences have nothing in common but the scale of the coordinate.
        product = (logs[0] * logs[1] + logs[2] * logs[3] + logs[4] * logs[5]) / 3
        values = torch.where(used, torch.stack([growth, log, product]), 0)
        nowhere = torch.zeros_like(finite)
        beyond, known = (nowhere, nowhere)
        if in_knees is not None:
            beyond, known = in_knees.abs() > 1, in_knees == in_knees
        bad = ~finite if absent is None else ~(finite | absent)
        columns = [finite, used, *values, beyond, known, bad, nowhere if lost is None else lost]
        table = torch.stack([column.to(self._double) for column in columns], dim=1)
        zeros = torch.zeros((len(self.sums) - 1, MEANS + 2), device=table.device, dtype=table.dtype)
        return zeros.index_add_(0, self._owner, table)


def _logs(rows: torch.Tensor) -> torch.Tensor:
    """Return the logs of the six differences, pairs of disjoint ones together, and contrasts."""
    a, b, c, d = rows
    ab, cd, ac, bd = a - b, c - d, a - c, b - d
    return torch.stack([ab, cd, ac, bd, a - d, b - c, ac + bd, ab + cd, ab - cd]).abs_().log_()
