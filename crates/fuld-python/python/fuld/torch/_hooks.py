"""Optimizers whose steps can be watched."""

from __future__ import annotations

import torch


def require_hooks(optimizer: object) -> None:
    """Refuse objects that are not optimizers, and wrappers around another optimizer that steps."""
    # Made by torch.optim.Optimizer.__init__, which a class around another may not call. Hooks of
    # such a one would never run.
    if isinstance(optimizer, torch.optim.Optimizer) and hasattr(
        optimizer, "_optimizer_step_pre_hooks"
    ):
        return
    kind = type(optimizer).__name__
    what = "optimizer must be a torch.optim.Optimizer"
    if isinstance(getattr(optimizer, "optimizer", None), torch.optim.Optimizer):
        raise TypeError(f"{what}, got {kind} around one; give the optimizer inside, .optimizer")
    if isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(
            f"{what} that runs hooks, got {kind}, which does not call Optimizer.__init__; "
            "give the optimizer inside"
        )
    raise TypeError(f"{what}, such as FULD(model.parameters(), lr=0.1), got {kind}")
