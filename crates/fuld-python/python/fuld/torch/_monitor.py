"""A monitor of the noise in the gradients of a network during training.

`TailMonitor` hooks into the steps of an optimizer and keeps running estimates of the tail index and
the scale of the gradient noise, one per parameter.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import torch

from fuld._arguments import count, number
from fuld.torch._gradient_tail import GradientTail
from fuld.torch._hooks import require_hooks
from fuld.torch._parameter_names import all_names, given_names
from fuld.torch._tail_estimates import TailEstimates
from fuld.torch._tail_sums import STEPS
from fuld.torch._tail_table import tail_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class TailMonitor:
    """Monitors how heavy-tailed the noise in the gradients is, parameter by parameter.

    At every step of an optimizer, any of torch's or `FULD`, it samples up to `sample` coordinates
    of each gradient. It keeps running estimates of the tail index `alpha` and the scale
    `noise_scale` of their noise, modelled as symmetric stable, with standard errors. For `FULD` it
    also reports the share of coordinates beyond the knee, whose step is shorter than SGD's.

    The estimated `noise_scale` leaves the mean gradient out. As a setting of `FULD` it is a lower
    bound, and appropriate only where noise dominates the mean gradient, as with injected noise or
    very small batches. Otherwise begin with a large `noise_scale` and lower it until `beyond_knee`
    is a few percent. A small regression network without added noise, in batches of 32, had 57 %
    beyond the knee with the estimate as its setting and hardly learned; with 2 to 8 % it learned as
    SGD did.

    Parameters
    ----------
    optimizer : torch.optim.Optimizer
        The optimizer whose steps are monitored from now on. It is not changed.
    names : torch.nn.Module or iterable, optional
        Names of the parameters: the model that they belong to, its ``named_parameters()``, or one
        name for each parameter of the optimizer. By default they have the names that the optimizer
        was given, or their indices.
    every : int
        Sample 4 steps out of every ``4 * every``: the cost falls as ``1 / every``.
    sample : int
        The largest number of coordinates sampled per parameter, evenly spaced and fixed.
    half_life : float
        The number of steps after which a gradient has half its weight.

    Notes
    -----
    Four successive gradients of a coordinate have six differences and three contrasts
    (g1 + g2 - g3 - g4 and so on). `alpha` is estimated from how much larger the contrasts are, and
    `noise_scale` then from the size of the differences. The mean gradient cancels, and so does the
    scale of a coordinate: coordinates of different scales do not look like a heavy tail. The
    standard errors are those of successive quadruples of steps, so they remain valid if the
    coordinates of a gradient depend on each other. Two standard errors to either side of alpha
    contained the truth in at least 84 % of trials with independent coordinates (the least for
    parameters of one coordinate), and in at least 80 % if one heavy-tailed factor was common to all
    coordinates. Errors are NaN before about 24 sampled steps, and always if `half_life` is only a
    few steps.

    All sums stay on the parameters' device; only the methods that return numbers wait for it. The
    cost of a step depends on the number of sampled coordinates. On one CPU core it is 0.5 ms for
    20 tensors with ten million numbers in total (SGD's own step: 9 ms). `sample` and `every` reduce
    it.

    The estimates are misleading where

    - the noise is small compared with the change of the gradient from step to step (large batches,
      the first steps, large learning rates). They then describe that change;
    - the scale of the noise changes from step to step, as with batches of several kinds or units
      that are active only now and then. That is a heavier tail in time and is counted as one, but
      need not be that of a stable law. A small network on MNIST, in batches of 128, has 1.3 to 1.9
      without added noise;
    - steps depend on each other beyond the mean: the errors are then too small;
    - the noise is not stable. alpha then describes how sums of two terms grow, and sums of more
      terms may grow differently;
    - gradients have few digits, such as bfloat16 gradients with noise far below the mean. Many
      coordinates are then equal from step to step: see `GradientTail.zeros`.

    Gradients are read when the step begins, after any clipping. A step with a closure is sampled
    after the closure's first call. Gradients that a `torch.amp.GradScaler` has left scaled are
    unscaled. Each process samples its own shard of a sharded tensor. Steps replayed by a CUDA graph
    are not sampled. Sparse gradients are skipped.

    Examples
    --------
    >>> import torch
    >>> from fuld.torch import TailMonitor
    >>> random = torch.Generator().manual_seed(0)
    >>> model = torch.nn.Linear(50, 10, bias=False)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    >>> with TailMonitor(optimizer, model) as monitor:
    ...     for _ in range(200):
    ...         noise = torch.empty(10, 50).cauchy_(generator=random)
    ...         model.weight.grad = 3 + 0.02 * noise
    ...         optimizer.step()
    >>> print(monitor)
    parameter          alpha        noise scale  spread  sample  steps
    ------------------------------------------------------------------
    weight     0.995 ± 0.007  0.01994 ± 0.00016    0.05     500    200
    >>> tail = monitor.report()["weight"]
    >>> f"{tail.alpha:.1f} {tail.noise_scale:.2f} {monitor.as_dict()['tail/weight/alpha']:.1f}"
    '1.0 0.02 1.0'
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        names: torch.nn.Module | Iterable[Any] | None = None,
        *,
        every: SupportsIndex = 1,
        sample: SupportsIndex = 1024,
        half_life: float = 200,
    ) -> None:
        require_hooks(optimizer)
        self.every = count("every", every, 1)
        self.sample = count("sample", sample, 1)
        self.half_life = number("half_life", half_life)
        if not self.half_life > 0:
            raise ValueError(
                f"half_life must be above 0 steps, got {half_life!r}; inf never forgets"
            )
        self._optimizer = optimizer
        self._given_names = given_names(optimizer, names)
        self._estimates = TailEstimates(optimizer, self.sample)
        self._estimates.follow()
        self.steps = 0
        self._attach()

    def report(self) -> dict[str, GradientTail]:
        """Return the estimate of each parameter, by name; waits for the device."""
        self._estimates.follow()
        return dict(zip(self._names(), self._estimates.tails(), strict=False))

    def total(self) -> GradientTail:
        """Return the estimate of all parameters together.

        Parameters are weighted by their sampled coordinates, so that a large one counts no more
        than one of `sample` coordinates. Its `noise_scale` is a lower bound of the setting for one
        group of all parameters.
        """
        return self._estimates.tails()[-1]

    def as_dict(self, prefix: str = "tail/") -> dict[str, float]:
        """Return all known numbers for logging, with keys such as ``"tail/fc.weight/alpha"``.

        The keys of the estimate of all parameters are ``"tail/alpha"`` and so on.
        """
        named = {f"{name}/": tail for name, tail in self.report().items()}
        found: dict[str, float] = {}
        for place, tail in {**named, "": self.total()}.items():
            for field in dataclasses.fields(tail):
                value = getattr(tail, field.name)
                if field.name in _LOGGED and not math.isnan(value):
                    found[f"{prefix}{place}{field.name}"] = value
        return found

    def history(self) -> list[tuple[int, dict[str, GradientTail]]]:
        """Return what was known at up to 64 steps of the past, the oldest first."""
        self._estimates.follow()
        names = self._names()
        past = self._estimates.past_tails()
        return [(step, dict(zip(names, tails, strict=False))) for step, tails in past]

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw `alpha`, `noise_scale` and `beyond_knee` of each parameter, now and over time.

        Parameters of one coordinate are left out. Of more than 24 parameters, those with the
        smallest alpha are drawn.

        Parameters
        ----------
        figure : matplotlib.figure.Figure, optional
            The figure to draw in; a new one by default. A figure without a layout engine gets
            matplotlib's constrained layout.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from fuld.torch._tail_plot import plot_tails

        self._estimates.follow()
        return plot_tails(
            self._names(), self._estimates.tails(), self._estimates.past_tails(), figure
        )

    def __str__(self) -> str:
        return tail_table(self.report(), self.total())

    def __repr__(self) -> str:
        of = f"{type(self._optimizer).__name__} of {len(self._names())} parameters"
        return f"<TailMonitor of {of}, {self.steps} steps>"

    def detach(self) -> None:
        """Stop sampling steps; the estimates remain."""
        self._hook.remove()

    def __enter__(self) -> TailMonitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.detach()

    def state_dict(self) -> dict[str, Any]:
        """Return the running state in numbers, strings and tensors; waits for the device.

        An incomplete quadruple of steps is not part of it.
        """
        self._estimates.follow()
        return {"names": self._names(), "steps": self.steps, **self._estimates.state()}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from the state of a monitor of parameters of the same names."""
        try:
            names, steps = list(state_dict["names"]), int(state_dict["steps"])
            missing = [name for name in self._names() if name not in names]
            if missing:
                raise ValueError(
                    f"state_dict has no parameter {missing[0]!r}, only {', '.join(names)}; "
                    "create the monitor with the names that it had"
                )
            self._estimates.follow()
            self._estimates.restore(dict(state_dict), [names.index(name) for name in self._names()])
        except (KeyError, IndexError, TypeError) as error:
            raise ValueError("state_dict is not that of a TailMonitor") from error
        self.steps = steps - steps % (STEPS * self.every)

    def __getstate__(self) -> dict[str, Any]:
        # torch does not copy or pickle the hooks of an optimizer.
        return {key: value for key, value in self.__dict__.items() if key != "_hook"} | {
            "_attached": self._hook.id in self._optimizer._optimizer_step_pre_hooks
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        attached = state.pop("_attached")
        self.__dict__.update(state)
        self._attach()
        if not attached:
            self.detach()

    def _names(self) -> list[str]:
        return all_names(self._optimizer, self._given_names)

    def _attach(self) -> None:
        # A compiled step is sampled too, by a hook that is not compiled.
        uncompiled: Callable[..., Any] = torch.compiler.disable
        self._hook = self._optimizer.register_step_pre_hook(uncompiled(self._before_step))
        # First, before a guard clips the tails that are to be measured.
        hooks = self._optimizer._optimizer_step_pre_hooks
        for other in [key for key in hooks if key != self._hook.id]:
            hooks[other] = hooks.pop(other)

    def _before_step(
        self, optimizer: torch.optim.Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if not callable(closure):
            self._sample_step()
            return None
        sampled = False

        def then_sample() -> Any:  # noqa: ANN401
            nonlocal sampled
            loss = closure()
            if not sampled:
                sampled = True
                self._sample_step()
            return loss

        if len(args) > 1:
            return (args[0], then_sample, *args[2:]), kwargs
        return args, {**kwargs, "closure": then_sample}

    def _sample_step(self) -> None:
        """Sample the gradients of a step; the fourth completes their quadruples."""
        if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
            return
        k = self.steps % (STEPS * self.every)
        self.steps += 1
        with torch.no_grad():
            if k < STEPS:
                self._estimates.take(k)
            if k == STEPS - 1:
                self._estimates.add(2.0 ** (-STEPS * self.every / self.half_life), self.steps)


_LOGGED = (
    "alpha",
    "alpha_error",
    "noise_scale",
    "noise_scale_error",
    "spread",
    "beyond_knee",
    "zeros",
    "nonfinite",
    "nonfinite_momenta",
)
