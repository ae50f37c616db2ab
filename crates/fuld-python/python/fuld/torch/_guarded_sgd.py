"""The fused step of torch's SGD with the guard inside: that of FULD at alpha = 2."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fuld.torch._fused_tensors import FusedTensors, addresses
from fuld.torch._guard_states import GuardStates
from fuld.torch._kernels import are_dense, fused_step_of, has_kernel
from fuld.torch._step import Step

_NONE: dict[str, Tensor] = {}


class SgdKind:
    """What is particular about the steps of SGD."""

    def may_fuse(self, group: dict[str, Any]) -> bool:
        """Return whether the settings of a group are those of a fused step that is known here."""
        return (
            bool(group["fused"])
            and not group["differentiable"]
            and group["dampening"] == 0
            and 0 <= group["momentum"] < 1
            and all(map(has_kernel, group["params"][:1]))
        )

    def collect(
        self,
        optimizer: Any,  # noqa: ANN401
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
        states: GuardStates,
    ) -> FusedTensors | None:
        """Return the tensors of a group; a buffer of zeros leads to torch's first step."""
        buffers = _buffers(optimizer, params) if group["momentum"] else []
        made = [
            torch.zeros_like(x) if b is None else b for x, b in zip(params, buffers, strict=False)
        ]
        if not (has_kernel(params[0]) and are_dense([*params, *grads, *made], params[0])):
            return None
        if [b.shape for b in made] != [x.shape for x in params[: len(made)]]:
            return None
        for x, b in zip(params, made, strict=False):
            optimizer.state[x]["momentum_buffer"] = b
        states.update(optimizer, params)
        states.store(optimizer, params)
        kept = FusedTensors(params, made, list(map(states.row, params)))
        kept.grad_addresses = addresses(grads)
        return kept

    def are_current(
        self,
        kept: FusedTensors,
        optimizer: Any,  # noqa: ANN401
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
    ) -> bool:
        """Return whether these are still the tensors, and note where the gradients are."""
        buffers = _buffers(optimizer, params) if group["momentum"] else []
        return kept.fits(params, grads, buffers)

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
        lr = group["lr"]
        step = Step(
            alpha=2.0,
            lr=lr.reshape(()) if isinstance(lr, Tensor) else lr,
            momentum=group["momentum"],
            weight_decay=group["weight_decay"],
            decoupled=False,
            nesterov=group["nesterov"],
            maximize=group["maximize"],
            noise_scale=1.0,
            clip=clip,
        )
        fused_step_of(kept, grads, step, grad_scale, found_inf)


def _buffers(optimizer: Any, params: list[Tensor]) -> list[Tensor | None]:  # noqa: ANN401
    # optimizer.state[x] would create an empty state.
    return [optimizer.state.get(x, _NONE).get("momentum_buffer") for x in params]
