"""Settings that are estimated instead of given: ``alpha="auto"`` and ``noise_scale="auto"``.

A parameter group with one of them is calibrated: before each step the optimizer estimates the
missing settings of every parameter from its gradients. This module says which settings may be
"auto" and what else such a group must satisfy.
"""

from __future__ import annotations

from typing import Any

from fuld import _native

AUTO = "auto"
MAY_BE_AUTO = ("alpha", "noise_scale")

# The range of estimates of alpha below 2.
_ESTIMATED_ALPHAS = (1.1, 1.9375)


def is_auto(value: Any) -> bool:  # noqa: ANN401
    """Whether a setting is to be estimated."""
    return isinstance(value, str) and value == AUTO


def calibrates(group: dict[str, Any]) -> bool:
    """Whether a parameter group has a setting that is to be estimated."""
    return is_auto(group["alpha"]) or is_auto(group.get("noise_scale"))


def given(value: Any) -> float | None:  # noqa: ANN401
    """Return the value of a setting, or None if it is to be estimated."""
    return None if is_auto(value) else float(value)


def check_auto_form(group: dict[str, Any]) -> None:
    """Raise an error if a setting is to be estimated in another form than the matched one."""
    if calibrates(group) and group["form"] != "matched":
        raise ValueError(
            f"{_auto_names(group)} requires form='matched', got {group['form']!r}: the knee of the "
            "paper's form follows from beta alone; give numbers, or leave form out"
        )


def _auto_names(group: dict[str, Any]) -> str:
    return " and ".join(f'{name}="auto"' for name in MAY_BE_AUTO if is_auto(group.get(name)))


def check_auto(group: dict[str, Any]) -> None:
    """Raise an error if the other settings do not allow one that is estimated."""
    check_auto_form(group)
    what = _auto_names(group)
    if not 0 <= group["momentum"] < 1:
        raise ValueError(f"momentum must be below 1 with {what}, got {group['momentum']}")
    for name in ("capturable", "differentiable"):
        if group[name]:
            raise ValueError(
                f"{name}=True does not go with {what}, which reads numbers at every step: give "
                "both numbers, such as those that optimizer.calibration() reports"
            )
    noise_scale = given(group["noise_scale"])
    if noise_scale is not None:
        for alpha in _ESTIMATED_ALPHAS:
            _native.step_factors(alpha, group["momentum"], noise_scale=noise_scale)
