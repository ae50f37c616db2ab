"""Watching the noise in the gradients of a network while it is trained."""

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
from fuld.torch._tail_sums import STEPS
from fuld.torch._tail_table import tail_table
from fuld.torch._watch import Watch

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class TailMonitor:
    """Watch how heavy-tailed the noise in the gradients is, parameter by parameter.

    At every step of an optimizer, any of torch's or `FULD`, it looks at up to `sample` coordinates
    of each gradient and keeps running estimates of the tail index alpha and the scale sigma of
    their noise, taken as symmetric stable, with standard errors. Of `FULD` it also keeps the share
    of coordinates in the bent region of the field, where a step is shorter than SGD's.

    sigma is the scale of the noise alone. As the `scale` of `FULD` it is a lower bound, and right
    only where noise dominates the mean gradient, as injected noise does and that of very small
    batches. Elsewhere begin with a large scale and lower it until `bent` is a few percent: a small
    regression network without noise, in batches of 32, had 57 % bent at ``scale=sigma`` and hardly
    learned (a loss of 0.84 after 200 steps, SGD's was 0.04), but as SGD did where 2 to 8 % were.

    Parameters
    ----------
    optimizer : torch.optim.Optimizer
        The optimizer; its steps are looked at from now on. Nothing of it is changed.
    names : torch.nn.Module or iterable, optional
        What to call the parameters: the model that they belong to, its ``named_parameters()``, or
        one name for each parameter of the optimizer. Without it they have the names that the
        optimizer was given, or their numbers.
    every : int
        Of so many times four successive steps, look at four: the cost falls as ``1 / every``.
    sample : int
        Coordinates of a parameter to look at, at most; the same at every step, spread evenly.
    half_life : float
        After so many steps what was seen has half its weight.

    Notes
    -----
    Four successive gradients of a coordinate have six differences and three contrasts
    (g1 + g2 - g3 - g4 and so on). How much larger the contrasts are says alpha, and how large the
    differences are then says sigma. A mean gradient drops out, and so does the scale of a
    coordinate: that coordinates differ is not taken for a heavy tail. The standard errors come
    from how much successive fours of steps differ, so they hold also if the coordinates of a
    gradient depend on each other. Two of them to either side of alpha held the truth in 84 % of
    trials or more where coordinates were independent (the least for parameters of one coordinate),
    and in 80 % or more where one heavy-tailed factor was common to all. They are NaN before some
    24 looks; with a half-life of a few steps, which leaves too little to compare, for ever.

    All sums stay on the parameters' device, which only the methods that return numbers wait for.
    On one core of a CPU a step takes 0.5 ms for 20 tensors, of ten million numbers together (SGD's
    own step: 9 ms), and 2.3 ms for a thousand tensors of ten numbers (3.4 ms). What counts is how
    many coordinates are looked at: all of a thousand tensors of a thousand numbers take 49 ms, but
    4 ms with ``sample=64``; ``every=8`` takes an eighth.

    It is wrong, or says something else than it seems to, where

    - the noise is small against the change of the gradient from step to step (large batches, the
      first steps, large learning rates). What is described then is that change;
    - the scale of the noise changes from step to step, as with batches of several kinds or units
      that are active now and then. That is a heavier tail in time, and counted as one, but need
      not be a stable law's. A small network on MNIST, in batches of 128, has 1.3 to 1.9
      with no noise added;
    - steps depend on each other beyond the mean: the errors are then too small;
    - the noise is not stable. alpha is then how sums of two grow, sums of more may grow otherwise;
    - gradients have few digits, such as bfloat16's of a noise far below the mean gradient. Many
      coordinates then agree from step to step: see `GradientTail.zeros`.

    A gradient is what the parameter has when the step begins, so whatever was clipped counts as
    clipped. A step with a closure is looked at after the closure's first call. Gradients that a
    `torch.amp.GradScaler` has left scaled are unscaled. Of sharded tensors each process sees its
    own shard. Steps replayed by a CUDA graph are not seen. Sparse gradients are left out.

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
    parameter          alpha              sigma  spread  sample  steps
    ------------------------------------------------------------------
    weight     0.995 ± 0.007  0.01994 ± 0.00016    0.05     500    200
    >>> tail = monitor.report()["weight"]
    >>> f"{tail.alpha:.1f} {tail.sigma:.2f} {monitor.as_dict()['tail/weight/alpha']:.1f}"
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
        self._watch = Watch(optimizer, self.sample)
        self._watch.follow()
        self.steps = 0
        self._attach()

    def report(self) -> dict[str, GradientTail]:
        """Return what is known of each parameter, by its name; this waits for the device."""
        self._watch.follow()
        return dict(zip(self._names(), self._watch.tails(), strict=False))

    def total(self) -> GradientTail:
        """Return what is known of all parameters together.

        Each counts by the coordinates that are looked at, so that a large one counts no more than
        one of `sample` coordinates. Its sigma is the least `scale` for one group of all, as that
        of a parameter is for a group of its own; its `bent` says whether the present one does.
        """
        return self._watch.tails()[-1]

    def as_dict(self, prefix: str = "tail/") -> dict[str, float]:
        """Return all numbers that are known, to be logged: ``"tail/fc.weight/alpha"`` and so on.

        Those of all parameters together are called ``"tail/alpha"`` and so on.
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
        self._watch.follow()
        names = self._names()
        past = self._watch.past_tails()
        return [(step, dict(zip(names, tails, strict=False))) for step, tails in past]

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw alpha and sigma of each parameter with their errors, the bent share, and the past.

        Parameters of one coordinate are left out, and of more than 24 those with the largest alpha.

        Parameters
        ----------
        figure : matplotlib.figure.Figure, optional
            Where to draw; a new one unless given. Without a layout of its own it gets matplotlib's
            constrained one.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from fuld.torch._tail_plot import plot_tails

        self._watch.follow()
        return plot_tails(self._names(), self._watch.tails(), self._watch.past_tails(), figure)

    def __str__(self) -> str:
        return tail_table(self.report(), self.total())

    def __repr__(self) -> str:
        of = f"{type(self._optimizer).__name__} of {len(self._names())} parameters"
        return f"<TailMonitor of {of}, {self.steps} steps>"

    def detach(self) -> None:
        """Look at no more steps; what is known remains."""
        self._hook.remove()

    def __enter__(self) -> TailMonitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.detach()

    def state_dict(self) -> dict[str, Any]:
        """Return all that is known, in numbers, strings and tensors; this waits for the device.

        A group of four steps that is not complete is not part of it.
        """
        self._watch.follow()
        return {"names": self._names(), "steps": self.steps, **self._watch.known()}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from what another monitor of parameters of the same names knew."""
        try:
            names, steps = list(state_dict["names"]), int(state_dict["steps"])
            missing = [name for name in self._names() if name not in names]
            if missing:
                raise ValueError(
                    f"state_dict knows no parameter {missing[0]!r}, only {', '.join(names)}; "
                    "give the monitor the names that it had"
                )
            self._watch.follow()
            self._watch.know(dict(state_dict), [names.index(name) for name in self._names()])
        except (KeyError, IndexError, TypeError) as error:
            raise ValueError("state_dict is not that of a TailMonitor") from error
        self.steps = steps - steps % (STEPS * self.every)

    def __getstate__(self) -> dict[str, Any]:
        # torch leaves hooks out of what it copies and pickles of an optimizer.
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
        # A compiled step looks as well, but the looking is not compiled.
        uncompiled: Callable[..., Any] = torch.compiler.disable
        self._hook = self._optimizer.register_step_pre_hook(uncompiled(self._before_step))

    def _before_step(
        self, optimizer: torch.optim.Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if not callable(closure):
            self._look()
            return None
        looked = False

        def then_look() -> Any:  # noqa: ANN401
            nonlocal looked
            loss = closure()
            if not looked:
                looked = True
                self._look()
            return loss

        if len(args) > 1:
            return (args[0], then_look, *args[2:]), kwargs
        return args, {**kwargs, "closure": then_look}

    def _look(self) -> None:
        """Take in the gradients of a step; the fourth completes their quadruples."""
        if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
            return
        k = self.steps % (STEPS * self.every)
        self.steps += 1
        with torch.no_grad():
            if k < STEPS:
                self._watch.take(k)
            if k == STEPS - 1:
                self._watch.add(2.0 ** (-STEPS * self.every / self.half_life), self.steps)


_LOGGED = (
    "alpha",
    "alpha_error",
    "sigma",
    "sigma_error",
    "spread",
    "bent",
    "zeros",
    "nonfinite",
    "nonfinite_momenta",
)
