"""Settings that are found instead of given: alpha="auto" and scale="auto"."""

from __future__ import annotations

from typing import Any

from fuld import _native

AUTO = "auto"
MAY_BE_AUTO = ("alpha", "scale")

# The ends of what a calibration may find for alpha below 2.
_FOUND = (1.1, 1.9375)


def is_auto(value: Any) -> bool:  # noqa: ANN401
    """Whether the value of a setting is to be found."""
    return isinstance(value, str) and value == AUTO


def calibrates(group: dict[str, Any]) -> bool:
    """Whether something in the settings of a parameter group is to be found."""
    return is_auto(group["alpha"]) or is_auto(group["scale"])


def given(value: Any) -> float | None:  # noqa: ANN401
    """The value of a setting, None if it is to be found."""
    return None if is_auto(value) else float(value)


def check_auto(group: dict[str, Any]) -> None:
    """Raises an error if these settings do not go with one that is to be found."""
    what = " and ".join(f'{name}="auto"' for name in MAY_BE_AUTO if is_auto(group[name]))
    if group["form"] != "matched":
        raise ValueError(
            f"{what} needs form='matched', got {group['form']!r}: the paper's form bends where the "
            "paper has it; give both numbers, or leave form out"
        )
    if not 0 <= group["momentum"] < 1:
        raise ValueError(f"momentum must be below 1 with {what}, got {group['momentum']}")
    for name in ("capturable", "differentiable"):
        if group[name]:
            raise ValueError(
                f"{name}=True does not go with {what}, which reads numbers at every step: give "
                "both numbers, such as those that optimizer.calibration() has found"
            )
    scale = given(group["scale"])
    if scale is not None:
        for alpha in _FOUND:
            _native.step_factors("matched", alpha, group["momentum"], scale)
