"""The fused step of Adam and AdamW with the guard inside, in place of torch's own.

If the guard changed gradients before torch's fused step, each gradient would be read twice. Here it
is read once, and the addresses of tensors are kept from step to step, which torch collects anew.
On the CPU the step is that of the Rust crate, on a GPU a Triton kernel.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from itertools import chain
from operator import is_
from typing import Any

import torch
from torch import Tensor
from torch.optim import Adam, AdamW

from fuld import _native
from fuld.torch._fused_tensors import FusedTensors, addresses
from fuld.torch._guard_gradients import GradientGuard
from fuld.torch._guard_states import GuardStates
from fuld.torch._kernels import FLOATS, HAS_TRITON, PLAIN

#: Types of parameters by kind of device.
_TYPES = {"cpu": (torch.float32, torch.float64), "cuda": FLOATS if HAS_TRITON else ()}


#: Sets of parameters that are remembered, for models that use different parameters in turn.
_SETS = 16


class GuardedAdam:
    """The steps of one guarded optimizer, if it is one of torch's Adams and fused.

    torch's step calls `_init_group` to collect the tensors of a group. While this is armed, the
    call takes the group's step and returns no tensors, so that torch has nothing left to do.
    """

    def __init__(self, guard: GradientGuard, clip: float) -> None:
        self._guard, self._clip, self._armed = guard, clip, False
        self._kept: dict[tuple[int, ...], AdamTensors] = {}

    def arm(self, optimizer: torch.optim.Optimizer) -> bool:
        """Prepare to take the next step; return False if the optimizer takes no such steps."""
        self._armed = type(optimizer) in (Adam, AdamW) and all(
            map(_may_fuse, optimizer.param_groups)
        )
        if self._armed and "_init_group" not in optimizer.__dict__:
            # Not a reference to the optimizer, which would keep it alive.
            reference = weakref.ref(optimizer)

            def init_group(group: dict[str, Any], *lists: list[Tensor]) -> bool:
                found = reference()
                return found is not None and self._init_group(found, group, lists)

            optimizer.__dict__["_init_group"] = init_group
        return self._armed

    def disarm(self) -> None:
        """Let torch take the next step."""
        self._armed = False

    def forget(self) -> None:
        """Forget all tensors, since a checkpoint replaces them."""
        self._kept.clear()

    def _init_group(
        self,
        optimizer: Any,  # noqa: ANN401
        group: dict[str, Any],
        lists: tuple[list[Tensor], ...],
    ) -> bool:
        """Take the step of a group, or guard its gradients and collect its tensors for torch."""
        found = [x.grad for x in group["params"]]
        grads = [g for g in found if g is not None]
        if self._armed and grads:
            params = group["params"]
            if len(grads) < len(found):
                params = [x for x, g in zip(params, found, strict=True) if g is not None]
            kept = self._current(optimizer, group, params, grads)
            if kept is not None:
                scale, skip = (getattr(optimizer, of, None) for of in ("grad_scale", "found_inf"))
                _step(kept, group, self._clip, scale, skip)
                return False
            self._guard.apply(optimizer, params, grads, self._clip, id(group))
        return bool(type(optimizer)._init_group(optimizer, group, *lists))

    def _current(
        self,
        optimizer: Any,  # noqa: ANN401
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
    ) -> AdamTensors | None:
        """Return tensors that a kernel handles, with these gradients; None if none does."""
        states, key = self._guard.states, tuple(map(id, params))
        kept = self._kept.get(key)
        if kept is not None and kept.are_current(optimizer, states, params, grads):
            return kept
        lists: list[list[Tensor]] = [[] for _ in range(6)]
        # torch creates the states of new parameters.
        type(optimizer)._init_group(optimizer, group, *lists)
        _, _, first, second, _, steps = lists
        if not _have_kernel(params, grads, first, second, steps):
            return None
        if len(self._kept) >= _SETS:
            self._kept.clear()
        self._kept[key] = AdamTensors(optimizer, states, params, grads, first + second, steps)
        return self._kept[key]


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
        super().__init__(params, averages, list(map(states.row, params)))
        self.grad_addresses = addresses(grads)
        self.guard_version = states.version
        self.steps, self.step_addresses = steps, addresses(steps)
        self._states = [optimizer.state[x] for x in params]

    def are_current(
        self,
        optimizer: torch.optim.Optimizer,
        states: GuardStates,
        params: list[Tensor],
        grads: list[Tensor],
    ) -> bool:
        """Return whether these are still the tensors, and note where the gradients are."""
        own, version = self._states, self.guard_version

        def of_all(name: str) -> list[Any]:
            return [of.get(name) for of in own]

        return (
            version is not None
            and states.is_current(optimizer, version)
            and all(map(is_, map(optimizer.state.__getitem__, params), own))
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
        kept.guarded = _native.GuardedTensors(kept.guard_addresses, kept.lengths)
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
