"""What is known of the tensors of a fused step from one step to the next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import attrgetter, is_, or_

from torch import Tensor


class Plan:
    """Dense tensors of one device and dtype, and where they are.

    Most of a step over thousands of small tensors would be asking each of them what it is. So
    that is asked once, and again only if one of them is another or lies elsewhere. Gradients are
    new at every step, and always asked.
    """

    def __init__(
        self, params: list[Tensor], buffers: list[Tensor], calibrations: Sequence[Tensor] = ()
    ) -> None:
        self.params, self.buffers = params, buffers
        # Of a group that calibrates itself; nobody writes them but its step.
        self.calibrations = calibrations
        self.calibration_addresses = addresses(list(calibrations))
        self.device, self.dtype = params[0].device, params[0].dtype
        self.lengths = tuple(x.numel() for x in params)
        self.param_addresses = addresses(params)
        self.buffer_addresses = addresses(buffers)
        # Of gradients. Of types of the same size only halves are more than one.
        self.bytes = [n * self.dtype.itemsize for n in self.lengths]
        self.grad_addresses: list[int] = []
        # On a GPU: all addresses in its memory, with these gradients.
        self.uploaded: Tensor | None = None
        self.uploaded_grads: list[int] = []
        self.aligned = False

    def fits(self, params: list[Tensor], grads: list[Tensor], buffers: list[Tensor | None]) -> bool:
        """Whether these are the same parameters and buffers, with gradients that go with them.

        What a tensor is may have been changed under its name (x.data = ...). So what a kernel
        relies on is asked again: of known tensors where they are, of gradients all.
        """
        if not (
            len(params) == len(self.params)
            and len(buffers) == len(self.buffers)
            and all(map(is_, params, self.params))
            and addresses(params) == self.param_addresses
            and all(map(Tensor.is_contiguous, params))
            and all(map(is_, buffers, self.buffers))
            and addresses(self.buffers) == self.buffer_addresses
            and (not buffers or tuple(map(Tensor.numel, self.buffers)) == self.lengths)
            and all(map(Tensor.is_contiguous, grads))
            and list(map(attrgetter("nbytes"), grads)) == self.bytes
            and not any(map(Tensor.is_neg, grads))
            and (self.dtype.itemsize != 2 or all(g.dtype == self.dtype for g in grads))
        ):
            return False
        self.grad_addresses = addresses(grads)
        return not reduce(or_, self.grad_addresses) % self.dtype.itemsize


def addresses(tensors: list[Tensor]) -> list[int]:
    """Where the tensors begin."""
    found = list(map(Tensor.data_ptr, tensors))
    if 0 in found:
        for tensor, address in zip(tensors, found, strict=True):
            if address == 0 and tensor.numel() > 0:
                raise RuntimeError(
                    f"there is no fused step for a {type(tensor).__name__}, which has no memory of "
                    "its own: use fused=False"
                )
    return found
