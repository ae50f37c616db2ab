"""The fused step of Adam and AdamW with the guard inside, in place of torch's own.

If the guard changed gradients before torch's fused step, each gradient would be read twice. Here it
is read once, and the addresses of tensors are kept from step to step, which torch collects anew.
On the CPU the step is that of the Rust crate, on a GPU a Triton kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from operator import is_
from typing import Any

import torch
from torch import Tensor
from torch.optim import Adam, AdamW

from fuld import _native
from fuld.torch._fused_tensors import FusedTensors, addresses
from fuld.torch._guard_states import GuardStates
from fuld.torch._kernels import FLOATS, HAS_TRITON, PLAIN

#: Types of parameters by kind of device.
_TYPES = {"cpu": (torch.float32, torch.float64), "cuda": FLOATS if HAS_TRITON else ()}


class GuardedAdam:
    """The steps of one guarded optimizer, if it is one of torch's Adams and fused."""

    def __init__(self) -> None:
        self._taken = False
        self._kept: dict[int, AdamTensors] = {}

    def take(self, optimizer: torch.optim.Optimizer, states: GuardStates, clip: float) -> bool:
        """Take a step, after which torch's own does nothing; return False if this is impossible."""
        self._taken = False
        if type(optimizer) not in (Adam, AdamW) or not all(map(_may_fuse, optimizer.param_groups)):
            return False
        found = []
        for group in optimizer.param_groups:
            if all(x.grad is None for x in group["params"]):
                continue
            kept = self._kept.get(id(group))
            if kept is None or not kept.are_current(optimizer, states, group):
                kept = _collected(optimizer, states, group)
                if kept is None:
                    return False
                self._kept[id(group)] = kept
            found.append((group, kept))
        scale, skip = getattr(optimizer, "grad_scale", None), getattr(optimizer, "found_inf", None)
        for group, kept in found:
            _step(kept, group, clip, scale, skip)
        self._taken = True
        optimizer.__dict__.setdefault("_init_group", self._no_group_if_taken(optimizer))
        return True

    def end(self) -> None:
        """Let torch take the next step, unless `take` is called before."""
        self._taken = False

    def _no_group_if_taken(self, optimizer: torch.optim.Optimizer) -> Callable[..., bool]:
        """Return what torch's step calls to collect the tensors of a group."""

        def init_group(*arguments: Any) -> bool:  # noqa: ANN401
            if self._taken:
                return False
            found: bool = type(optimizer)._init_group(optimizer, *arguments)  # type: ignore[attr-defined]
            return found

        return init_group


def _collected(
    optimizer: torch.optim.Optimizer, states: GuardStates, group: dict[str, Any]
) -> AdamTensors | None:
    """Return the tensors of a group, whose states torch creates; None if no kernel handles them."""
    params, grads, first, second, _, steps = lists = [list[Tensor]() for _ in range(6)]
    type(optimizer)._init_group(optimizer, group, *lists)  # type: ignore[attr-defined]
    if not _have_kernel(params, grads, first, second, steps):
        return None
    return AdamTensors(optimizer, states, params, grads, first + second, steps)


def _may_fuse(group: dict[str, Any]) -> bool:
    """Return whether the settings of a group are those of a fused step that is known here."""
    return (
        bool(group["fused"])
        and not group["amsgrad"]
        and not group["differentiable"]
        and not any(isinstance(beta, Tensor) for beta in group["betas"])
        and all(x.dtype in _TYPES.get(x.device.type, ()) for x in group["params"][:1])
        and (group["capturable"] or not _capturing())
    )


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
    device, dtype = params[0].device, params[0].dtype
    return (
        dtype in _TYPES.get(device.type, ())
        and all(
            type(t) in PLAIN
            and t.dtype == dtype
            and t.device == device
            and t.layout is torch.strided
            and t.is_contiguous()
            for t in chain(params, grads, first, second)
        )
        and not any(map(Tensor.is_neg, grads))
        and [a.shape for a in chain(first, second)] == [x.shape for x in chain(params, params)]
        and all(type(k) in PLAIN and k.dtype == torch.float32 and k.device == device for k in steps)
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
        super().__init__(params, averages, [states.row(x).data_ptr() for x in params])
        self.grad_addresses = addresses(grads)
        self.guard_version = states.version
        self.steps, self.step_addresses = steps, addresses(steps)
        self._states = [optimizer.state[x] for x in params]

    def are_current(
        self, optimizer: torch.optim.Optimizer, states: GuardStates, group: dict[str, Any]
    ) -> bool:
        """Return whether these are still the tensors of a group, and note where gradients are."""
        params, found = group["params"], [x.grad for x in group["params"]]
        grads = [g for g in found if g is not None]
        if len(grads) < len(found):
            params = [x for x, g in zip(params, found, strict=True) if g is not None]
        own = self._states
        return (
            self.guard_version is not None
            and states.is_current(optimizer, self.guard_version)
            and len(params) == len(self.params)
            and all(map(is_, map(optimizer.state.__getitem__, params), own))
            and all(map(is_, [of["step"] for of in own], self.steps))
            and addresses(self.steps) == self.step_addresses
            and self.fits(
                params, grads, [*[of["exp_avg"] for of in own], *[of["exp_avg_sq"] for of in own]]
            )
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


def _step(
    kept: AdamTensors,
    group: dict[str, Any],
    clip: float,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    """Take the step of a group."""
    if kept.device.type == "cpu":
        cpu_step(kept, group, clip, grad_scale, found_inf)
    else:
        from fuld.torch import _adam_cuda

        _adam_cuda.step(kept, group, clip, grad_scale, found_inf)


def cpu_step(
    kept: AdamTensors,
    group: dict[str, Any],
    clip: float,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    """Take the step of a group in CPU memory."""
    if found_inf is not None and found_inf.item() != 0:
        return
    if grad_scale is not None:
        torch._foreach_div_([x.grad for x in kept.params if x.grad is not None], grad_scale.item())
    if not isinstance(kept.guarded, _native.GuardedTensors):
        kept.guarded = _native.GuardedTensors(kept.guard_states, kept.lengths)
    count, (beta1, beta2) = len(kept.params), group["betas"]
    _native.adam_step(
        str(kept.dtype).removeprefix("torch."),
        kept.param_addresses,
        kept.buffer_addresses[:count],
        kept.buffer_addresses[count:],
        kept.grad_addresses,
        kept.step_addresses,
        kept.lengths,
        kept.guarded,
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
