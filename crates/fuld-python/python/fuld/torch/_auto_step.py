"""The step of a parameter group that calibrates itself."""

from __future__ import annotations

from operator import is_
from typing import Any

import torch
from torch import Tensor
from torch._compile import _disable_dynamo

from fuld.torch import _cpu
from fuld.torch._calibration_state import KEY, calibration_of
from fuld.torch._check import check_fused, refuse_sparse
from fuld.torch._implementation import choose, kinds, may_fuse, take
from fuld.torch._layout import Aligned
from fuld.torch._observe import observe
from fuld.torch._plain import like, plain
from fuld.torch._plan import Plan, addresses
from fuld.torch._sgd import sgd
from fuld.torch._step import Step

_NONE: dict[str, Tensor] = {}


# A compiled step goes through here as well, but uncompiled: what is known is read and written.
@_disable_dynamo
def auto_step(
    state: dict[Tensor, Any],
    group: dict[str, Any],
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor | None],
    plan: Plan | None,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> Plan | None:
    """Lets the calibrations look at the gradients, then takes a step; without momentum no buffers.

    Takes a plan, and returns that of the next step, if it is one of dense tensors on the CPU.
    """
    if found_inf is not None and found_inf.item() != 0:
        return plan
    known = [state.get(x, _NONE).get(KEY) for x in params]
    if (
        plan is not None
        and may_fuse(group, plan)
        and len(plan.calibrations) == len(known)
        and all(map(is_, known, plan.calibrations))
        and plan.fits(params, grads, buffers)
    ):
        _unscale(grads, grad_scale)
        _on_cpu(plan, grads, group)
        return plan
    if group["fused"]:
        check_fused(params, 1.5)
    refuse_sparse(grads)
    if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
        raise RuntimeError(
            "a step that calibrates itself cannot be captured in a CUDA graph, as it reads numbers "
            "at every step: give alpha and scale, such as those of optimizer.calibration()"
        )
    made, calibrations = _prepared(state, params, bool(buffers))
    xs, gs, bs = plain(params), plain(like(params, grads)), plain(made)
    _unscale(gs, grad_scale)
    way = choose(group, xs)
    plans = [
        _step_of_kind(
            way,
            [xs[i] for i in which],
            [gs[i] for i in which],
            [bs[i] for i in which] if bs else [],
            [calibrations[i] for i in which],
            group,
        )
        for which in kinds(xs)
    ]
    return plans[0] if len(plans) == 1 else None


def _prepared(
    state: dict[Tensor, Any], params: list[Tensor], momentum: bool
) -> tuple[list[Tensor], list[Tensor]]:
    """Sees that there are buffers and calibrations, and returns them."""
    # All of them before any is kept: what does not fit changes nothing.
    found = [calibration_of(x, state.get(x, _NONE).get(KEY)) for x in params]
    for x, known in zip(params, found, strict=True):
        state[x][KEY] = known
        if momentum and state[x].get("momentum_buffer") is None:
            # torch begins with b = g, which is what a step makes of 0.
            state[x]["momentum_buffer"] = torch.zeros_like(x)
    return [state[x]["momentum_buffer"] for x in params] if momentum else [], found


def _step_of_kind(
    way: str,
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    calibrations: list[Tensor],
    group: dict[str, Any],
) -> Plan | None:
    """The step of plain tensors of one device and dtype."""
    if way != "fused" or params[0].device.type != "cpu":
        _anywhere(way, params, grads, buffers, calibrations, group)
        return None
    dense = Aligned(params, grads, buffers)
    plan = Plan(dense.params, dense.buffers, calibrations)
    plan.grad_addresses = addresses(dense.grads)
    _on_cpu(plan, dense.grads, group)
    dense.close(unscaled=False)
    return plan if dense.contiguous else None


def _unscale(grads: list[Tensor], grad_scale: Tensor | None) -> None:
    if grad_scale is not None:
        torch._foreach_div_(grads, grad_scale.item())


def _on_cpu(plan: Plan, grads: list[Tensor], group: dict[str, Any]) -> None:
    """Looks and steps in one call of the Rust crate."""
    straight = _cpu.calibrated(plan, group)
    torch.autograd.graph.increment_version(plan.params)
    _straight(straight, plan.params, grads, plan.buffers, group)


def _anywhere(
    way: str,
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    calibrations: list[Tensor],
    group: dict[str, Any],
) -> None:
    """Looks at all tensors, then steps one after another."""
    found = observe(params, grads, buffers, calibrations, group)
    for i, of in enumerate(found):
        if not of.is_straight:
            g = grads[i] if of.limit == float("inf") else grads[i].clamp(-of.limit, of.limit)
            take(way, [params[i]], [g], buffers[i : i + 1], Step.of(group, of))
    straight = [i for i, of in enumerate(found) if of.is_straight]
    _straight(straight, params, grads, buffers, group)


def _straight(
    which: list[int],
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    group: dict[str, Any],
) -> None:
    """The step of those tensors whose field does not bend: torch's SGD."""
    if which:
        x, g, b = ([of[i] for i in which] if of else [] for of in (params, grads, buffers))
        sgd(x, g, list(b), group, None, None)
