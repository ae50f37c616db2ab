"""`fuld.torch.sampler`: one step beside the formulas, long runs beside exact answers.

Errors are standard errors over independent chains; five of them are exceeded with probability 6e-7.
"""

import math
from typing import Any

import fuld
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fuld.torch import sampler  # noqa: E402
from fuld.torch._stable_draws import stable_like  # noqa: E402


@pytest.fixture(autouse=True)
def _one_thread():
    """Use one thread: for small tensors, several wait for each other on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def well(x, batch):
    """The log density of the double well, summed over chains."""
    return -(x**4 / 4 - x**2 / 2).sum()


def standard_error(chains):
    return (chains.std() / math.sqrt(len(chains))).item()


def reference(x, v, g, noise, eta, before, alpha, beta, gamma, sigma):
    """One step in NumPy, with the field from the density."""

    def move(x, v):
        inner = beta ** (1 / alpha)
        return x + eta / 2 * inner / beta * fuld.grad_g(inner * v, alpha)

    decay = math.exp(-gamma * eta)
    whole = (1 - math.exp(-alpha * gamma * eta)) / (alpha * beta)
    scale = (whole - (eta * sigma * (1 + decay) / 2) ** alpha) ** (1 / alpha)
    v = v - (before + eta) / 2 * g
    x = move(x, v)
    v = decay * v + scale * noise
    return move(x, v), v


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (1.5, 3.0), (1.8, 0.5), (2.0, 2.0)])
@pytest.mark.parametrize(("dtype", "error"), [(torch.float64, 1e-11), (torch.float32, 3e-6)])
@pytest.mark.parametrize("sigma", [0.0, 0.7])
def test_steps_are_those_of_the_formulas(alpha, beta, dtype, error, sigma):
    gamma, sizes = 1.3, (0.1, 0.08, 0.07)
    start = torch.linspace(-2, 2, 9, dtype=dtype)
    transform = sampler.build(
        well, sizes.__getitem__, alpha=alpha, beta=beta, gamma=gamma, noise_scale=sigma, seed=5
    )
    generator = torch.Generator().manual_seed(5)
    state = transform.init(start)
    x, v = start.double().numpy(), np.zeros(9)
    for k, eta in enumerate(sizes):
        noise = stable_like(start, alpha, generator).double().numpy()
        before = sizes[k - 1] if k else 0.0
        x, v = reference(x, v, x**3 - x, noise, eta, before, alpha, beta, gamma, sigma)
        state, _ = transform.update(state, None)
    np.testing.assert_allclose(state.params.numpy(), x, rtol=error, atol=error)
    np.testing.assert_allclose(state.velocities.numpy(), v, rtol=error, atol=error)
    assert state.step == 3


def test_positions_are_those_of_baoab_in_rust():
    """Without friction there is no noise, and both are the same leapfrog steps."""
    starts = np.linspace(-1.5, 1.5, 4)[:, None]
    samples = fuld.sample(
        "x^4/4 - x^2/2", integrator="baoab", alpha=1.5, beta=2.0, gamma=0.0, step=0.1,
        chains=4, draws=20, warmup=0, thin=1, start=starts, seed=1, progress=False,
    )  # fmt: skip
    transform = sampler.build(well, 0.1, alpha=1.5, beta=2.0, gamma=0.0)
    state = transform.init(torch.tensor(starts[:, 0]))
    for draw in samples["x"].T:
        state, _ = transform.update(state, None)
        np.testing.assert_allclose(state.params.numpy(), draw, rtol=1e-11)


@pytest.mark.parametrize(("alpha", "dtype"), [(1.2, torch.float64), (1.8, torch.float32)])
@pytest.mark.parametrize("sigma", [0.0, 2.0])
def test_long_runs_have_the_exact_moments(alpha, dtype, sigma):
    """A Gaussian density and the double well, each with gradients that carry known noise."""
    noise = torch.Generator().manual_seed(3)

    def log_posterior(params, _):
        kicks = {name: sigma * stable_like(x, alpha, noise) for name, x in params.items()}
        value = well(params["well"], None) - (params["gaussian"] ** 2).sum() / 2
        return value + sum((kicks[name] * x).sum() for name, x in params.items())

    start = {name: torch.zeros(4000, dtype=dtype) for name in ("gaussian", "well")}
    transform = sampler.build(log_posterior, 0.05, alpha=alpha, noise_scale=sigma, seed=1)
    state = transform.init(start)
    sums = {name: torch.zeros(4000, dtype=torch.float64) for name in start}
    for k in range(2000):
        state, _ = transform.update(state, None, inplace=True)
        if k >= 400:
            for name, x in state.params.items():
                sums[name] += x.double() ** 2 / 1600
    for name, exact in (("gaussian", 1.0), ("well", 1.04176)):
        error = 5 * standard_error(sums[name]) + 0.002  # the bias of the step
        assert abs(sums[name].mean().item() - exact) < error, (name, sums[name].mean())


def test_unknown_noise_has_a_bias():
    """The same without `noise_scale`: the test above would see it."""
    noise = torch.Generator().manual_seed(3)

    def log_posterior(x, _):
        return well(x, None) + (2.0 * stable_like(x, 1.8, noise) * x).sum()

    transform = sampler.build(log_posterior, 0.05, alpha=1.8, seed=1)
    state = transform.init(torch.zeros(4000))
    total = torch.zeros(4000)
    for k in range(2000):
        state, _ = transform.update(state, None, inplace=True)
        if k >= 400:
            total += state.params**2 / 1600
    assert total.mean().item() - 1.04176 > 10 * standard_error(total)


def test_linear_regression_with_minibatches():
    """The posterior of a linear model, by `functional_call`, beside its exact mean and variance.

    By the central limit theorem the noise of minibatches is nearly Gaussian, so alpha = 2 with its
    measured variance, 2 noise_scale^2, is right; without it the posterior is too wide.
    """
    generator = torch.Generator().manual_seed(0)
    real = {"generator": generator, "dtype": torch.float64}
    count, dim, chains, size = 400, 3, 256, 20
    inputs = torch.randn(count, dim, **real)
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    outputs = inputs @ weights + torch.randn(count, **real)
    precision = inputs.T @ inputs + torch.eye(dim)
    mean, covariance = torch.linalg.solve(precision, inputs.T @ outputs), torch.inverse(precision)
    model = torch.nn.Linear(dim, 1, bias=False).double()

    def of_one_chain(params, batch):
        x, y = batch
        residual = torch.func.functional_call(model, params, (x,))[:, 0] - y
        prior = (params["weight"] ** 2).sum() / 2
        return -(residual**2).mean() / 2 - prior / count

    def log_posterior(params, batch):
        each = torch.func.vmap(of_one_chain)(params, batch)
        return each.sum(), each

    def spread(noise_scale):
        # The log posterior is divided by the number of data, so beta is that number.
        settings: dict[str, Any] = {"alpha": 2.0, "beta": float(count), "gamma": 2.0, "seed": 2}
        transform = sampler.build(log_posterior, 0.1, noise_scale=noise_scale, **settings)
        start = mean.expand(chains, 1, dim).clone()
        state = transform.init({"weight": start})
        kept = []
        for k in range(1000):
            rows = torch.randint(count, (chains, size), generator=generator)
            state, each = transform.update(state, (inputs[rows], outputs[rows]), inplace=True)
            if k >= 200:
                kept.append(state.params["weight"][:, 0].clone())
        assert each.shape == (chains,)
        return torch.stack(kept)

    residuals = outputs - inputs @ mean
    variance = (inputs * residuals[:, None]).var(0).mean().item() / size
    exact = covariance.diagonal().sqrt()
    known, unknown = spread(math.sqrt(variance / 2)), spread(0.0)
    # 256 chains of about 20 independent draws: standard errors of 1 %, of the mean 1.4 %. The noise
    # of the coordinates is not quite the same and not quite independent, so their average counts.
    assert ((known.mean((0, 1)) - mean).abs() < 0.07 * exact).all()
    assert abs((known.flatten(0, 1).std(0) / exact).mean().item() - 1) < 0.05
    assert (unknown.flatten(0, 1).std(0) / exact).mean().item() - 1 > 0.15


def test_update_leaves_its_arguments_alone():
    model = torch.nn.Linear(2, 1)
    params = dict(model.named_parameters())
    before = {name: x.detach().clone() for name, x in params.items()}

    def log_posterior(params, batch):
        return -torch.func.functional_call(model, params, (batch,)).square().sum(), "aux"

    transform = sampler.build(log_posterior, 0.1, seed=0)
    first = transform.init(params)
    copies = {name: x.clone() for name, x in first.params.items()}
    second, aux = transform.update(first, torch.ones(3, 2))
    assert aux == "aux"
    assert second.log_posterior == -model(torch.ones(3, 2)).square().sum()
    for name in params:
        assert torch.equal(first.params[name], copies[name])
        assert torch.equal(params[name], before[name])
        assert not torch.equal(second.params[name], copies[name])
        assert not second.params[name].requires_grad
    third, _ = transform.update(second, torch.ones(3, 2), inplace=True)
    assert all(third.params[name] is second.params[name] for name in params)


def test_the_same_seed_gives_the_same_draws():
    def well_of_tree(params, batch):
        return well(params[0], batch) + well(params[1][0], batch)

    results = []
    for seed in (1, 1, 2, torch.Generator().manual_seed(1)):
        transform = sampler.build(well_of_tree, 0.1, seed=seed)
        state = transform.init((torch.zeros(3), [torch.ones(2)]))
        for _ in range(3):
            state, _ = transform.update(state, None)
        results.append(state.params)
    first, same, other, generator = results
    assert torch.equal(first[0], same[0])
    assert torch.equal(first[1][0], generator[1][0])
    assert not torch.equal(first[0], other[0])


def test_noise_scales_of_each_tensor():
    params = {"a": torch.zeros(2), "b": torch.zeros(2)}

    def flat(params, batch):
        return 0.0 * params["a"].sum() + 0.0 * params["b"].sum()

    def velocities(noise_scale):
        transform = sampler.build(flat, 0.1, noise_scale=noise_scale, seed=1)
        return transform.update(transform.init(params), None)[0].velocities

    both, one = velocities(1.0), velocities({"a": 1.0, "b": 0.0})
    none = velocities(0.0)
    assert torch.equal(both["a"], one["a"])
    assert torch.equal(none["b"], one["b"])
    assert (both["a"].abs() < none["a"].abs()).all()


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"alpha": 2.5}, ValueError, "alpha <= 2, got 2.5"),
        ({"beta": 0.0}, ValueError, "beta must be positive and finite, got 0"),
        ({"gamma": -1.0}, ValueError, "gamma must be finite and not negative, got -1"),
        ({"step": 0.0}, ValueError, "the step size must be positive and finite, got 0"),
        ({"step": "small"}, TypeError, "step must be a number, got 'small'"),
        ({"noise_scale": -1.0}, ValueError, "noise_scale must be finite and not negative, got -1"),
        ({"noise_scale": 90.0}, ValueError, "got 0.1: the gradient noise alone exceeds"),
        ({"noise_scale": {"b": 1.0}}, ValueError, "noise_scale must be a number, or numbers in"),
        ({"noise_scale": "auto"}, TypeError, "noise_scale must be a number, got 'auto'"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
        ({"alpha": 0.05}, ValueError, "0.1 <= alpha <= 2"),
    ],
)
def test_bad_settings_are_refused(settings, error, text):
    with pytest.raises(error, match=text.replace("(", r"\(")):
        sampler.build(well, **({"step": 0.1} | settings)).init({"a": torch.zeros(1)})


@pytest.mark.parametrize(
    ("params", "error", "text"),
    [
        ({}, ValueError, "params must contain at least one tensor"),
        ([1.0], TypeError, "params must be tensors in dicts, lists or tuples, got 1.0"),
        (torch.zeros(2, dtype=torch.float16), TypeError, "float32 or float64, got torch.float16"),
    ],
)
def test_bad_parameters_are_refused(params, error, text):
    with pytest.raises(error, match=text):
        sampler.build(well, 0.1).init(params)
