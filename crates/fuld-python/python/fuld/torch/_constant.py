"""Functions that torch's compiler need not trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def constant(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Tells the compiler that the result follows from the arguments alone.

    `torch.compiler.assume_constant_result` does no more, but loads the compiler, which takes half a
    second.
    """
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function
