"""`guard`, which makes any optimizer of torch clip gradients to their own usual size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch._compile import _disable_dynamo

from fuld.torch._fuld import FULD
from fuld.torch._guard_gradients import GradientGuard
from fuld.torch._guard_rule import CLIP_FOR_ADAM, CLIP_FOR_SGD, check_clip
from fuld.torch._guard_states import protect, release
from fuld.torch._guarded_steps import GuardedSteps
from fuld.torch._hooks import require_hooks

_Optimizer = TypeVar("_Optimizer", bound=torch.optim.Optimizer)

# Optimizers whose step is proportional to the gradient.
_SGD_LIKE = (torch.optim.SGD, torch.optim.ASGD, FULD)
# Attribute of a guarded optimizer. Copies and pickles of the optimizer do not have it.
_HOOK = "_fuld_guard"


def guard(optimizer: _Optimizer, clip: float | None = None) -> _Optimizer:
    """Makes an optimizer clip gradients to their own usual size before each step.

    For each parameter the guard keeps the usual geometric mean of its gradient's components. Before
    a step it scales a gradient that as a whole is more than 4 times as large as usual down to that,
    clamps components beyond `clip` geometric means, and replaces NaN by 0. So training survives
    heavy-tailed noise, corrupted components, and bursts. Other components keep their bits.

    The first gradient of a parameter is measured and set to 0: nothing shows yet whether it is a
    burst.

    Parameters
    ----------
    optimizer : torch.optim.Optimizer
        Any optimizer except LBFGS. It is changed, and returned.
    clip : float, optional
        Multiple of the usual geometric mean at which components are clipped, positive; infinite to
        clip only bursts, NaN and infinities. By default 1 for SGD, ASGD and FULD, whose steps are
        proportional to the gradient, and 30 for all others, which divide by the gradient's size.

    Notes
    -----
    The guard changes ``.grad`` in place, after a `GradScaler` has unscaled it. The fused steps of
    SGD, Adam and AdamW contain the guard, and keep it where they can. A sparse gradient is guarded
    through its values. Sharded parameters agree across processes.

    The state is ``guard`` in the optimizer's state: three float32 numbers per parameter, with which
    checkpoints continue to the same bits. Guard an optimizer before loading a checkpoint. Copies
    and pickles of the optimizer keep the state but must be guarded again.

    Nothing waits for the device, so that steps may be captured in a CUDA graph after a first step.

    Examples
    --------
    >>> import torch
    >>> from fuld.torch import guard
    >>> x = torch.nn.Parameter(torch.zeros(3))
    >>> optimizer = guard(torch.optim.AdamW([x]))
    >>> for bad in (1.0, 1.0, float("inf")):
    ...     x.grad = torch.tensor([1.0, bad, float("nan") if bad > 1 else 1.0])
    ...     optimizer.step()
    >>> [round(g, 3) for g in x.grad.tolist()]
    [1.0, 30.0, 0.0]
    """
    require_hooks(optimizer)
    if isinstance(optimizer, torch.optim.LBFGS):
        raise TypeError(
            "LBFGS cannot be guarded: its line search evaluates gradients within a step, and "
            "requires them to be those of the loss"
        )
    if _HOOK in optimizer.__dict__:
        raise ValueError("the optimizer already has a guard: call guard once")
    if isinstance(optimizer, FULD) and any(group["guard"] for group in optimizer.param_groups):
        raise ValueError("FULD already has a guard: leave out guard= or alpha='auto', or this call")
    if clip is None:
        clip = CLIP_FOR_SGD if isinstance(optimizer, _SGD_LIKE) else CLIP_FOR_ADAM
    hook = _Hook(check_clip("clip", clip))
    optimizer.__dict__[_HOOK] = hook
    optimizer.register_step_pre_hook(hook.before_step)
    optimizer.register_step_post_hook(hook.after_step)
    optimizer.register_load_state_dict_pre_hook(hook.before_load)
    optimizer.register_load_state_dict_post_hook(release)
    return optimizer


class _Hook:
    """The guard of one optimizer."""

    def __init__(self, clip: float) -> None:
        self._clip = clip
        self._guard = GradientGuard()
        self._steps = GuardedSteps(self._guard, clip)

    def before_step(
        self, optimizer: torch.optim.Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """Guard the gradients; those of a closure whenever it computes them."""
        if self._armed(optimizer, torch.compiler.is_compiling()):
            return None
        # The first argument is the optimizer.
        if len(args) > 1 and callable(args[1]):
            return (args[0], self._guarded(optimizer, args[1]), *args[2:]), kwargs
        if callable(kwargs.get("closure")):
            return args, {**kwargs, "closure": self._guarded(optimizer, kwargs["closure"])}
        self._apply(optimizer)
        return None

    @_disable_dynamo
    def _armed(self, optimizer: torch.optim.Optimizer, compiled: bool) -> bool:
        """Return whether the step will guard the gradients itself; a compiled one does not."""
        self._steps.disarm()
        return not compiled and self._steps.arm(optimizer)

    @_disable_dynamo
    def after_step(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        """Store new states, not earlier: Adam regards a parameter without state as new."""
        self._steps.disarm()
        self._guard.store(optimizer)

    def before_load(
        self, optimizer: torch.optim.Optimizer, state_dict: dict[str, Any]
    ) -> dict[str, Any]:
        """Protect the states of a checkpoint from being cast to the parameters' dtype."""
        del optimizer
        self._steps.forget()
        return protect(state_dict)

    def _guarded(
        self, optimizer: torch.optim.Optimizer, closure: Callable[[], Any]
    ) -> Callable[[], Any]:
        def guarded() -> Any:  # noqa: ANN401
            loss = closure()
            self._apply(optimizer)
            return loss

        return guarded

    @_disable_dynamo
    @torch.no_grad()
    def _apply(self, optimizer: torch.optim.Optimizer) -> None:
        params: list[Tensor] = [x for group in optimizer.param_groups for x in group["params"]]
        # Read once: it takes time for thousands of parameters.
        found = [x.grad for x in params]
        grads = [g for g in found if g is not None]
        if len(grads) < len(found):
            params = [x for x, g in zip(params, found, strict=True) if g is not None]
        differentiable = any(group.get("differentiable") for group in optimizer.param_groups)
        self._guard.apply(optimizer, params, grads, self._clip, differentiable=differentiable)
