"""The guard's rule in torch's operations, on any device and without waiting for it.

The functions here are the rule of the Rust crate, `fuld::guard`, for gradients that it cannot
reach: those of other devices, sharded ones, and those that autograd differentiates. All tensors of
a device are handled together: their sampled components are one vector, and their states the rows
of one matrix.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fuld import _arguments, _native
from fuld.torch._field import wide
from fuld.torch._layout import is_dense

_CONSTANTS = _native.guard_constants()
#: c for optimizers whose step is proportional to the gradient.
CLIP_FOR_SGD = _CONSTANTS["clip_for_sgd"]
#: c for optimizers that divide by the gradient's size.
CLIP_FOR_ADAM = _CONSTANTS["clip_for_adam"]
#: r, the factor from which on a tensor is a burst.
BURST = _CONSTANTS["burst"]
#: w, the weight of a step in the usual size.
WEIGHT = _CONSTANTS["weight"]
#: Largest number of components sampled per tensor.
SAMPLE = int(_CONSTANTS["sample"])
#: Number of components sampled next to each other.
RUN = int(_CONSTANTS["run"])
#: Version of the format of a state.
VERSION = _CONSTANTS["version"]
#: Numbers of a state: version, steps, logarithm of the usual size.
NUMBERS = 3

# Logarithms are summed as integers of this unit, so that sums do not depend on their order, which
# differs between runs on a GPU. 4096 logarithms of double precision are below 2^54 units.
_UNIT = 2.0**-32


def check_clip(name: str, value: Any) -> float:  # noqa: ANN401
    """Return the clip as a float if it is a positive number."""
    if isinstance(value, Tensor):
        raise TypeError(f"{name} must be a number, got a tensor")
    number = _arguments.number(name, value)
    if not number > 0:
        raise ValueError(f"{name} must be positive, got {number}")
    return number


def log_sums(grads: list[Tensor], lengths: tuple[int, ...]) -> Tensor:
    """Return Σ log|g| over the sampled components of tensors, and their numbers, as integers.

    The result has one row per tensor. The components that count are normal numbers.
    """
    device, dtype = grads[0].device, wide(grads[0].dtype)
    sums = torch.zeros(len(grads), 2, dtype=torch.int64, device=device)
    if not any(lengths):
        return sums
    samples = torch.cat(
        [
            g.reshape(-1) if n <= SAMPLE else _in_order(g)[_positions(n, device)]
            for g, n in zip(grads, lengths, strict=True)
        ]
    )
    size = samples.detach().to(dtype).abs()
    info = torch.finfo(dtype)
    counts = (size >= info.tiny) & (size <= info.max)
    logs = torch.where(counts, size, 1.0).double().log().div(_UNIT).round().long()
    return sums.index_add_(0, _tensors(lengths, device), torch.stack([logs, counts.long()], 1))


def decide(
    states: Tensor,
    sums: Tensor,
    clip: float,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Return the states after gradients with these sums, and the factor and limit of each.

    The guard's decision about a gradient is g ← clamp(factor g, ±limit), NaN ← 0.
    Gradients are `grad_scale` times the true ones. If `found_inf` is not 0, the optimizer will skip
    the step, and the states do not change.
    """
    count = sums[:, 1].double()
    seen = count > 0
    mean = sums[:, 0].double() * _UNIT / count.clamp(min=1)
    if grad_scale is not None:
        mean = mean - grad_scale.double().log()
    steps, log_scale = states[:, 1].double(), states[:, 2].double()
    first = steps == 0
    smaller = torch.where(steps == 1, log_scale.minimum(mean), log_scale)
    before = torch.where(first, mean, smaller)
    deviation = torch.where(seen, mean - before, 0.0)
    counted = (steps + 1).clamp(max=round(1 / WEIGHT))
    weight = (1 / counted).clamp(min=WEIGHT)
    bound = math.log(BURST)
    moved = before + weight * deviation.clamp(-bound, bound)
    after = torch.stack([torch.full_like(moved, VERSION), counted, moved], 1).float()
    used = seen if found_inf is None else seen & (found_inf == 0)
    after = torch.where(used[:, None], after, states)
    unknown = torch.where(seen, 0.0, math.inf)
    limits = torch.where(first, unknown, clip * after[:, 2].double().exp())
    if grad_scale is not None:
        limits = limits * grad_scale.double()
    return after, ((BURST * (-deviation).exp()).clamp(max=1.0), limits)


def guarded(gradient: Tensor, factor: Tensor, limit: Tensor) -> Tensor:
    """Return clamp(factor g, ±limit), with 0 in place of NaN, as a new tensor.

    Halves are converted to single precision. A limit that is infinite in the gradient's own dtype
    leaves finite components unchanged, and infinite ones become 0.
    """
    if gradient.is_complex():
        parts = torch.view_as_real(gradient.resolve_conj())
        return torch.view_as_complex(guarded(parts, factor, limit))
    dtype = wide(gradient.dtype)
    bound = limit.to(gradient.dtype).to(dtype)
    scaled = gradient.to(dtype) * factor.to(dtype)
    return scaled.clamp(-bound, bound).nan_to_num(0.0, 0.0, 0.0).to(gradient.dtype)


def _in_order(tensor: Tensor) -> Tensor:
    """Return the numbers of a tensor in the order of its memory, if it has no gaps."""
    if is_dense(tensor):
        return tensor.as_strided((tensor.numel(),), (1,))
    return tensor.reshape(-1)


@lru_cache(maxsize=1024)
def _positions(length: int, device: torch.device) -> Tensor:
    """Return the sampled positions of a tensor of this length."""
    return torch.from_numpy(_native.guard_positions(length)).to(device)


@lru_cache(maxsize=64)
def _tensors(lengths: tuple[int, ...], device: torch.device) -> Tensor:
    """Return the tensor that each component of the samples belongs to."""
    sizes = np.minimum(np.array(lengths, dtype=np.int64), SAMPLE)
    return torch.from_numpy(np.repeat(np.arange(len(lengths)), sizes)).to(device)
