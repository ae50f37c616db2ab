"""The optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, overload

import torch
from torch import Tensor
from torch.optim.optimizer import Optimizer, ParamsT, _use_grad_for_differentiable

from fuld.torch._auto_settings import calibrates, check_auto, is_auto
from fuld.torch._auto_step import auto_step
from fuld.torch._calibration_report import Calibrations, report
from fuld.torch._calibration_state import held, release
from fuld.torch._check import (
    check_alpha,
    check_fused,
    check_group,
    number,
    refuse_sparse,
    with_numbers,
)
from fuld.torch._implementation import may_fuse, update
from fuld.torch._kernels import planned
from fuld.torch._plain import like, plain
from fuld.torch._plan import Plan
from fuld.torch._sgd import sgd
from fuld.torch._step import Step

_NONE: dict[str, Tensor] = {}


class FULD(Optimizer):
    """SGD with momentum whose step goes through ∇G_α: fractional underdamped Langevin dynamics.

    It takes the place of `torch.optim.SGD`, with the same learning rate and momentum::

        b ← momentum b + g,    x ← x - lr h(b)

    h(b) is b itself where b is small. It rises to its bend, at about
    scale (1 - momentum)^(-1/alpha), and falls as 1/b beyond: a coordinate that a rare large
    gradient has thrown far out moves little, as if it had been clipped. A lasting gradient g has
    b = g / (1 - momentum), and so bends at about scale (1 - momentum)^(1-1/alpha): 0.37 scale at
    momentum 0.9 and alpha = 1.75, 0.14 scale at 0.99. At alpha = 2 nothing bends, and the step is
    that of SGD to the last bit.

    Parameters
    ----------
    params : iterable
        Parameters or groups of them, as for every optimizer of torch.
    lr : float or Tensor, optional
        Learning rate.
    momentum : float, optional
        0 <= momentum < 1; 1 too in the paper's form.
    alpha : float or "auto", optional
        Tail index of the gradients' noise, 0.1 <= alpha <= 2. With "auto" it is found for each
        parameter from its gradients, at every step anew; see Notes.
    scale : float or "auto", optional
        In the matched form the scale of the gradients' noise: that of a symmetric stable law, in
        units of the gradient. If it is too large, the step is SGD's; if lasting gradients are
        beyond the bend, learning stalls. So begin large, and lower it until the share of bent
        coordinates that `TailMonitor` shows is a few percent; the scale of the noise, which it
        shows too, is right as it is only where noise is all that gradients have. With "auto" the
        place of the bend is found, for each parameter; see Notes. In the paper's form the κ of
        `from_paper`.
    form : {"matched", "paper"}, optional
        "paper" is the field of the paper, ∇G_α of v = -√lr b, as `from_paper` sets it. Its slope at
        0 is not 1, and it bends at about v = scale wherever the gradients are.
    weight_decay : float, optional
        A pull towards 0, added to the gradient.
    decoupled_weight_decay : bool, optional
        Whether the pull is x ← (1 - lr weight_decay) x instead, past momentum and field.
    nesterov : bool, optional
        The step follows g + momentum b instead of b.
    maximize : bool, optional
        Goes uphill.
    foreach : bool, optional
        Whether to go through all tensors with one operation after another.
    fused : bool, optional
        Whether to do everything in one pass over the tensors: on the CPU by the Rust crate, on CUDA
        by a Triton kernel. If neither this nor `foreach` is given, CPU tensors take the fused
        step and CUDA tensors the foreach one.
    capturable : bool, optional
        Here for optimizers to be told alike: every step may be captured in a CUDA graph. Take one
        before the capture. A graph reads lr anew at every replay if it is a tensor on the device; a
        number, or a tensor elsewhere, stays what it was.
    differentiable : bool, optional
        Whether autograd is to see through the step.

    Notes
    -----
    The state is torch's `momentum_buffer` and nothing else unless something is "auto": checkpoints
    of SGD load into FULD and those of FULD into SGD. Complex parameters are pairs of real ones.
    Sparse gradients are taken at alpha = 2 only. An infinite gradient, or a momentum that
    overflows, makes its coordinate NaN.

    With ``alpha="auto"`` and ``scale="auto"``, or one of them, up to 1024 coordinates of each
    parameter are looked at before a step. How much wider differences of differences of successive
    gradients are than these says the tail index of the noise; the bend is put where the momentum's
    own law ends, and single components of the gradient beyond a limit enter the momentum cut off
    (not in ``.grad``). Where the noise is Gaussian the step is SGD's. What is known is in the state
    as ``calibration``, a float32 tensor on the CPU, and `calibration` shows it. On the CPU the
    default step costs little more; all others wait for the device at every step, and go through
    the tensors one by one. There are no such steps in CUDA graphs or compiled ones.

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
        scale: float | Literal["auto"] = 1.0,
        form: str = "matched",
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
            "scale": scale,
            "form": form,
            # FULD has none; SGD wants to find it in the groups of a checkpoint.
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
        defaults = with_numbers(defaults)
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
        """The paper's optimizer, with its step eta, friction gamma and inverse temperature beta.

        v ← (1 - gamma eta) v - eta g,  x ← x + eta beta^(1/α-1) ∇G_α(beta^(1/α) v). In the
        coordinates of SGD that is lr = eta², momentum = 1 - gamma eta and scale = beta^(-1/α).

        Parameters
        ----------
        params : iterable
            Parameters or groups of them.
        eta, gamma, alpha, beta : float
            The paper uses eta = 0.1, gamma = 0.1 or 0.9, alpha = 1.75 and beta = 1.
        **options
            Whatever else `FULD` takes.

        Examples
        --------
        >>> import torch
        >>> from fuld.torch import FULD
        >>> FULD.from_paper([torch.zeros(3)], eta=0.1, gamma=0.1).defaults["momentum"]
        0.99
        """
        if is_auto(alpha):
            raise ValueError(
                "the paper's form has no alpha='auto': give a number, or use FULD(...)"
            )
        for name, value in {"eta": eta, "beta": beta}.items():
            if not number(name, value) > 0:
                raise ValueError(f"{name} must be positive, got {value}")
        if not number("gamma", gamma) >= 0:
            raise ValueError(f"gamma must not be negative, got {gamma}")
        check_alpha(number("alpha", alpha))
        for name in ("lr", "momentum", "scale", "form"):
            if name in options:
                raise TypeError(f"{name} follows from eta, gamma, alpha and beta: leave it out")
        return cls(
            params,
            eta**2,
            1 - gamma * eta,
            alpha,
            scale=beta ** (-1 / alpha),
            form="paper",
            **options,
        )

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group, whose settings may differ from those of the others."""
        param_group = with_numbers(param_group)
        check_group({**self.defaults, **param_group})
        super().add_param_group(param_group)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over the state and the groups of a checkpoint, of FULD or of SGD.

        What SGD's groups do not have, alpha and the like, stays as it is.
        """
        groups = state_dict["param_groups"]
        if len(groups) == len(self.param_groups):
            own = [{k: v for k, v in g.items() if k != "params"} for g in self.param_groups]
            groups = [{**mine, **theirs} for mine, theirs in zip(own, groups, strict=True)]
            for group in groups:
                check_group(group)
        state = held(state_dict["state"])
        super().load_state_dict({**state_dict, "state": state, "param_groups": groups})
        # What was known of the groups and buffers that these take the place of.
        self.__dict__.pop("_known", None)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        release(self.state)

    def calibration(self, names: torch.nn.Module | Iterable[Any] | None = None) -> Calibrations:
        """What was found for the parameters of groups with ``alpha="auto"`` or ``scale="auto"``.

        Parameters
        ----------
        names : torch.nn.Module or iterable, optional
            What to call the parameters: the model that they belong to, its ``named_parameters()``,
            or one name for each parameter. Without it they have the names that the optimizer was
            given, or their numbers.

        Returns
        -------
        Calibrations
            A dict of a `Calibration` for each parameter that has had a gradient; printed, it is a
            table.
        """
        return report(self, names)

    @property
    def _step_supports_amp_scaling(self) -> bool:
        # A GradScaler then leaves it to the step to unscale gradients and to skip those with inf.
        return all(group["fused"] for group in self.param_groups)

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], float]) -> float: ...
    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Takes a step along the gradients.

        Parameters
        ----------
        closure : callable, optional
            Evaluates the model again, computes the gradients and returns the loss.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        plans = self._plans()
        grad_scale, found_inf = getattr(self, "grad_scale", None), getattr(self, "found_inf", None)
        for group in self.param_groups:
            params: list[Tensor] = []
            grads: list[Tensor] = []
            buffers: list[Tensor | None] = []
            self._init_group(group, params, grads, buffers)
            if not params:
                continue
            plan = plans.get(id(group))
            if calibrates(group):
                check_auto(group)
                plan = auto_step(
                    self.state, group, params, grads, buffers, plan, grad_scale, found_inf
                )
                if plan is not None:
                    plans[id(group)] = plan
                continue
            if plan is not None and may_fuse(group, plan) and plan.fits(params, grads, buffers):
                planned(plan, grads, Step.of(group), grad_scale, found_inf)
                continue
            if group["fused"]:
                check_fused(params, group["alpha"])
            if group["alpha"] == 2:
                sgd(params, grads, buffers, group, grad_scale, found_inf)
                if buffers:
                    self._keep(params, buffers)
                continue
            refuse_sparse(grads)
            # torch begins with b = g, which is what a step makes of 0. Without momentum: none.
            made = [
                torch.zeros_like(x) if b is None else b
                for x, b in zip(params, buffers, strict=False)
            ]
            if any(b is None for b in buffers):
                self._keep(params, made)
            grads = like(params, grads)
            plan = update(plain(params), plain(grads), plain(made), group, grad_scale, found_inf)
            if plan is not None:
                plans[id(group)] = plan
        return loss

    def _init_group(
        self,
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
        buffers: list[Tensor | None],
    ) -> None:
        """Appends what has a gradient, and the buffers if there is momentum."""
        for x in group["params"]:
            grad = x.grad
            if grad is not None:
                params.append(x)
                grads.append(grad)
        if group["momentum"] != 0:
            state = self.state
            # state[x] would make an empty state where there is none.
            buffers.extend([state.get(x, _NONE).get("momentum_buffer") for x in params])

    def _plans(self) -> dict[int, Plan]:
        """What is known of each group's tensors: nothing that a pickle or a compiler should see."""
        if torch.compiler.is_compiling():
            return {}
        plans: dict[int, Plan] = self.__dict__.setdefault("_known", {})
        return plans

    def _keep(self, params: list[Tensor], buffers: Sequence[Tensor | None]) -> None:
        for x, buffer in zip(params, buffers, strict=True):
            self.state[x]["momentum_buffer"] = buffer
