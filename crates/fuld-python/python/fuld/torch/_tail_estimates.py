"""Running tail estimates of all parameters of an optimizer, on any number of devices.

`TailEstimates` groups the parameters by device, passes gradients to the samples of each device, and
combines their sums into one estimate per parameter.
"""

from __future__ import annotations

from operator import is_
from typing import Any

import torch

from fuld.torch._device_samples import DeviceSamples
from fuld.torch._gradient_tail import GradientTail, gradient_tails
from fuld.torch._local_tensors import real_shard
from fuld.torch._tail_history import TailHistory
from fuld.torch._tail_sums import COLUMNS


class TailEstimates:
    """The tail estimates of an optimizer's parameters.

    Its tables have a row for each parameter, in the optimizer's order, and one for all of them.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, most: int) -> None:
        self._optimizer = optimizer
        self._most = most
        self._params: list[torch.Tensor] = []
        self._samples: list[DeviceSamples] = []
        self._history = TailHistory()

    def take(self, k: int) -> None:
        """Sample the current gradients, the k-th of a quadruple."""
        if k == 0:
            self.follow()
        # Set by a GradScaler for optimizers that unscale as they step.
        grad_scale = getattr(self._optimizer, "grad_scale", None)
        for samples in self._samples:
            samples.take(k, grad_scale)

    def add(self, decay: float, step: int) -> None:
        """Add the complete quadruples, `step` steps after the beginning."""
        for samples in self._samples:
            samples.add(self._optimizer, decay)
        self._history.offer(step, [samples.tails.sums for samples in self._samples])

    def follow(self) -> None:
        """Assign a row to every parameter that the optimizer has now."""
        groups = self._optimizer.param_groups
        params = [param for group in groups for param in group["params"]]
        same = len(params) == len(self._params) and all(map(is_, params, self._params))
        if same and not any(samples.changed for samples in self._samples):
            return
        state, before = self.state(), {param: i for i, param in enumerate(self._params)}
        on_device: dict[torch.device, list[tuple[int, torch.Tensor]]] = {}
        for number, group in enumerate(groups):
            for param in group["params"]:
                # A process may hold nothing of a sharded tensor.
                if real_shard(param).numel():
                    on_device.setdefault(real_shard(param).device, []).append((number, param))
        self._params = params
        self._samples = [DeviceSamples(members, self._most) for members in on_device.values()]
        self.restore(state, [before.get(param, -1) for param in params])

    def tails(self) -> list[GradientTail]:
        """Return the estimate of each parameter, and last that of all together."""
        return self._tails_of([samples.tails.sums for samples in self._samples])

    def past_tails(self) -> list[tuple[int, list[GradientTail]]]:
        """Return the estimates at some past steps."""
        return [(step, self._tails_of(sums)) for step, sums in self._history.moments]

    def state(self) -> dict[str, Any]:
        """Return the running state, in numbers and tensors."""
        moments = self._history.moments
        return {
            "sums": self._table([samples.tails.sums for samples in self._samples]),
            "sparse": self._by_param("sparse", False),
            "history": [(step, self._table(sums)) for step, sums in moments],
            "interval": self._history.interval,
        }

    def restore(self, state: dict[str, Any], rows: list[int]) -> None:
        """Continue from a state; `rows` holds the row of each parameter in it, -1 for none."""
        for samples, sums in zip(self._samples, self._parts(state["sums"], rows), strict=True):
            samples.tails.sums.copy_(sums)
        place = self._place()
        for samples in self._samples:
            for i, param in enumerate(samples.params):
                row = rows[place[param]]
                if row >= 0:
                    samples.sparse[i] = state["sparse"][row]
        self._history = TailHistory()
        self._history.interval = state["interval"]
        past = state["history"]
        self._history.moments = [(step, self._parts(table, rows)) for step, table in past]

    def _tails_of(self, sums: list[torch.Tensor]) -> list[GradientTail]:
        counts, sparse = self._by_param("counts", 0), self._by_param("sparse", False)
        return gradient_tails(self._table(sums).numpy(), counts, sparse)

    def _place(self) -> dict[torch.Tensor, int]:
        return {param: i for i, param in enumerate(self._params)}

    def _by_param(self, what: str, default: Any) -> list[Any]:  # noqa: ANN401
        """Return an attribute of the samples in the order of the parameters."""
        found: dict[torch.Tensor, Any] = {}
        for samples in self._samples:
            found.update(zip(samples.params, getattr(samples, what), strict=True))
        return [found.get(param, default) for param in self._params]

    def _table(self, sums: list[torch.Tensor]) -> torch.Tensor:
        """Return the sums of the devices as one table; this waits for the devices."""
        table = torch.zeros((len(self._params) + 1, COLUMNS), dtype=torch.float64)
        place = self._place()
        for samples, tensor in zip(self._samples, sums, strict=True):
            tensor = tensor.to("cpu", torch.float64)
            table[[place[param] for param in samples.params]] = tensor[:-1]
            table[-1] += tensor[-1]
        return table

    def _parts(self, table: torch.Tensor, rows: list[int]) -> list[torch.Tensor]:
        """Return the sums of the devices from such a table, whose row of all goes to the first."""
        table = torch.cat([table, torch.zeros((1, COLUMNS), dtype=table.dtype)])
        nothing, place = len(table) - 1, self._place()
        parts = []
        for number, samples in enumerate(self._samples):
            found = [rows[place[param]] for param in samples.params]
            of_all = nothing - 1 if number == 0 else nothing
            index = [row if row >= 0 else nothing for row in found] + [of_all]
            parts.append(table[index].to(samples.tails.sums))
        return parts
