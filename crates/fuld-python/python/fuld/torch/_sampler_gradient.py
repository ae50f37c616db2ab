"""The gradient of a log posterior over a tree of parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree

from fuld.torch._sampler_tree import Tree, tree_of


def gradients_of(
    log_posterior: Callable[[Tree, Any], Any],
    params: list[Tensor],
    structure: Any,  # noqa: ANN401
    batch: Any,  # noqa: ANN401
) -> tuple[list[Tensor], Tensor, Any]:
    """Return the gradients of f = -log_posterior, the log posterior, and what it returns beside.

    By autograd and not by `torch.func`, which allows tensors only beside the value.
    """
    with torch.enable_grad():
        leaves = [x.detach().requires_grad_() for x in params]
        result = log_posterior(tree_of(leaves, structure), batch)
        value, aux = result if isinstance(result, tuple) else (result, None)
        if not isinstance(value, Tensor) or value.numel() != 1:
            shape = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
            raise ValueError(f"log_posterior must return one number in a tensor, got {shape}")
        # Zero for parameters that the log posterior does not depend on.
        gradients = torch.autograd.grad(-value, leaves, allow_unused=True, materialize_grads=True)
    aux = _pytree.tree_map(lambda x: x.detach() if isinstance(x, Tensor) else x, aux)
    return list(gradients), value.detach(), aux
