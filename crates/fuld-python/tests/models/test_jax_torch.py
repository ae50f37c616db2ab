"""Log densities of JAX and torch, differentiated by their frameworks.

Bounds of means are four standard errors over 64 chains: each fails by chance for 1 of 5,900 seeds.
"""

import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import fuld
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from tests.models.functions import (
    COVARIANCE,
    MEAN,
    any_rows,
    jax_gaussian,
    jax_scale,
    torch_gaussian,
)

FEW: dict[str, Any] = {"seed": 1, "chains": 6, "draws": 8, "warmup": 20}


def stop(run):
    """End a run that has only begun."""
    with pytest.raises(ValueError, match="no draws"):
        run.abort()


def assert_gaussian(x):
    means = x.mean(axis=1)
    error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    np.testing.assert_array_less(np.abs(means.mean(axis=0) - MEAN), 4 * error)
    assert np.cov(x.reshape(-1, 3).T) == pytest.approx(COVARIANCE, abs=0.1)


@pytest.mark.parametrize("function", [jax_gaussian, torch_gaussian])
def test_functions_need_no_gradient(function):
    samples = fuld.sample(logp=function, dim=3, seed=1)
    assert samples["x"].shape == (64, 1000, 3)
    assert samples.warnings == []
    assert_gaussian(samples["x"])
    potential = fuld.sample(lambda x: -function(x), dim=3, seed=1)
    assert_gaussian(potential["x"])


def test_jax_computes_in_the_precision_that_it_is_set_to():
    """The same arrays may be used by fuld and by JAX itself, in any order."""
    for _ in range(2):
        jax_draws = fuld.sample(logp=jax_gaussian, dim=3, **FEW)["x"]
        assert jax_gaussian(jnp.zeros(3)).dtype == jnp.float32
        jax.jit(jax.value_and_grad(jax_gaussian))(jnp.zeros(3))
    torch_draws = fuld.sample(logp=torch_gaussian, dim=3, **FEW)["x"]
    np.testing.assert_allclose(jax_draws[:, 0], torch_draws[:, 0], atol=0.1)
    with pytest.warns(fuld.SamplingWarning, match="JAX computes in single precision"):
        fuld.sample(logp=lambda x: 1e7 - jnp.sum(x**2), dim=2, **FEW)


def test_functions_of_any_array_are_differentiated_on_request():
    def anything(x):
        return -0.5 * ((x - 1) ** 2).sum()

    with pytest.raises(TypeError, match="gradient='jax' or gradient='torch'"):
        fuld.sample(logp=anything, dim=3, **FEW)
    by_jax = fuld.sample(logp=anything, dim=3, gradient="jax", **FEW)["x"]
    by_torch = fuld.sample(logp=anything, dim=3, gradient="torch", **FEW)["x"]
    assert by_jax.shape == by_torch.shape == (6, 8, 3)


def test_minibatches_of_jax_and_torch():
    rows = np.random.default_rng(0).normal(2.0, 1.0, size=40)
    settings: dict[str, Any] = {"variables": {"mu": ()}, "data": rows, "batch_size": 8}
    settings |= {"chains": 16, "step": 0.02, "seed": 1, "draws": 200}
    mean = {"mu": rows.mean()}
    draws = fuld.sample(logp=any_rows, gradient="jax", start=mean, **settings)["mu"]
    error = draws.mean(axis=1).std(ddof=1) / 4
    assert abs(draws.mean() - rows.mean()) < 4 * error
    fewer = {**settings, "draws": 5, "warmup": 50}
    by_jax, by_torch = (
        fuld.sample(logp=any_rows, gradient=framework, start=mean, **fewer)["mu"]
        for framework in ("jax", "torch")
    )
    np.testing.assert_allclose(by_torch, by_jax, rtol=1e-3)
    whole = {**settings, "batch_size": None, "step": None}
    samples = fuld.sample(logp=any_rows, gradient="jax", **whole)
    assert samples.settings["integrator"] == "exact"


def test_torch_functions_that_need_one_chain_at_a_time():
    def branches(x):
        return -x.sum() if x[0] > 0 else -0.5 * (x @ x)

    def straight(x):
        return torch.where(x[0] > 0, -x.sum(), -0.5 * (x @ x))

    settings: dict[str, Any] = {"dim": 2, "gradient": "torch", **FEW}
    one = fuld.sample(logp=branches, **settings)["x"]
    np.testing.assert_allclose(one, fuld.sample(logp=straight, **settings)["x"], rtol=1e-9)
    with pytest.warns(fuld.SlowFunction, match=r"torch\.where replaces `if`"):
        run = fuld.sample(logp=branches, dim=2, gradient="torch", draws=9000, blocking=False)
    stop(run)


def test_torch_functions_may_return_constants_outside_of_the_support():
    def half_line(x):
        return torch.tensor(-torch.inf, dtype=torch.float64) if x[0] < 0 else -x.sum()

    with torch.no_grad():
        draws = fuld.sample(logp=half_line, gradient="torch", start=1.0, **FEW)["x"]
    assert (draws >= 0).all()


def test_errors_of_torch_functions_are_those_for_tensors():
    def broken(mu):
        return undefined * torch.sin(mu)  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(NameError, match="undefined"):
        fuld.sample(logp=broken, variables={"mu": ()}, **FEW)
    with pytest.raises(NameError, match="undefined"):
        fuld.sample(logp=broken, dim=2, **FEW)
    with pytest.raises(ValueError, match=r"one number for one point, got a tensor of shape \(2,\)"):
        fuld.sample(logp=lambda x: -torch.abs(x), dim=2, **FEW)


def test_mixed_precision_of_torch_says_what_to_convert():
    single = torch.ones(3, 3)
    with pytest.raises(TypeError, match=r"float64, with \.double\(\)"):
        fuld.sample(logp=lambda x: -torch.sum((single @ x) ** 2), dim=3, **FEW)


def test_a_function_that_is_not_compiled_is_noticed():
    def steep(x):
        # As many operations as a small model has.
        return sum(jnp.sum(jnp.exp(-((x - i) ** 2))) for i in range(20)) + 0.5 * jnp.sum(x**2)

    slow = jax.value_and_grad(steep)
    with pytest.warns(fuld.SlowFunction, match=r"sample from jax\.jit\(jax\.vmap\(\w+\)\)"):
        run = fuld.sample(slow, dim=3, blocking=False, vectorized=False)
    stop(run)
    by_name = jax.value_and_grad(lambda p: -steep(p["x"]))
    with pytest.warns(fuld.SlowFunction, match="return the value alone"):
        run = fuld.sample(logp=by_name, variables={"x": 3}, blocking=False)
    stop(run)
    # The line of the advice runs without the warning.
    with warnings.catch_warnings():
        warnings.simplefilter("error", fuld.SlowFunction)
        fuld.sample(jax.jit(jax.vmap(slow)), dim=3)


def test_other_processes_take_functions_of_jax():
    settings: dict[str, Any] = {"variables": {"mu": (), "tau": ("positive", ())}, **FEW}
    here = fuld.sample(logp=jax_scale, **settings)
    with (
        ProcessPoolExecutor(1, mp_context=get_context("fork")) as forked,
        pytest.raises(ValueError, match=r"JAX hangs in processes that were forked: give .*spawn"),
    ):
        fuld.sample(logp=jax_scale, executor=forked, **settings)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        there = fuld.sample(logp=jax_scale, executor=executor, parts=2, **settings)
        np.testing.assert_allclose(there["tau"], here["tau"], rtol=1e-3)
        with pytest.raises(TypeError, match="at the top level of a module"):
            fuld.sample(
                logp=lambda mu, tau: -(mu**2) - tau, executor=executor, gradient="jax", **settings
            )


def test_stores_continue_with_the_same_function_only(tmp_path):
    settings: dict[str, Any] = {"dim": 3, "store": tmp_path / "s", **FEW}
    first = fuld.sample(logp=jax_gaussian, **settings)["x"]
    again = fuld.sample(logp=jax_gaussian, resume=True, **settings)["x"]
    np.testing.assert_array_equal(first, again)
    with pytest.raises(ValueError, match="code"):
        fuld.sample(logp=torch_gaussian, resume=True, name="jax_gaussian", **settings)
