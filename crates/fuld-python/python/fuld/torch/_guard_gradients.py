"""Applies the guard to the gradients of a set of parameters.

Dense gradients in CPU memory are handled by the Rust crate, those on CUDA by Triton kernels, and
all others (sharded, complex, sparse, differentiable, other devices) by torch's operations.
"""

from __future__ import annotations

from operator import is_
from typing import Any, Protocol

import torch
from torch import Tensor

from fuld.torch._guard_kernels import dense_part
from fuld.torch._guard_rule import decide, guarded, log_sums
from fuld.torch._guard_states import KEY, GuardStates
from fuld.torch._kernels import PLAIN, has_kernel
from fuld.torch._layout import is_dense
from fuld.torch._local_tensors import like, local

#: Sets of parameters that are remembered, for models that use different parameters in turn.
_SETS = 16


class _Part(Protocol):
    """Gradients that are guarded in one way."""

    def fits(self, grads: list[Tensor]) -> bool: ...

    def apply(
        self,
        grads: list[Tensor],
        clip: float,
        grad_scale: Tensor | None,
        found_inf: Tensor | None,
    ) -> None: ...


class GradientGuard:
    """The guard of an optimizer: the states of its parameters, and what is known of gradients."""

    def __init__(self) -> None:
        self.states = GuardStates()
        self._last: dict[object, _Gradients] = {}
        self._sets: dict[tuple[int, ...], _Gradients] = {}

    def apply(
        self,
        optimizer: torch.optim.Optimizer,
        params: list[Tensor],
        grads: list[Tensor],
        clip: float,
        key: object = None,
        differentiable: bool = False,
    ) -> None:
        """Update the states and change the gradients; `key` tells apart groups of parameters.

        If the step is differentiable, gradients are replaced where autograd differentiates them.
        """
        if not params:
            return
        if differentiable:
            once = _Gradients(optimizer, self.states, params, grads, kernels=False)
            self._last[key] = once
            once.apply(grads, clip, None, None)
            return
        found = self._last.get(key)
        if found is None or not self._is(found, optimizer, params, grads):
            found = self._found(optimizer, params, grads)
            self._last[key] = found
        scale, skip = getattr(optimizer, "grad_scale", None), getattr(optimizer, "found_inf", None)
        found.apply(grads, clip, scale, skip)

    def store(self, optimizer: torch.optim.Optimizer) -> None:
        """Put new states into the optimizer's state."""
        for found in self._last.values():
            if not self.states.is_current(optimizer, found.version):
                continue
            # An optimizer may have replaced the state of a parameter.
            if not found.stored or KEY not in optimizer.state[found.params[0]]:
                self.states.store(optimizer, found.params)
                found.stored = True

    def _is(
        self,
        found: _Gradients,
        optimizer: torch.optim.Optimizer,
        params: list[Tensor],
        grads: list[Tensor],
    ) -> bool:
        return self.states.is_current(optimizer, found.version) and found.fits(params, grads)

    def _found(
        self, optimizer: torch.optim.Optimizer, params: list[Tensor], grads: list[Tensor]
    ) -> _Gradients:
        key = tuple(map(id, params))
        found = self._sets.get(key)
        if found is None or not self._is(found, optimizer, params, grads):
            if len(self._sets) >= _SETS:
                self._sets.clear()
            found = _Gradients(optimizer, self.states, params, grads)
            self._sets[key] = found
        return found


class _Gradients:
    """The gradients of a set of parameters, divided by how they are guarded."""

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        states: GuardStates,
        params: list[Tensor],
        grads: list[Tensor],
        kernels: bool = True,
    ) -> None:
        states.update(optimizer, params)
        self.version = states.version
        self.params = params
        self.stored = False
        kinds: dict[tuple[torch.device, torch.dtype | None], list[int]] = {}
        for i, g in enumerate(grads):
            dtype = g.dtype if kernels and _has_kernel(g) else None
            kinds.setdefault((g.device, dtype), []).append(i)
        self._parts: list[tuple[list[int] | None, _Part]] = []
        for (_, dtype), which in kinds.items():
            own = [params[i] for i in which]
            rows, numbers = states.matrix(own)
            part: _Part
            if dtype is None:
                part = _AnyPart(own, rows, numbers, differentiable=not kernels)
            else:
                part = dense_part([grads[i] for i in which], rows, numbers)
            self._parts.append((None if len(kinds) == 1 else which, part))

    def fits(self, params: list[Tensor], grads: list[Tensor]) -> bool:
        """Return whether these are the parameters and their gradients are of the same kind."""
        return (
            len(params) == len(self.params)
            and all(map(is_, params, self.params))
            and all(
                part.fits(grads if which is None else [grads[i] for i in which])
                for which, part in self._parts
            )
        )

    def apply(
        self,
        grads: list[Tensor],
        clip: float,
        grad_scale: Tensor | None,
        found_inf: Tensor | None,
    ) -> None:
        for which, part in self._parts:
            own = grads if which is None else [grads[i] for i in which]
            part.apply(own, clip, grad_scale, found_inf)


def _has_kernel(g: Tensor) -> bool:
    """Return whether a gradient is plain memory that a kernel can change."""
    return (
        type(g) in PLAIN
        and g.layout is torch.strided
        and has_kernel(g)
        and is_dense(g)
        and g.data_ptr() % g.element_size() == 0
    )


class _AnyPart:
    """Gradients of all other kinds on one device."""

    def __init__(
        self, params: list[Tensor], rows: Tensor, numbers: list[int], differentiable: bool
    ) -> None:
        self._params, self._rows, self._differentiable = params, rows, differentiable
        self._numbers = torch.tensor(numbers, device=rows.device)
        self._meshes = _meshes(params, rows.device)

    def fits(self, grads: list[Tensor]) -> bool:
        return not self._differentiable and not any(map(_has_kernel, grads))

    def apply(
        self,
        grads: list[Tensor],
        clip: float,
        grad_scale: Tensor | None,
        found_inf: Tensor | None,
    ) -> None:
        device = self._rows.device
        grads = _replaced(self._params, grads)
        flat = [_flat(g) for g in grads]
        kinds: dict[torch.dtype, list[int]] = {}
        for i, g in enumerate(flat):
            kinds.setdefault(g.dtype, []).append(i)
        sums = torch.empty(len(flat), 2, dtype=torch.int64, device=device)
        for which in kinds.values():
            own = [flat[i] for i in which]
            found = log_sums(own, tuple(g.numel() for g in own))
            if len(kinds) == 1:
                sums = found
            else:
                sums[torch.tensor(which, device=device)] = found
        for mesh, (dimensions, of_mesh) in self._meshes.items():
            whole = sums[of_mesh]
            for dimension in dimensions:
                torch.distributed.all_reduce(whole, group=mesh.get_group(dimension))
            sums[of_mesh] = whole
        scale = None if grad_scale is None else grad_scale.to(device)
        skip = None if found_inf is None else found_inf.to(device)
        after, (factors, limits) = decide(self._rows[self._numbers], sums, clip, scale, skip)
        self._rows[self._numbers] = after
        for x, g, memory, factor, limit in zip(
            self._params, grads, flat, factors.unbind(), limits.unbind(), strict=True
        ):
            if self._differentiable and g.requires_grad:
                # Part of a graph that autograd will differentiate.
                with torch.enable_grad():
                    x.grad = guarded(g, factor, limit)
            else:
                memory.copy_(guarded(memory, factor, limit))


def _replaced(params: list[Tensor], grads: list[Tensor]) -> list[Tensor]:
    """Return the gradients, sharded as their parameters and without duplicate indices."""
    found = like(params, grads)
    for i, (x, g) in enumerate(zip(params, found, strict=True)):
        if g.layout is torch.sparse_coo:
            found[i] = g.coalesce()
        elif g.layout is not torch.strided:
            raise RuntimeError(
                f"the guard requires dense or sparse COO gradients, got one of layout {g.layout}"
            )
        if found[i] is not grads[i]:
            x.grad = found[i]
    return found


def _flat(gradient: Tensor) -> Tensor:
    """Return the real numbers of a gradient that this process has, as a view if possible.

    Those of a sparse gradient are its values: all other components are 0 and do not count.
    """
    g: Tensor = local([gradient.detach()])[0]
    if g.layout is torch.sparse_coo:
        g = g._values()
    if g.is_complex():
        # Conjugation does not change magnitudes, and the conjugate is in memory.
        g = torch.view_as_real(g.conj() if g.is_conj() else g)
    return g


def _meshes(params: list[Any], device: torch.device) -> dict[Any, tuple[list[int], Tensor]]:
    """Return for each mesh the dimensions that shard a parameter, and the parameters on it."""
    found: dict[Any, tuple[set[int], list[int]]] = {}
    for i, x in enumerate(params):
        if hasattr(x, "placements"):
            dimensions, which = found.setdefault(x.device_mesh, (set(), []))
            dimensions |= {d for d, placed in enumerate(x.placements) if placed.is_shard()}
            which.append(i)
    return {
        mesh: (sorted(dimensions), torch.tensor(which, device=device))
        for mesh, (dimensions, which) in found.items()
        if dimensions
    }
