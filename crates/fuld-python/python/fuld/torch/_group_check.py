"""Checks of the settings of a parameter group.

Every setting is checked when a group is added or loaded from a checkpoint, so that a step can rely
on it. Errors name the setting, its value and the allowed range.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from torch import Tensor
from torch.optim.optimizer import _device_dtype_check_for_fused

from fuld import _arguments, _native
from fuld.torch._guard_rule import CLIP_FOR_SGD, check_clip
from fuld.torch._kernels import has_kernel
from fuld.torch._learning_rate import check_lr
from fuld.torch._local_tensors import real_shards

# One of noise_scale and beta is None.
NUMBERS = ("momentum", "alpha", "noise_scale", "beta", "weight_decay")
# The setting of the knee in each form.
KNEE = {"matched": "noise_scale", "paper": "beta"}
FLAGS = ("decoupled_weight_decay", "nesterov", "maximize", "capturable", "differentiable")


def with_numbers(group: dict[str, Any]) -> dict[str, Any]:
    """Return the group with its numbers as Python floats, which every checkpoint can hold."""
    return {
        k: setting(k, v) if k in NUMBERS or (k == "lr" and not isinstance(v, Tensor)) else v
        for k, v in group.items()
    }


def with_knee(group: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return the group with the knee's setting of its form, and None for that of the other form.

    A setting that is missing is that of `defaults`, or 1 if these are of the other form.
    """
    own = KNEE.get(group.get("form", defaults.get("form", "matched")), "noise_scale")
    filled = {name: group.get(name) for name in KNEE.values()}
    if filled[own] is None:
        default = defaults.get(own)
        filled[own] = 1.0 if default is None else default
    return {**group, **filled}


def with_guard(group: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return the group with the clip of its guard, and alpha = 2 with a guard for "auto"."""
    if group.get("noise_scale") == "auto":
        raise ValueError(
            "noise_scale must be a number, got 'auto': leave it out and use guard=True, which "
            "requires no noise scale"
        )
    group = dict(group)
    if group.get("alpha") == "auto":
        group["alpha"] = 2.0
        if group.get("guard") is None:
            default = defaults.get("guard")
            group["guard"] = True if default is None else default
    if "guard" in group:
        group["guard"] = _clip(group["guard"])
    return group


def _clip(guard: Any) -> float | None:  # noqa: ANN401
    """Return the clip of a guard, None if there is none."""
    if guard is None or guard is False:
        return None
    return CLIP_FOR_SGD if guard is True else check_clip("guard", guard)


def setting(name: str, value: Any) -> float | None:  # noqa: ANN401
    """Return the value as a float, or None where it is allowed."""
    if value is None and name in KNEE.values():
        return None
    if name != "alpha" or isinstance(value, Tensor):
        return number(name, value)
    try:
        return number(name, value)
    except TypeError:
        raise TypeError(f"{name} must be a number or 'auto', got {value!r}") from None


def number(name: str, value: Any) -> float:  # noqa: ANN401
    """Return the value as a float."""
    if isinstance(value, Tensor):
        raise TypeError(f"{name} must be a number, got a tensor: only lr may be one")
    return _arguments.number(name, value)


def check_alpha(alpha: float) -> None:
    """Raise an error if there is no field for this alpha."""
    if not 0.1 <= alpha <= 2:
        raise ValueError(f"alpha must satisfy 0.1 <= alpha <= 2, got {alpha}")


def check_group(group: dict[str, Any]) -> None:
    """Raise an error that names the first invalid setting."""
    momentum, alpha, form = (group[k] for k in ("momentum", "alpha", "form"))
    check_lr(group["lr"])
    for name in NUMBERS:
        setting(name, group[name])
    check_alpha(alpha)
    _clip(group["guard"])
    if form not in ("matched", "paper"):
        raise ValueError(f"form must be 'matched' or 'paper', got {form!r}")
    _check_knee_settings(group)
    # SGD allows every momentum from 0 on.
    if not (momentum >= 0 and momentum < math.inf):
        raise ValueError(f"momentum must be finite and not negative, got {momentum}")
    if alpha != 2:
        _check_knee(group)
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
        raise ValueError("nesterov=True requires a momentum above 0")
    if group.get("dampening", 0) != 0:
        raise ValueError(f"dampening must be 0, got {group['dampening']}: FULD has none")
    if group["fused"] and group["foreach"]:
        raise ValueError("fused and foreach cannot both be True: choose one")
    if group["fused"] and group["differentiable"]:
        raise ValueError("the fused step is not differentiable: choose one of the two")


def _check_knee_settings(group: dict[str, Any]) -> None:
    """Raise an error unless the knee is given by the setting of the group's form, and no other."""
    form = group["form"]
    for of, name in KNEE.items():
        value = group[name]
        if of != form and value is not None:
            raise ValueError(
                f"{name} belongs to form={of!r}, got {name}={value!r} with form={form!r}: "
                f"give {KNEE[form]}, or leave it out"
            )
        if of == form and value is None:
            raise ValueError(f"form={form!r} requires {name}, got None")
        if of == form and not 0 < value < math.inf:
            raise ValueError(f"{name} must be positive and finite, got {value}")


def _check_knee(group: dict[str, Any]) -> None:
    """Raise an error if the field has no knee that single precision can represent."""
    momentum, alpha, form = (group[k] for k in ("momentum", "alpha", "form"))
    if momentum > 1:
        raise ValueError(f"momentum must be at most 1 for alpha < 2, got {momentum}")
    if form == "matched" and momentum == 1:
        raise ValueError("momentum must be below 1, got 1: without friction noise accumulates")
    # The remaining error is a knee outside the range of single precision.
    _native.step_factors(alpha, momentum, noise_scale=group["noise_scale"], beta=group["beta"])


def refuse_sparse(grads: Iterable[Tensor]) -> None:
    """Raise an error if a gradient is sparse."""
    if any(g.is_sparse for g in grads):
        raise RuntimeError(
            "FULD does not support sparse gradients for alpha < 2, as every coordinate moves at "
            "every step: create the embedding with sparse=False"
        )


def check_fused(params: list[Tensor], alpha: float) -> None:
    """Raise an error if there is no fused step for one of the parameters."""
    if alpha == 2:
        for x in params:
            _device_dtype_check_for_fused(x)
        return
    for x in real_shards(params):
        if not has_kernel(x):
            raise RuntimeError(
                "`fused=True` requires all the params to be floating point Tensors on the CPU or, "
                f"where triton is installed, on CUDA, got one of {x.dtype} on {x.device.type}"
            )
