"""The states of a guard, in the state of its optimizer.

`optimizer.state[x]["guard"]` has three float32 numbers on the parameter's device: the version of
the format, the steps observed (up to 50), and the logarithm of the usual size of the gradient. All
states of a device are rows of one tensor, so that one operation updates all of them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fuld import _native
from fuld.torch._guard_rule import NUMBERS, VERSION

KEY = "guard"

_NONE: dict[str, Tensor] = {}


class GuardStates:
    """Rows for all parameters of an optimizer, which are kept until a checkpoint is loaded."""

    def __init__(self) -> None:
        # Changes whenever the rows are made anew.
        self.version = 0
        self._of: object = None
        self._rows: dict[Tensor, tuple[Tensor, int]] = {}

    def update(self, optimizer: torch.optim.Optimizer, params: list[Tensor]) -> None:
        """Make rows for new parameters, and all rows anew after a checkpoint was loaded.

        A model that moved to another device has moved as a whole: one parameter shows it.
        """
        if optimizer.state is not self._of:
            self._rows, self._of = {}, optimizer.state
            self.version += 1
        if (
            any(x not in self._rows for x in params)
            or self.row(params[0]).device != params[0].device
        ):
            self._make(optimizer)

    def is_current(self, optimizer: torch.optim.Optimizer, version: int) -> bool:
        """Return whether rows of this version are still those of the optimizer."""
        return version == self.version and optimizer.state is self._of

    def row(self, param: Tensor) -> Tensor:
        """Return the state of a parameter."""
        rows, i = self._rows[param]
        return rows[i]

    def matrix(self, params: list[Tensor]) -> tuple[Tensor, list[int]]:
        """Return the states of a device, and which of them are those of these parameters."""
        return self._rows[params[0]][0], [self._rows[x][1] for x in params]

    def store(self, optimizer: torch.optim.Optimizer, params: list[Tensor]) -> None:
        """Put the rows of parameters into the optimizer's state, for its checkpoints."""
        for x in params:
            optimizer.state[x][KEY] = self.row(x)

    def _make(self, optimizer: torch.optim.Optimizer) -> None:
        by_device: dict[torch.device, list[Tensor]] = {}
        for group in optimizer.param_groups:
            for x in group["params"]:
                by_device.setdefault(x.device, []).append(x)
        made: dict[Tensor, tuple[Tensor, int]] = {}
        for device, params in by_device.items():
            rows = torch.tensor([[VERSION, 0.0, 0.0]], device=device).repeat(len(params), 1)
            for i, x in enumerate(params):
                # Not optimizer.state[x], which would create a state.
                stored = optimizer.state.get(x, _NONE).get(KEY)
                if stored is None and x in self._rows:
                    stored = self.row(x)
                elif stored is not None:
                    optimizer.state[x][KEY] = rows[i]
                if stored is not None:
                    rows[i] = stored.to(device, torch.float32)
                made[x] = (rows, i)
        self._rows = made
        self.version += 1


class _Uncast:
    """A state that passes through torch's loading, which would cast a tensor."""

    def __init__(self, numbers: Tensor) -> None:
        self.numbers = numbers


def protect(state_dict: dict[str, Any]) -> dict[str, Any]:
    """Check the guard's states of a checkpoint, and protect them from torch's casts."""
    state = {}
    for key, of in state_dict["state"].items():
        state[key] = of
        if isinstance(of, dict) and KEY in of:
            found = of[KEY]
            try:
                if not isinstance(found, Tensor):
                    raise ValueError(f"it must be a tensor, got {type(found).__name__}")
                numbers = found.detach().to("cpu", torch.float32, copy=True)
                _native.check_guard_state(numbers.reshape(-1).tolist())
            except ValueError as error:
                raise RuntimeError(
                    f"the checkpoint has an invalid state for parameter {key}: {error}. "
                    f"To begin a new one: del state_dict['state'][{key!r}][{KEY!r}]"
                ) from None
            state[key] = {**of, KEY: _Uncast(numbers.reshape(NUMBERS))}
    return {**state_dict, "state": state}


def release(optimizer: torch.optim.Optimizer) -> None:
    """Replace the protected states by tensors on the devices of their parameters."""
    for param, of in optimizer.state.items():
        if isinstance(of, dict) and isinstance(of.get(KEY), _Uncast):
            of[KEY] = of[KEY].numbers.to(param.device)
