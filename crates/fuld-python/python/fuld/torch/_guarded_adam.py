"""The fused step of Adam and AdamW with the guard inside: Rust on the CPU, Triton on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import is_
from typing import Any

import torch
from torch import Tensor

from fuld import _native
from fuld.torch import _cpu
from fuld.torch._fused_tensors import FusedTensors, addresses
from fuld.torch._guard_states import GuardStates
from fuld.torch._kernels import FLOATS, HAS_TRITON, PLAIN, are_dense

#: Types of parameters by kind of device.
_TYPES = {"cpu": (torch.float32, torch.float64), "cuda": FLOATS if HAS_TRITON else ()}


class AdamKind:
    """What is particular about the steps of Adam and AdamW."""

    def may_fuse(self, group: dict[str, Any]) -> bool:
        """Return whether the settings of a group are those of a fused step that is known here."""
        return (
            bool(group["fused"])
            and not group["amsgrad"]
            and not group["differentiable"]
            and not any(isinstance(beta, Tensor) for beta in group["betas"])
            and all(x.dtype in _TYPES.get(x.device.type, ()) for x in group["params"][:1])
            and (group["capturable"] or not _capturing())
        )

    def collect(
        self,
        optimizer: Any,  # noqa: ANN401
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
        states: GuardStates,
    ) -> FusedTensors | None:
        """Return the tensors of a group, whose states torch creates."""
        lists: list[list[Tensor]] = [[] for _ in range(6)]
        type(optimizer)._init_group(optimizer, group, *lists)
        _, _, first, second, _, steps = lists
        if not _have_kernel(params, grads, first, second, steps):
            return None
        return AdamTensors(optimizer, states, params, grads, first + second, steps)

    def are_current(
        self,
        kept: FusedTensors,
        optimizer: Any,  # noqa: ANN401
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
    ) -> bool:
        """Return whether these are still the tensors, and note where the gradients are."""
        del group
        return isinstance(kept, AdamTensors) and kept.are_current(optimizer, params, grads)

    def step(
        self,
        kept: FusedTensors,
        group: dict[str, Any],
        grads: list[Tensor],
        clip: float,
        grad_scale: Tensor | None,
        found_inf: Tensor | None,
    ) -> None:
        """Take the step of a group."""
        assert isinstance(kept, AdamTensors)
        if kept.device.type == "cpu":
            cpu_step(kept, group, grads, clip, grad_scale, found_inf)
        else:
            from fuld.torch import _adam_cuda

            _adam_cuda.step(kept, group, clip, grad_scale, found_inf)


def _capturing() -> bool:
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


def _have_kernel(
    params: list[Tensor],
    grads: list[Tensor],
    first: list[Tensor],
    second: list[Tensor],
    steps: list[Tensor],
) -> bool:
    """Return whether one kernel can handle all of these tensors."""
    x = params[0]
    return (
        x.dtype in _TYPES.get(x.device.type, ())
        and are_dense(chain(params, grads, first, second), x)
        and [a.shape for a in chain(first, second)] == [x.shape for x in chain(params, params)]
        and all(
            type(k) in PLAIN and k.dtype == torch.float32 and k.device == x.device for k in steps
        )
    )


class AdamTensors(FusedTensors):
    """The tensors of a group, with its numbers of steps."""

    BULK = 4

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        states: GuardStates,
        params: list[Tensor],
        grads: list[Tensor],
        averages: list[Tensor],
        steps: list[Tensor],
    ) -> None:
        states.update(optimizer, params)
        states.store(optimizer, params)
        super().__init__(params, averages, list(map(states.row, params)))
        self.grad_addresses = addresses(grads)
        self.steps, self.step_addresses = steps, addresses(steps)
        self._states = [optimizer.state[x] for x in params]

    def are_current(
        self, optimizer: torch.optim.Optimizer, params: list[Tensor], grads: list[Tensor]
    ) -> bool:
        """Return whether these are still the tensors, and note where the gradients are."""
        own = self._states

        def of_all(name: str) -> list[Any]:
            return [of.get(name) for of in own]

        return (
            all(map(is_, map(optimizer.state.__getitem__, params), own))
            and all(map(is_, of_all("step"), self.steps))
            and addresses(self.steps) == self.step_addresses
            and self.fits(params, grads, [*of_all("exp_avg"), *of_all("exp_avg_sq")])
        )

    def table(self) -> list[Sequence[int]]:
        """Return addresses and lengths, as the kernel reads them."""
        count, averages = len(self.params), self.buffer_addresses
        return [
            self.param_addresses,
            self.grad_addresses,
            averages[:count],
            averages[count:],
            self.step_addresses,
            self.lengths,
        ]


def cpu_step(
    kept: AdamTensors,
    group: dict[str, Any],
    grads: list[Tensor],
    clip: float,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    """Take the step of a group in CPU memory."""
    if found_inf is not None and found_inf.item() != 0:
        return
    if grad_scale is not None:
        torch._foreach_div_(grads, grad_scale.item())
    count, (beta1, beta2) = len(kept.params), group["betas"]
    _native.adam_step(
        _cpu.dtype_name(kept.params[0]),
        kept.param_addresses,
        kept.buffer_addresses[:count],
        kept.buffer_addresses[count:],
        kept.grad_addresses,
        kept.step_addresses,
        kept.lengths,
        _cpu.guarded_tensors(kept),
        clip,
        float(group["lr"]),
        float(beta1),
        float(beta2),
        float(group["eps"]),
        float(group["weight_decay"]),
        bool(group["decoupled_weight_decay"]),
        bool(group["maximize"]),
        torch.get_num_threads(),
    )
    # Autograd checks the versions of the tensors that it saved.
    torch.autograd.graph.increment_version(kept.params)
