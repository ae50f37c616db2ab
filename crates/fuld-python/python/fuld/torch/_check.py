"""Whether the settings of a parameter group can be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from torch import Tensor
from torch.optim.optimizer import _device_dtype_check_for_fused

from fuld import _native
from fuld.torch._kernels import has_kernel
from fuld.torch._plain import plain

NUMBERS = ("momentum", "alpha", "scale", "weight_decay")


def with_numbers(group: dict[str, Any]) -> dict[str, Any]:
    """The group with plain floats, which every checkpoint can hold, where numbers are due."""
    return {
        k: number(k, v) if k in NUMBERS or (k == "lr" and not isinstance(v, Tensor)) else v
        for k, v in group.items()
    }


def number(name: str, value: Any) -> float:  # noqa: ANN401
    """The value as a float."""
    if isinstance(value, Tensor):
        raise TypeError(f"{name} must be a number, got a tensor: only lr may be one")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None


def check_alpha(alpha: float) -> None:
    """Raises an error if there is no field for it."""
    _native.step_factors("paper", number("alpha", alpha), 0.0, 1.0)


def check_group(group: dict[str, Any]) -> None:
    """Raises an error that names the first setting that is wrong."""
    lr, momentum, alpha = group["lr"], group["momentum"], group["alpha"]
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError(f"Tensor lr must be 1-element, got one of shape {tuple(lr.shape)}")
    if not (lr >= 0 and lr < math.inf):
        raise ValueError(f"lr must be finite and not negative, got {lr}")
    if group["form"] not in ("matched", "paper"):
        raise ValueError(f"form must be 'matched' or 'paper', got {group['form']!r}")
    # SGD's own momentum may be anything from 0 on.
    _native.step_factors(group["form"], alpha, momentum if alpha != 2 else 0.0, group["scale"])
    if not (momentum >= 0 and momentum < math.inf):
        raise ValueError(f"momentum must be finite and not negative, got {momentum}")
    if not (group["weight_decay"] >= 0 and group["weight_decay"] < math.inf):
        raise ValueError(
            f"weight_decay must be finite and not negative, got {group['weight_decay']}"
        )
    if group["nesterov"] and momentum == 0:
        raise ValueError("nesterov=True needs a momentum above 0")
    if group.get("dampening", 0) != 0:
        raise ValueError(f"FULD has no dampening, and the group has {group['dampening']}")
    if group["fused"] and group["foreach"]:
        raise ValueError("fused and foreach cannot both be True: choose one")
    if group["fused"] and group["differentiable"]:
        raise ValueError("the fused step is not differentiable: choose one of the two")


def refuse_sparse(grads: Iterable[Tensor]) -> None:
    """Raises an error if a gradient is sparse."""
    if any(g.is_sparse for g in grads):
        raise RuntimeError(
            "FULD does not support sparse gradients for alpha < 2, as every coordinate moves at "
            "every step: make the embedding with sparse=False"
        )


def check_fused(params: list[Tensor], alpha: float) -> None:
    """Raises an error if there is no fused step for one of the parameters."""
    if alpha == 2:
        for x in params:
            _device_dtype_check_for_fused(x)
        return
    for x in plain(params):
        if not has_kernel(x):
            raise RuntimeError(
                "`fused=True` requires all the params to be floating point Tensors on the CPU or, "
                f"where triton is installed, on CUDA, got one of {x.dtype} on {x.device.type}"
            )
