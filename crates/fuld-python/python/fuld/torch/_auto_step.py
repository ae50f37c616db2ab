"""The step of a calibrated parameter group.

Before each step the calibration state of every parameter is updated from its gradient. Tensors
whose field has a knee then take the step of FULD, all others that of SGD. On the CPU both happen in
one call of the Rust crate; elsewhere samples of the tensors are copied to the host first.
"""

from __future__ import annotations

from operator import is_
from typing import Any

import torch
from torch import Tensor
from torch._compile import _disable_dynamo

from fuld.torch import _cpu
from fuld.torch._calibration_state import KEY, calibration_state
from fuld.torch._fused_tensors import FusedTensors, addresses
from fuld.torch._group_check import check_fused, refuse_sparse
from fuld.torch._host_calibration import observe
from fuld.torch._implementation import choose, kinds, may_fuse, take
from fuld.torch._layout import Aligned
from fuld.torch._local_tensors import like, real_shards
from fuld.torch._sgd import sgd
from fuld.torch._step import Step

_NONE: dict[str, Tensor] = {}


# A compiled step calls this function uncompiled, since it reads and writes the states.
@_disable_dynamo
def auto_step(
    state: dict[Tensor, Any],
    group: dict[str, Any],
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor | None],
    kept: FusedTensors | None,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> FusedTensors | None:
    """Update the calibrations, then take a step; without momentum there are no buffers.

    Takes the tensors kept from the last step and returns those for the next one, if all are dense
    and on the CPU.
    """
    if found_inf is not None and found_inf.item() != 0:
        return kept
    states = [state.get(x, _NONE).get(KEY) for x in params]
    if (
        kept is not None
        and may_fuse(group, kept)
        and len(kept.calibrations) == len(states)
        and all(map(is_, states, kept.calibrations))
        and kept.fits(params, grads, buffers)
    ):
        _unscale(grads, grad_scale)
        _on_cpu(kept, grads, group)
        return kept
    if group["fused"]:
        check_fused(params, 1.5)
    refuse_sparse(grads)
    if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
        raise RuntimeError(
            "a calibrated step cannot be captured in a CUDA graph, as it reads numbers at every "
            "step: give alpha and noise_scale, such as those of optimizer.calibration()"
        )
    made, calibrations = _prepared(state, params, bool(buffers))
    xs, gs, bs = real_shards(params), real_shards(like(params, grads)), real_shards(made)
    _unscale(gs, grad_scale)
    way = choose(group, xs)
    fused_tensors = [
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
    return fused_tensors[0] if len(fused_tensors) == 1 else None


def _prepared(
    state: dict[Tensor, Any], params: list[Tensor], momentum: bool
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the buffers and calibration states, creating those that are missing."""
    # All of them before any is stored, so that an error leaves the optimizer unchanged.
    found = [calibration_state(x, state.get(x, _NONE).get(KEY)) for x in params]
    for x, of in zip(params, found, strict=True):
        state[x][KEY] = of
        if momentum and state[x].get("momentum_buffer") is None:
            # torch begins with b = g, which is the result of a step from 0.
            state[x]["momentum_buffer"] = torch.zeros_like(x)
    return [state[x]["momentum_buffer"] for x in params] if momentum else [], found


def _step_of_kind(
    way: str,
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    calibrations: list[Tensor],
    group: dict[str, Any],
) -> FusedTensors | None:
    """Take the step of real local tensors of one device and dtype."""
    if way != "fused" or params[0].device.type != "cpu":
        _anywhere(way, params, grads, buffers, calibrations, group)
        return None
    dense = Aligned(params, grads, buffers)
    kept = FusedTensors(dense.params, dense.buffers, calibrations)
    kept.grad_addresses = addresses(dense.grads)
    _on_cpu(kept, dense.grads, group)
    dense.close(unscaled=False)
    return kept if dense.contiguous else None


def _unscale(grads: list[Tensor], grad_scale: Tensor | None) -> None:
    if grad_scale is not None:
        torch._foreach_div_(grads, grad_scale.item())


def _on_cpu(kept: FusedTensors, grads: list[Tensor], group: dict[str, Any]) -> None:
    """Calibrate and step in one call of the Rust crate."""
    without_knee = _cpu.calibrated(kept, group)
    torch.autograd.graph.increment_version(kept.params)
    _sgd_step(without_knee, kept.params, grads, kept.buffers, group)


def _anywhere(
    way: str,
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    calibrations: list[Tensor],
    group: dict[str, Any],
) -> None:
    """Calibrate all tensors on the host, then step one tensor after another."""
    found = observe(params, grads, buffers, calibrations, group)
    for i, of in enumerate(found):
        if not of.is_sgd:
            g = grads[i] if of.limit == float("inf") else grads[i].clamp(-of.limit, of.limit)
            take(way, [params[i]], [g], buffers[i : i + 1], Step.of(group, of))
    without_knee = [i for i, of in enumerate(found) if of.is_sgd]
    _sgd_step(without_knee, params, grads, buffers, group)


def _sgd_step(
    which: list[int],
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    group: dict[str, Any],
) -> None:
    """Take the step of the tensors whose field has no knee: torch's SGD."""
    if which:
        x, g, b = ([of[i] for i in which] if of else [] for of in (params, grads, buffers))
        sgd(x, g, list(b), group, None, None)
