"""Addresses and lengths of the tensors of a fused step, kept from one step to the next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import attrgetter, is_, or_

from torch import Tensor


class FusedTensors:
    """Dense tensors of one device and dtype, and their addresses.

    Querying thousands of small tensors would take most of a step. So they are queried once, and
    again only if one of them was replaced or moved. Gradients are new at every step, and queried
    at every step.
    """

    #: Rows of `table` that are addresses of the tensors that a kernel reads and writes in bulk.
    BULK = 3

    def __init__(
        self, params: list[Tensor], buffers: list[Tensor], guard_states: list[Tensor] | None = None
    ) -> None:
        self.params, self.buffers = params, buffers
        self.device, self.dtype = params[0].device, params[0].dtype
        self.lengths = tuple(x.numel() for x in params)
        # One buffer per parameter, or two, or none.
        self.buffer_lengths = self.lengths * (len(buffers) // len(params))
        # The guard within the step, if there is one; valid for one version of the guard's states.
        self.guard_states = guard_states or []
        self.guard_addresses = addresses(self.guard_states)
        self.guarded: object = None
        self.guard_version: int | None = None
        self.param_addresses = addresses(params)
        self.buffer_addresses = addresses(buffers)
        # Sizes of the gradients. The two half precisions have the same size.
        self.bytes = [n * self.dtype.itemsize for n in self.lengths]
        self.grad_addresses: list[int] = []
        # On a GPU: the matrix of addresses in its memory, and the gradients that it was made for.
        self.uploaded: Tensor | None = None
        self.uploaded_grads: list[int] = []
        self.aligned = False

    def table(self) -> list[Sequence[int]]:
        """Return addresses and lengths, as a kernel on a GPU reads them."""
        buffers = self.buffer_addresses or self.param_addresses
        return [self.param_addresses, self.grad_addresses, buffers, self.lengths]

    def fits(self, params: list[Tensor], grads: list[Tensor], buffers: list[Tensor | None]) -> bool:
        """Return whether the addresses are valid for these parameters, buffers and gradients.

        A tensor may have been changed in place (x.data = ...). So everything that a kernel relies
        on is checked: the addresses of known tensors, and all properties of gradients.
        """
        if not (
            len(params) == len(self.params)
            and len(buffers) == len(self.buffers)
            and all(map(is_, params, self.params))
            and addresses(params) == self.param_addresses
            and all(map(Tensor.is_contiguous, params))
            and all(map(is_, buffers, self.buffers))
            and addresses(self.buffers) == self.buffer_addresses
            and tuple(map(Tensor.numel, self.buffers)) == self.buffer_lengths
            and all(map(Tensor.is_contiguous, grads))
            and list(map(attrgetter("nbytes"), grads)) == self.bytes
            and not any(map(Tensor.is_neg, grads))
            and (self.dtype.itemsize != 2 or all(g.dtype == self.dtype for g in grads))
        ):
            return False
        self.grad_addresses = addresses(grads)
        return not reduce(or_, self.grad_addresses) % self.dtype.itemsize


def addresses(tensors: list[Tensor]) -> list[int]:
    """Return the addresses of the tensors."""
    found = list(map(Tensor.data_ptr, tensors))
    if 0 in found:
        for tensor, address in zip(tensors, found, strict=True):
            if address == 0 and tensor.numel() > 0:
                raise RuntimeError(
                    f"there is no fused step for a {type(tensor).__name__}, which has no memory of "
                    "its own: use fused=False"
                )
    return found
