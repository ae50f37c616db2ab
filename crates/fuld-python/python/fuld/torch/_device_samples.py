"""Sampled coordinates of all parameters on one device, as one vector.

The tail monitor takes samples of the gradients at each step and of the momentum buffers at every
fourth. One vector for all parameters keeps the number of device operations small.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import torch

from fuld.torch._knee import has_knee, inverse_knee
from fuld.torch._local_tensors import real_shard
from fuld.torch._sampled_coordinates import every, stride, taken
from fuld.torch._tail_sums import STEPS, TailSums


class DeviceSamples:
    """The sampled coordinates of the parameters of one device, and their running sums.

    Parameters
    ----------
    members : list of (int, parameter)
        Parameters and the indices of their groups, group by group.
    most : int
        The largest number of coordinates sampled per parameter.
    """

    def __init__(self, members: list[tuple[int, torch.Tensor]], most: int) -> None:
        self.params = [param for _, param in members]
        held = [real_shard(param) for param in self.params]
        self._sizes = [tensor.numel() for tensor in held]
        self._strides = [stride(size, most) for size in self._sizes]
        self.counts = [taken(*both) for both in zip(self._sizes, self._strides, strict=True)]
        self._device = held[0].device
        double = any(tensor.dtype == torch.float64 for tensor in held)
        dtype = torch.float64 if double else torch.float32
        self.tails = TailSums(self.counts, self._device, dtype)
        self._nothing = torch.full((max(self.counts),), torch.nan, device=self._device, dtype=dtype)
        # False and True, each repeated as often as the longest sample needs.
        self._truths = torch.zeros((2, max(self.counts)), device=self._device, dtype=torch.bool)
        self._truths[1] = True
        self._groups = _group_ranges(members, self.counts)
        # Why a parameter has no sums, which the sums themselves cannot show.
        self.sparse = [False] * len(members)
        self._missing: set[int] = set()
        self.changed = False

    def take(self, k: int, grad_scale: torch.Tensor | None) -> None:
        """Store the current gradients as the k-th of their quadruples."""
        if k == 0:
            self._missing.clear()
        row = self.tails.rows[k]
        self._missing.update(self._fill(row, [param.grad for param in self.params]))
        if grad_scale is not None:
            row.div_(grad_scale.to(self._device, non_blocking=True))

    def add(self, optimizer: torch.optim.Optimizer, decay: float) -> None:
        """Add the complete quadruples; older ones keep a weight of `decay`."""
        self.tails.add(decay, self._coordinates_of(self._missing), *self._momenta(optimizer))

    def _momenta(
        self, optimizer: torch.optim.Optimizer
    ) -> tuple[torch.Tensor, torch.Tensor] | tuple[None, None]:
        """Return the momenta in units of the knee, and which are not finite, if there is a knee."""
        # The optimizer creates new groups when it loads a state, so none is kept here.
        groups = optimizer.param_groups
        if not any(has_knee(groups[number]) for number, *_ in self._groups):
            return None, None
        vector = torch.empty_like(self.tails.rows[0])
        lacking = self._fill(vector, [_buffer(optimizer, param) for param in self.params])
        lost = ~vector.isfinite()
        absent = self._coordinates_of(lacking)
        if absent is not None:
            lost &= ~absent
        for number, first, last in self._groups:
            group, part = groups[number], vector[first:last]
            if not has_knee(group):
                part.fill_(torch.nan)
                lost[first:last].fill_(False)
                continue
            if not group["momentum"]:
                # Without momentum the field is evaluated at the gradient.
                part.copy_(self.tails.rows[STEPS - 1][first:last])
                lost[first:last].fill_(False)
            inverse = inverse_knee(group)
            part.mul_(inverse.to(self._device) if isinstance(inverse, torch.Tensor) else inverse)
        return vector, lost

    def _coordinates_of(self, places: Collection[int]) -> torch.Tensor | None:
        """Return a mask of the coordinates of these parameters, None if there are none."""
        if not places:
            return None
        no, yes = self._truths
        among = set(places)
        return torch.cat([(yes if i in among else no)[:n] for i, n in enumerate(self.counts)])

    def _fill(self, out: torch.Tensor, tensors: Iterable[torch.Tensor | None]) -> list[int]:
        """Write coordinates of each tensor into `out`; return the indices of missing tensors."""
        pieces, lacking = [], []
        # Comparing numbers is faster than comparing devices.
        number, strided = self._nothing.get_device(), torch.strided
        places = zip(tensors, self._sizes, self._strides, self.counts, strict=True)
        for i, (tensor, size, step, count) in enumerate(places):
            if tensor is not None:
                if type(tensor) is not torch.Tensor or tensor.is_complex():
                    tensor = real_shard(tensor)
                if tensor.layout is not strided:
                    self.sparse[i] = True
                elif tensor.numel() != size or tensor.get_device() != number:
                    # The parameter was replaced or moved: its sample must be built again.
                    self.changed = True
                else:
                    pieces.append(every(tensor, step, count))
                    continue
            pieces.append(self._nothing[:count])
            lacking.append(i)
        torch.cat(pieces, out=out)
        return lacking


def _buffer(optimizer: torch.optim.Optimizer, param: torch.Tensor) -> torch.Tensor | None:
    # Not optimizer.state[param], which would create a state.
    buffer = optimizer.state.get(param, {}).get("momentum_buffer")
    return buffer if isinstance(buffer, torch.Tensor) else None


def _group_ranges(
    members: list[tuple[int, torch.Tensor]], counts: list[int]
) -> list[tuple[int, int, int]]:
    """Return the index of each group with the range of its coordinates."""
    found: list[tuple[int, int, int]] = []
    end = 0
    for (group, _), count in zip(members, counts, strict=True):
        first = found.pop()[1] if found and found[-1][0] == group else end
        end += count
        found.append((group, first, end))
    return found
