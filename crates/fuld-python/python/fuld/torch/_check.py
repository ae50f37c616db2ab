"""Whether the settings of a parameter group can be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from torch import Tensor
from torch.optim.optimizer import _device_dtype_check_for_fused

from fuld import _arguments, _native
from fuld.torch._auto_settings import AUTO, MAY_BE_AUTO, calibrates, check_auto, is_auto
from fuld.torch._kernels import has_kernel
from fuld.torch._learning_rate import check_lr
from fuld.torch._plain import plain

# Of these alpha and scale may be "auto".
NUMBERS = ("momentum", "alpha", "scale", "weight_decay")
FLAGS = ("decoupled_weight_decay", "nesterov", "maximize", "capturable", "differentiable")


def with_numbers(group: dict[str, Any]) -> dict[str, Any]:
    """The group with plain floats, which every checkpoint can hold, where numbers are due."""
    return {
        k: setting(k, v) if k in NUMBERS or (k == "lr" and not isinstance(v, Tensor)) else v
        for k, v in group.items()
    }


def setting(name: str, value: Any) -> float | str:  # noqa: ANN401
    """The value as a float, or "auto" where that may be."""
    if name not in MAY_BE_AUTO or isinstance(value, Tensor):
        return number(name, value)
    if is_auto(value):
        return AUTO
    try:
        return _arguments.number(name, value)
    except TypeError:
        raise TypeError(f"{name} must be a number or 'auto', got {value!r}") from None


def number(name: str, value: Any) -> float:  # noqa: ANN401
    """The value as a float."""
    if isinstance(value, Tensor):
        raise TypeError(f"{name} must be a number, got a tensor: only lr may be one")
    return _arguments.number(name, value)


def check_alpha(alpha: float) -> None:
    """Raises an error if there is no field for it."""
    if not 0.1 <= alpha <= 2:
        raise ValueError(f"alpha must satisfy 0.1 <= alpha <= 2, got {alpha}")


def check_group(group: dict[str, Any]) -> None:
    """Raises an error that names the first setting that is wrong."""
    momentum, alpha, form, scale = (group[k] for k in ("momentum", "alpha", "form", "scale"))
    check_lr(group["lr"])
    for name in NUMBERS:
        setting(name, group[name])
    if not is_auto(alpha):
        check_alpha(alpha)
    if form not in ("matched", "paper"):
        raise ValueError(f"form must be 'matched' or 'paper', got {form!r}")
    if not (is_auto(scale) or 0 < scale < math.inf):
        raise ValueError(f"scale must be positive and finite, got {scale}")
    # SGD's own momentum may be anything from 0 on.
    if not (momentum >= 0 and momentum < math.inf):
        raise ValueError(f"momentum must be finite and not negative, got {momentum}")
    if calibrates(group):
        check_auto(group)
    elif alpha != 2:
        _check_bend(momentum, alpha, form, scale)
    if not (group["weight_decay"] >= 0 and group["weight_decay"] < math.inf):
        raise ValueError(
            f"weight_decay must be finite and not negative, got {group['weight_decay']}"
        )
    for name in FLAGS:
        _arguments.flag(name, group[name])
    for name in ("foreach", "fused"):
        if group[name] is not None:
            _arguments.flag(name, group[name])
    if group["nesterov"] and momentum == 0:
        raise ValueError("nesterov=True needs a momentum above 0")
    if group.get("dampening", 0) != 0:
        raise ValueError(f"FULD has no dampening, and the group has {group['dampening']}")
    if group["fused"] and group["foreach"]:
        raise ValueError("fused and foreach cannot both be True: choose one")
    if group["fused"] and group["differentiable"]:
        raise ValueError("the fused step is not differentiable: choose one of the two")


def _check_bend(momentum: float, alpha: float, form: str, scale: float) -> None:
    """Raises an error if with these settings the field has no place to bend."""
    if momentum > 1:
        raise ValueError(f"momentum must be at most 1 for alpha < 2, got {momentum}")
    if form == "matched" and momentum == 1:
        raise ValueError("momentum must be below 1, got 1: without friction noise piles up")
    # What is left to go wrong is a scale for which single precision has no room.
    _native.step_factors(form, alpha, momentum, scale)


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
