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
        """Whether these are the same parameters and buffers, with gradients that go with them.

        What a tensor is may have been changed under its name (x.data = ...): all that a kernel
        relies on is asked again.
        """
        return (
            len(params) == len(self.params)
            and len(buffers) == len(self.buffers)
            and all(map(is_, params, self.params))
            and all(map(is_, buffers, self.buffers))
            and self._lie(params, self.param_addresses)
            and self._lie(self.buffers, self.buffer_addresses)
            and self._go_with(grads)
        )

    def _lie(self, tensors: list[Tensor], there: list[int]) -> bool:
        dtype = self.dtype
        return addresses(tensors) == there and all(
            x.numel() == n and x.dtype == dtype and x.is_contiguous()
            for x, n in zip(tensors, self.lengths, strict=False)
        )

    def _go_with(self, grads: list[Tensor]) -> bool:
        dtype, device, size = self.dtype, self.params[0].get_device(), self.dtype.itemsize
        return all(
            g.numel() == n
            and g.dtype == dtype
            and g.is_contiguous()
            and g.get_device() == device
            and not g.is_neg()
            and not g.data_ptr() % size
            for g, n in zip(grads, self.lengths, strict=True)
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
