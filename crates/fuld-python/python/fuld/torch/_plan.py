"""What is known of the tensors of a fused step from one step to the next."""

from __future__ import annotations

from operator import is_

from torch import Tensor


class Plan:
    """Dense tensors of one device and dtype, and where they are.

    Most of a step over thousands of small tensors would be asking each of them what it is. So
    that is asked once, and again only if one of them is another or lies elsewhere. Gradients are
    new at every step, and always asked.
    """

    def __init__(self, params: list[Tensor], buffers: list[Tensor]) -> None:
        self.params, self.buffers = params, buffers
        self.device, self.dtype = params[0].device, params[0].dtype
        self.lengths = tuple(x.numel() for x in params)
        self.param_addresses = addresses(params)
        self.buffer_addresses = addresses(buffers)
        # On a GPU: those of the gradients of the last step, and all of them in its memory.
        self.grad_addresses: list[int] = []
        self.uploaded: Tensor | None = None
        self.aligned = False

    def fits(self, params: list[Tensor], grads: list[Tensor], buffers: list[Tensor | None]) -> bool:
        """Whether these are the same parameters and buffers, with contiguous gradients."""
        dtype = self.dtype
        return (
            len(params) == len(self.params)
            and len(buffers) == len(self.buffers)
            and all(map(is_, params, self.params))
            and all(map(is_, buffers, self.buffers))
            and all(g.is_contiguous() and g.dtype == dtype for g in grads)
            and addresses(params) == self.param_addresses
            and addresses(self.buffers) == self.buffer_addresses
        )


def addresses(tensors: list[Tensor]) -> list[int]:
    """Where the tensors begin."""
    found = [tensor.data_ptr() for tensor in tensors]
    if 0 in found:
        for tensor, address in zip(tensors, found, strict=True):
            if address == 0 and tensor.numel() > 0:
                raise RuntimeError(
                    f"there is no fused step for a {type(tensor).__name__}, which has no memory of "
                    "its own: use fused=False"
                )
    return found
