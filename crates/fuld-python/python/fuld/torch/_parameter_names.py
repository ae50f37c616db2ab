"""What the parameters of an optimizer are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import torch


def given_names(
    optimizer: torch.optim.Optimizer, names: torch.nn.Module | Iterable[Any] | None
) -> dict[torch.Tensor, str]:
    """Return the names that a user gives: a model, pairs of names and parameters, or names."""
    if names is None:
        return {}
    if isinstance(names, torch.nn.Module):
        return {param: name for name, param in names.named_parameters()}
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise TypeError(f"names must be a model or several names, got {names!r}")
    listed = list(names)
    if all(isinstance(entry, str) for entry in listed):
        params = [param for group in optimizer.param_groups for param in group["params"]]
        if len(listed) != len(params):
            raise ValueError(
                f"names has {len(listed)} names for the {len(params)} parameters of the optimizer; "
                "give one for each, or the model"
            )
        return dict(zip(params, _single(listed), strict=True))
    for entry in listed:
        match entry:
            case (str(), torch.Tensor()):
                pass
            case _:
                raise TypeError(
                    "names must be a model, its named_parameters(), or strings, "
                    f"got an entry of type {type(entry).__name__}"
                )
    return dict(zip([p for _, p in listed], _single([n for n, _ in listed]), strict=True))


def all_names(optimizer: torch.optim.Optimizer, given: dict[torch.Tensor, str]) -> list[str]:
    """Return a name for each parameter: as given, as the optimizer has it, or its number."""
    found: list[str] = []
    for group in optimizer.param_groups:
        own = group.get("param_names") or [None] * len(group["params"])
        for param, name in zip(group["params"], own, strict=True):
            found.append(given.get(param) or name or str(len(found)))
    # Names of several sources may agree.
    times = Counter(found)
    return [name if times[name] == 1 else f"{name}#{i}" for i, name in enumerate(found)]


def _single(names: list[str]) -> list[str]:
    """Return the names if no two are the same."""
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"names has {name!r} {times} times; names must differ")
    return names
