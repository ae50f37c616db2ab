"""FULD for posteriors of torch parameters, with stochastic gradients, as pure functions.

`build` returns a `Transform` with the functions ``init(params)`` and ``update(state, batch)``, the
interface of the package ``posteriors``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, SupportsIndex

import torch
from torch import Tensor

from fuld import _arguments
from fuld.torch._field import pieces
from fuld.torch._sampler_gradient import gradients_of
from fuld.torch._sampler_settings import Settings
from fuld.torch._sampler_step import advance_
from fuld.torch._sampler_tree import Tree, leaves_of, tree_of

__all__ = ["SamplerState", "Transform", "build"]


class SamplerState(NamedTuple):
    """Parameters and velocities after some updates. A tree of tensors, like the parameters."""

    params: Tree
    """The draw: the parameters."""
    velocities: Tree
    """A velocity for every parameter, before the gradient at `params` acts on it."""
    log_posterior: Tensor
    """The log posterior before the last update, on its batch; NaN before the first."""
    step: int
    """The number of updates."""


class _Init(Protocol):
    def __call__(self, params: Tree) -> SamplerState: ...


class _Update(Protocol):
    def __call__(
        self,
        state: SamplerState,
        batch: Any,  # noqa: ANN401
        inplace: bool = False,
    ) -> tuple[SamplerState, Any]: ...


class Transform(NamedTuple):
    """The two functions of a sampler."""

    init: _Init
    """``state = init(params)`` begins at copies of the parameters, with velocities 0."""
    update: _Update
    """``state, aux = update(state, batch)`` takes a step along the gradient on a batch."""


def build(
    log_posterior: Callable[[Tree, Any], Any],
    step: float | Callable[[int], float],
    *,
    alpha: float = 1.8,
    beta: float = 1.0,
    gamma: float = 2.0,
    noise_scale: Any = 0.0,  # noqa: ANN401
    seed: SupportsIndex | torch.Generator | None = None,
) -> Transform:
    r"""Return a sampler of exp(beta log_posterior) by FULD with stochastic gradients.

    Parameters
    ----------
    log_posterior
        Function of the parameters and a batch that returns the log posterior, an unbiased estimate
        of it from the batch, or a tuple of that and auxiliary information.
    step
        Step size, or a function that returns the size of step 0, 1, 2, ...; with decreasing steps,
        averages with the steps as weights converge (the paper's Corollary 1).
    alpha
        Tail index of the noise, 0.1 <= alpha <= 2. float32 overflows if alpha < 0.5.
    beta
        Inverse temperature: the number of data, if `log_posterior` is divided by it.
    gamma
        Friction.
    noise_scale
        Scale sigma of the noise in the gradient of `log_posterior`, if every coordinate carries
        independent noise SaS(sigma) of the same `alpha`; N(0, 2 sigma^2) at alpha = 2. The sampler
        then adds only the noise that is missing, and the noise of the gradient causes no bias. A
        number, or numbers in a tree like the parameters. 0 if the noise is unknown.
    seed
        Seed of the noise, or a ``torch.Generator`` on the device of the parameters; random by
        default. Draws depend on it and on the number of updates before.

    Returns
    -------
    Transform
        The functions ``init(params)``, which returns a `SamplerState`, and ``update(state, batch,
        inplace=False)``, which returns the next one and the auxiliary information. `params` are
        tensors of float32 or float64 in dicts, lists and tuples, such as
        ``dict(model.named_parameters())`` with `torch.func.functional_call`. `update` never
        changes its arguments unless `inplace`; then it changes the tensors of `state`.

    Notes
    -----
    Update k is B A½ O A½, with f = -log_posterior, the step η and the gradient on the batch:

    - B: v ← v - η ∇f(x), at first with η/2
    - A½: x ← x + η/2 β^(1/α - 1) ∇G_α(β^(1/α) v)
    - O: v ← e^(-γη) v + s ξ with ξ ~ SαS(1) and
      s^α = (1 - e^(-αγη))/(αβ) - (ησ (1 + e^(-γη))/2)^α

    The parameters are those of ``fuld.sample(..., integrator="baoab")``. Nothing waits for the
    device. All chains of a leading axis run at once if `log_posterior` returns the sum over them.

    A step at which the gradient noise alone exceeds what the friction dissipates is a ValueError
    that names the largest possible one.

    Examples
    --------
    The mean of a normal law, from minibatches of 10 of 100 observations, in 500 chains at once:

    >>> import torch
    >>> from fuld.torch import sampler
    >>> generator = torch.Generator().manual_seed(0)
    >>> data = torch.randn(100, generator=generator) + 1
    >>> def log_posterior(mean, batch):
    ...     return -((batch - mean[:, None]) ** 2).sum() / 2 * (100 / 10)
    >>> transform = sampler.build(log_posterior, step=0.005, gamma=20.0, seed=1)
    >>> state = transform.init(torch.zeros(500))
    >>> for _ in range(500):
    ...     batch = data[torch.randint(100, (500, 10), generator=generator)]
    ...     state, _ = transform.update(state, batch)
    >>> bool(abs(state.params.mean() - data.mean()) < 0.03)
    True
    """
    settings = Settings.checked(step, alpha, beta, gamma, noise_scale)
    generators: dict[torch.device, torch.Generator | None] = {}
    if seed is None or isinstance(seed, torch.Generator):
        given, start = seed, None
    else:
        given, start = None, _arguments.count("seed", seed, 0)

    def generator_on(device: torch.device) -> torch.Generator | None:
        if start is None:
            return given
        if device not in generators:
            generators[device] = torch.Generator(device).manual_seed(start)
        return generators[device]

    def init(params: Tree) -> SamplerState:
        leaves, structure = leaves_of(params, "params")
        settings.noise_scales(structure)
        for leaf in leaves:
            pieces(settings.alpha, leaf.device, leaf.dtype)
        copies = [leaf.detach().clone() for leaf in leaves]
        velocities = [torch.zeros_like(copy) for copy in copies]
        unknown = torch.full((), torch.nan, dtype=copies[0].dtype, device=copies[0].device)
        return SamplerState(tree_of(copies, structure), tree_of(velocities, structure), unknown, 0)

    @torch.no_grad()
    def update(
        state: SamplerState,
        batch: Any,  # noqa: ANN401
        inplace: bool = False,
    ) -> tuple[SamplerState, Any]:
        params, structure = leaves_of(state.params, "params")
        gradients, value, aux = gradients_of(log_posterior, params, structure, batch)
        velocities = leaves_of(state.velocities, "velocities")[0]
        if not inplace:
            params, velocities = ([t.clone() for t in ts] for ts in (params, velocities))
        noise_scales = settings.noise_scales(structure)
        advance_(
            params,
            velocities,
            gradients,
            noise_scales,
            state.step,
            settings,
            generator_on,
        )
        after = tree_of(params, structure), tree_of(velocities, structure)
        return SamplerState(*after, value, state.step + 1), aux

    return Transform(init, update)
