"""FULD, the optimizer.

This module holds the constructor, the handling of groups and checkpoints, and the loop over groups
of a step. The arithmetic of a step is in the modules that it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import torch
from torch import Tensor
from torch._compile import _disable_dynamo
from torch.optim.optimizer import Optimizer, ParamsT, _use_grad_for_differentiable

from fuld.torch._fused_tensors import FusedTensors
from fuld.torch._group_check import (
    check_alpha,
    check_fused,
    check_group,
    number,
    refuse_sparse,
    with_guard,
    with_knee,
    with_numbers,
)
from fuld.torch._guard_gradients import GradientGuard
from fuld.torch._guard_states import protect, release
from fuld.torch._implementation import may_fuse, may_guard, update
from fuld.torch._kernels import fused_step_of
from fuld.torch._local_tensors import like, real_shards
from fuld.torch._sgd import sgd
from fuld.torch._step import Step

_NONE: dict[str, Tensor] = {}


class FULD(Optimizer):
    """Fractional underdamped Langevin dynamics: SGD with momentum for heavy-tailed gradients.

    A replacement for `torch.optim.SGD` with the same learning rate and momentum::

        b ← momentum b + g,    x ← x - lr h(b)

    The field h(b) equals b for small b. Its knee is at
    abs(b) = noise_scale (1 - momentum)^(-1/alpha), and beyond it h decreases as 1/b: a coordinate
    whose momentum is large because of one rare, large gradient moves little, as if the gradient had
    been clipped. A constant gradient g leads to b = g / (1 - momentum), and so reaches the knee at
    noise_scale (1 - momentum)^(1-1/alpha): 0.37 noise_scale at momentum 0.9 and alpha = 1.75. At
    alpha = 2 there is no knee, and the step is that of SGD to the last bit.

    Parameters
    ----------
    params : iterable
        Parameters or groups of them, as for every optimizer of torch.
    lr : float or Tensor, optional
        Learning rate.
    momentum : float, optional
        0 <= momentum < 1; 1 is allowed in the paper's form.
    alpha : float or "auto", optional
        Tail index of the gradient noise, 0.1 <= alpha <= 2. "auto" means alpha = 2 with a guard.
    noise_scale : float, optional
        Scale of the gradient noise in the matched form, 1.0 by default: that of a symmetric stable
        law, in units of the gradient. If it is too large, the step is SGD's. If it is so small that
        the mean gradient is beyond the knee, learning stalls. So begin large and lower it until
        `TailMonitor` reports a few percent of the coordinates beyond the knee. The scale that the
        monitor estimates is appropriate only where noise dominates the gradients.
    beta : float, optional
        Inverse temperature in the paper's form, 1.0 by default; not allowed in the matched form.
    form : {"matched", "paper"}, optional
        "paper" is the field of the paper, ∇G_α of v = -√lr b, as `from_paper` sets it. Its slope at
        0 is not 1, and its knee is at v = κ = beta^(-1/alpha), whatever the size of the gradients.
    guard : bool or float, optional
        Whether gradients are clipped to their own usual size, as `fuld.torch.guard` does; a number
        is its `clip`, True stands for 1. The fused step guards gradients in its own pass and does
        not change ``.grad``; all others change it.
    weight_decay : float, optional
        Coefficient of an L2 penalty, whose gradient is added to the gradient.
    decoupled_weight_decay : bool, optional
        Whether weights decay as x ← (1 - lr weight_decay) x instead, without momentum and field.
    nesterov : bool, optional
        Whether the step follows g + momentum b instead of b.
    maximize : bool, optional
        Whether to maximize the objective.
    foreach : bool, optional
        Whether to use torch's foreach operations, one after another over all tensors.
    fused : bool, optional
        Whether to take the step in one pass over the tensors: on the CPU in the Rust crate, on CUDA
        in a Triton kernel. If neither this nor `foreach` is given, CPU tensors take the fused step
        and CUDA tensors the foreach step.
    capturable : bool, optional
        Accepted for compatibility with `torch.optim`: every step may be captured in a CUDA graph.
        Take one step before the capture. A graph reads lr again at every replay if it is a tensor
        on the device; a number, or a tensor elsewhere, keeps its value.
    differentiable : bool, optional
        Whether autograd differentiates through the step.

    Notes
    -----
    The state is torch's `momentum_buffer`, and with a guard its three numbers, ``guard``:
    checkpoints of SGD load into FULD and those of FULD into SGD. Complex parameters are treated as
    pairs of real ones. Sparse gradients require alpha = 2. Without a guard, an infinite gradient,
    or a momentum that overflows, makes its coordinate NaN.

    Examples
    --------
    >>> import torch
    >>> from fuld.torch import FULD
    >>> _ = torch.manual_seed(1)
    >>> model = torch.nn.Linear(3, 1)
    >>> optimizer = FULD(model.parameters(), lr=0.05, alpha=1.5)
    >>> x = torch.randn(64, 3)
    >>> y = x @ torch.tensor([1.0, -2.0, 0.5])
    >>> for _ in range(200):
    ...     optimizer.zero_grad()
    ...     loss = torch.nn.functional.mse_loss(model(x)[:, 0], y)
    ...     _ = loss.backward()
    ...     _ = optimizer.step()
    >>> bool(loss < 1e-3)
    True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0.9,
        alpha: float | Literal["auto"] = 1.75,
        *,
        noise_scale: float | None = None,
        beta: float | None = None,
        form: str = "matched",
        guard: bool | float | None = None,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        nesterov: bool = False,
        maximize: bool = False,
        foreach: bool | None = None,
        fused: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "noise_scale": noise_scale,
            "beta": beta,
            "form": form,
            "guard": guard,
            # FULD has none; SGD expects it in the groups of a checkpoint.
            "dampening": 0,
            "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "fused": fused,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        defaults = with_numbers(with_knee(with_guard(defaults, {}), {}))
        check_group(defaults)
        super().__init__(params, defaults)

    @classmethod
    def from_paper(
        cls,
        params: ParamsT,
        eta: float,
        gamma: float,
        alpha: float = 1.75,
        beta: float = 1.0,
        **options: Any,  # noqa: ANN401
    ) -> FULD:
        """Returns the paper's optimizer with step eta, friction gamma and inverse temperature beta.

        v ← (1 - gamma eta) v - eta g,  x ← x + eta beta^(1/α-1) ∇G_α(beta^(1/α) v). In the
        coordinates of SGD that is ``form="paper"`` with lr = eta² and momentum = 1 - gamma eta.

        Parameters
        ----------
        params : iterable
            Parameters or groups of them.
        eta, gamma, alpha, beta : float
            The paper uses eta = 0.1, gamma = 0.1 or 0.9, alpha = 1.75 and beta = 1.
        **options
            Other keywords of `FULD`.

        Examples
        --------
        >>> import torch
        >>> from fuld.torch import FULD
        >>> FULD.from_paper([torch.zeros(3)], eta=0.1, gamma=0.1).defaults["momentum"]
        0.99
        """
        for name, value in {"eta": eta, "beta": beta}.items():
            if not number(name, value) > 0:
                raise ValueError(f"{name} must be positive, got {value}")
        if not number("gamma", gamma) >= 0:
            raise ValueError(f"gamma must not be negative, got {gamma}")
        check_alpha(number("alpha", alpha))
        for name in ("lr", "momentum", "noise_scale", "form"):
            if name in options:
                raise TypeError(
                    f"{name} follows from eta, gamma and the paper's form: leave it out"
                )
        return cls(
            params,
            eta**2,
            1 - gamma * eta,
            alpha,
            beta=beta,
            form="paper",
            **options,
        )

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a parameter group, whose settings may differ from those of the others."""
        param_group = with_guard(param_group, self.defaults)
        param_group = with_numbers(with_knee(param_group, self.defaults))
        check_group({**self.defaults, **param_group})
        super().add_param_group(param_group)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Loads the state and the groups of a checkpoint of FULD or SGD.

        Settings that SGD's groups do not have, such as alpha, keep their values.
        """
        groups = state_dict["param_groups"]
        if len(groups) == len(self.param_groups):
            own = [{k: v for k, v in g.items() if k != "params"} for g in self.param_groups]
            groups = [{**mine, **theirs} for mine, theirs in zip(own, groups, strict=True)]
            for group in groups:
                check_group(group)
        super().load_state_dict(protect({**state_dict, "param_groups": groups}))
        release(self)
        # The tensors of the groups and buffers that were replaced.
        self.__dict__.pop("_tensors_by_group", None)

    @property
    def _step_supports_amp_scaling(self) -> bool:
        # A GradScaler then expects the step to unscale gradients and to skip infinite ones.
        return all(group["fused"] for group in self.param_groups)

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], float]) -> float: ...
    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Takes a step.

        Parameters
        ----------
        closure : callable, optional
            A function that evaluates the model, computes the gradients and returns the loss.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        by_group = self._fused_tensors()
        grad_scale, found_inf = getattr(self, "grad_scale", None), getattr(self, "found_inf", None)
        for group in self.param_groups:
            params: list[Tensor] = []
            grads: list[Tensor] = []
            buffers: list[Tensor | None] = []
            self._init_group(group, params, grads, buffers)
            if not params:
                continue
            clip = group["guard"]
            kept = by_group.get(id(group))
            if (
                kept is not None
                and may_fuse(group, kept)
                and kept.fits(params, grads, buffers)
                and self._guard_fits(kept, clip)
            ):
                fused_step_of(kept, grads, Step.of(group, clip), grad_scale, found_inf)
                continue
            if group["fused"]:
                check_fused(params, group["alpha"])
            in_step = clip is not None and may_guard(group, params, grads)
            if clip is not None and not in_step:
                grads = self._guard_first(params, grads, clip, group)
            if group["alpha"] == 2 and not in_step:
                sgd(params, grads, buffers, group, grad_scale, found_inf)
                if buffers:
                    self._keep(params, buffers)
                continue
            refuse_sparse(grads)
            # torch begins with b = g, the result of a step from 0. Without momentum there is none.
            made = [
                torch.zeros_like(x) if b is None else b
                for x, b in zip(params, buffers, strict=False)
            ]
            if any(b is None for b in buffers):
                self._keep(params, made)
            grads = like(params, grads)
            kept = update(
                real_shards(params),
                real_shards(grads),
                real_shards(made),
                group,
                grad_scale,
                found_inf,
                self._guard_rows(params) if in_step else None,
            )
            if kept is not None:
                kept.guard_version = self._guard().states.version if in_step else None
                by_group[id(group)] = kept
        return loss

    def _init_group(
        self,
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
        buffers: list[Tensor | None],
    ) -> None:
        """Appends parameters with gradients, and their buffers if there is momentum."""
        for x in group["params"]:
            grad = x.grad
            if grad is not None:
                params.append(x)
                grads.append(grad)
        if group["momentum"] != 0:
            state = self.state
            # state[x] would create an empty state.
            buffers.extend([state.get(x, _NONE).get("momentum_buffer") for x in params])

    def _guard(self) -> GradientGuard:
        """The guard of all groups, not pickled; its states are in the state of the optimizer."""
        found: GradientGuard = self.__dict__.setdefault("_gradient_guard", GradientGuard())
        return found

    def _guard_fits(self, kept: FusedTensors, clip: float | None) -> bool:
        """Whether kept tensors have the states of the guard, or none if there is no guard."""
        version = kept.guard_version
        if clip is None or version is None:
            return clip is None and version is None
        return self._guard().states.is_current(self, version)

    # A compiled step calls this function uncompiled, since it keeps tensors between steps.
    @_disable_dynamo
    def _guard_first(
        self, params: list[Tensor], grads: list[Tensor], clip: float, group: dict[str, Any]
    ) -> list[Tensor]:
        """Guards the gradients before the step, and returns them."""
        with torch.no_grad():
            self._guard().apply(self, params, grads, clip, id(group), group["differentiable"])
        self._guard().store(self)
        return [x.grad for x in params if x.grad is not None]

    def _guard_rows(self, params: list[Tensor]) -> list[Tensor]:
        """The guard's states, which are created where they are missing."""
        states = self._guard().states
        states.update(self, params)
        states.store(self, params)
        return list(map(states.row, params))

    def _fused_tensors(self) -> dict[int, FusedTensors]:
        """Tensors of each group's last fused step, neither pickled nor traced by a compiler."""
        if torch.compiler.is_compiling():
            return {}
        by_group: dict[int, FusedTensors] = self.__dict__.setdefault("_tensors_by_group", {})
        return by_group

    def _keep(self, params: list[Tensor], buffers: Sequence[Tensor | None]) -> None:
        for x, buffer in zip(params, buffers, strict=True):
            self.state[x]["momentum_buffer"] = buffer
