"""Selects the kernel of the field and of the fused step: Rust on the CPU, Triton on CUDA."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

import torch
from torch import Tensor

from fuld.torch import _cpu
from fuld.torch._field import field, wide
from fuld.torch._fused_tensors import FusedTensors, addresses
from fuld.torch._layout import Aligned
from fuld.torch._step import Step

#: Types that the kernels handle.
FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
#: Classes whose `data_ptr` is the memory of their numbers; subclasses may keep theirs elsewhere.
PLAIN = (Tensor, torch.nn.Parameter)

#: Whether kernels can be compiled for CUDA.
HAS_TRITON = find_spec("triton") is not None


def has_kernel(tensor: Tensor) -> bool:
    """Return whether there is a fused step for such parameters."""
    device = tensor.device.type
    return tensor.dtype in FLOATS and (device == "cpu" or (device == "cuda" and HAS_TRITON))


def are_dense(tensors: Iterable[Tensor], first: Tensor) -> bool:
    """Return whether tensors have the dtype and device of another, and memory without gaps."""
    return all(
        type(t) in PLAIN
        and t.dtype == first.dtype
        and t.device == first.device
        and t.layout is torch.strided
        and t.is_contiguous()
        and not t.is_neg()
        for t in tensors
    )


def field_(tensors: list[Tensor], alpha: float) -> list[Tensor]:
    """Return ∇G_α of dense tensors, computed in place where one kernel handles all of them."""
    first = tensors[0]
    kernel = has_kernel(first) and first.dtype == wide(first.dtype)
    kernel = kernel and all(
        type(v) in PLAIN and v.dtype == first.dtype and v.device == first.device for v in tensors
    )
    if torch.compiler.is_compiling() or not kernel:
        return [field(v, alpha) for v in tensors]
    if tensors[0].device.type == "cpu":
        _cpu.field_(tensors, alpha)
    else:
        from fuld.torch import _cuda

        _cuda.field_(tensors, alpha)
    return tensors


def fused(
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    step: Step,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    guard_states: list[Tensor] | None = None,
) -> FusedTensors | None:
    """Take the step of tensors of one device and dtype in one pass over them.

    With a guard in the step, `guard_states` are its states. Returns the tensors for the next step,
    if all are contiguous.
    """
    lr = step.lr
    if torch.compiler.is_compiling():
        tensor, number = (lr, 0.0) if isinstance(lr, Tensor) else (None, lr)
        _fused_op(
            params,
            grads,
            buffers,
            grad_scale,
            found_inf,
            tensor,
            number,
            step.alpha,
            step.noise_scale,
            step.beta,
            step.momentum,
            step.weight_decay,
            step.decoupled,
            step.nesterov,
            step.maximize,
        )
        return None
    dense = Aligned(params, grads, buffers)
    kept = FusedTensors(dense.params, dense.buffers, guard_states)
    kept.grad_addresses = addresses(dense.grads)
    fused_step_of(kept, dense.grads, step, grad_scale, found_inf)
    dense.close(unscaled=grad_scale is not None)
    return kept if dense.contiguous else None


def fused_step_of(
    kept: FusedTensors,
    grads: list[Tensor],
    step: Step,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    """Take the step of the kept tensors, along dense gradients."""
    on = [None if t is None else t.to(kept.device) for t in (grad_scale, found_inf)]
    if kept.device.type == "cpu":
        _cpu.fused(kept, grads, step, *on)
        # Autograd checks the versions of the tensors that it saved. torch's own operations
        # increment them, except for its fused steps, which users must request.
        torch.autograd.graph.increment_version(kept.params)
    else:
        from fuld.torch import _cuda

        _cuda.fused(kept, grads, step, *on)


@torch.library.custom_op("fuld::fused_step", mutates_args=("params", "grads", "buffers"))
def _fused_op(
    params: list[Tensor],
    grads: list[Tensor],
    buffers: list[Tensor],
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    lr_tensor: Tensor | None,
    lr: float,
    alpha: float,
    noise_scale: float | None,
    beta: float | None,
    momentum: float,
    weight_decay: float,
    decoupled: bool,
    nesterov: bool,
    maximize: bool,
) -> None:
    """Take the fused step, as one operation that the compiler treats as opaque."""
    step = Step(
        alpha,
        lr if lr_tensor is None else lr_tensor,
        momentum,
        weight_decay,
        decoupled,
        nesterov,
        maximize,
        noise_scale,
        beta,
    )
    fused(params, grads, buffers, step, grad_scale, found_inf)
