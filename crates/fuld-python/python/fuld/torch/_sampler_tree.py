"""Trees of parameters: tensors in dicts, lists and tuples, as in `torch.func`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree

Tree = Any
"""A tensor, or dicts, lists, tuples and named tuples of trees."""

DTYPES = (torch.float32, torch.float64)
"""Types of parameters."""


def leaves_of(tree: Tree, what: str) -> tuple[list[Tensor], Any]:
    """Return the tensors of a tree, and its structure; an error if they cannot be sampled."""
    leaves, structure = _pytree.tree_flatten(tree)
    if not leaves:
        raise ValueError(f"{what} must contain at least one tensor, got {tree!r}")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise TypeError(f"{what} must be tensors in dicts, lists or tuples, got {leaf!r}")
        if leaf.dtype not in DTYPES:
            raise TypeError(f"{what} must be of float32 or float64, got {leaf.dtype}")
    return leaves, structure


def tree_of(leaves: list[Tensor], structure: Any) -> Tree:  # noqa: ANN401
    """Return the tree with these tensors."""
    return _pytree.tree_unflatten(leaves, structure)


def numbers_of(value: Tree, structure: Any, name: str) -> list[float]:  # noqa: ANN401
    """Return one number per tensor: the same for all, or those of a tree of numbers."""
    numbers, given = _pytree.tree_flatten(value)
    if given != structure:
        if len(numbers) != 1 or numbers[0] is not value:
            raise ValueError(f"{name} must be a number, or numbers in the tree of params")
        numbers = numbers * structure.num_leaves
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise TypeError(f"{name} must be a number, got {number!r}")
    return [float(number) for number in numbers]
