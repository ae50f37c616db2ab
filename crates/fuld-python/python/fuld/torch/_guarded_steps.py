"""Fused steps of torch's optimizers with the guard inside, in place of torch's own.

If the guard changed gradients before torch's fused step, each gradient would be read twice. Here it
is read once, and the addresses of tensors are kept from step to step, which torch collects anew.
"""

from __future__ import annotations

import weakref
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.optim import SGD, Adam, AdamW

from fuld.torch._fused_tensors import FusedTensors
from fuld.torch._guard_gradients import GradientGuard
from fuld.torch._guard_states import GuardStates
from fuld.torch._guarded_adam import AdamKind
from fuld.torch._guarded_sgd import SgdKind

#: Sets of parameters that are remembered, for models that use different parameters in turn.
_SETS = 16


class _Kind(Protocol):
    """What is particular about one optimizer."""

    def may_fuse(self, group: dict[str, Any]) -> bool:
        """Return whether the settings of a group are those of a fused step that is known here."""

    def collect(
        self,
        optimizer: Any,  # noqa: ANN401
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
        states: GuardStates,
    ) -> FusedTensors | None:
        """Return the tensors of a group, or None if no kernel handles them."""

    def are_current(
        self,
        kept: FusedTensors,
        optimizer: Any,  # noqa: ANN401
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
    ) -> bool:
        """Return whether these are still the tensors, and note where the gradients are."""

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


_KINDS: dict[type, _Kind] = {Adam: AdamKind(), AdamW: AdamKind(), SGD: SgdKind()}


class GuardedSteps:
    """The steps of one guarded optimizer, if it is one that is known here, and fused.

    torch's step calls `_init_group` to collect the tensors of a group. While this is armed, the
    call takes the group's step and returns no tensors, so that torch has nothing left to do.
    """

    def __init__(self, guard: GradientGuard, clip: float) -> None:
        self._guard, self._clip, self._armed = guard, clip, False
        self._kept: dict[tuple[int, ...], FusedTensors] = {}

    def arm(self, optimizer: torch.optim.Optimizer) -> bool:
        """Prepare to take the next step; return False if the optimizer takes no such steps."""
        kind = _KINDS.get(type(optimizer))
        self._armed = kind is not None and all(map(kind.may_fuse, optimizer.param_groups))
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
                _KINDS[type(optimizer)].step(kept, group, grads, self._clip, scale, skip)
                return False
            self._guard.apply(optimizer, params, grads, self._clip, id(group))
        return bool(type(optimizer)._init_group(optimizer, group, *lists))

    def _current(
        self,
        optimizer: Any,  # noqa: ANN401
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
    ) -> FusedTensors | None:
        """Return tensors that a kernel handles, with these gradients; None if none does."""
        kind, states, key = _KINDS[type(optimizer)], self._guard.states, tuple(map(id, params))
        kept = self._kept.get(key)
        if (
            kept is not None
            and kept.guard_version is not None
            and states.is_current(optimizer, kept.guard_version)
            and kind.are_current(kept, optimizer, group, params, grads)
        ):
            return kept
        kept = kind.collect(optimizer, group, params, grads, states)
        if kept is not None:
            if len(self._kept) >= _SETS:
                self._kept.clear()
            kept.guard_version = states.version
            self._kept[key] = kept
        return kept
