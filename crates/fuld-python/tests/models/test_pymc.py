"""PyMC models, compared with PyMC's own sampler."""

import warnings
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from typing import Any

import fuld
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

from tests.models.eight_schools import EFFECTS, ERRORS, assert_same

FEW: dict[str, Any] = {"seed": 1, "chains": 4, "draws": 8, "warmup": 20}


@pytest.fixture(scope="module")
def schools():
    with pm.Model(coords={"school": list("ABCDEFGH")}) as model:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        z = pm.Normal("z", 0, 1, dims="school")
        theta = pm.Deterministic("theta", mu + tau * z, dims="school")
        pm.Normal("effect", theta, ERRORS, observed=EFFECTS, dims="school")
    return model


def test_draws_agree_with_those_of_pymc(schools):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pm.sample(
            draws=2000,
            chains=2,
            cores=1,
            random_seed=1,
            target_accept=0.9,
            model=schools,
            progressbar=False,
        ).posterior
    ours = fuld.sample(schools, seed=1)
    assert_same(ours, {name: theirs[name].to_numpy() for name in ("mu", "tau", "theta")})
    posterior = ours.to("arviz")["posterior"]
    assert posterior["theta"].dims == ("chain", "draw", "school")
    assert list(posterior.coords["school"].to_numpy()) == list("ABCDEFGH")
    assert set(posterior.data_vars) == {"mu", "tau", "z", "theta"}


def test_a_model_is_found_in_its_block(schools):
    outside = fuld.sample(schools, **FEW)["mu"]
    with schools:
        inside = fuld.sample(**FEW)["mu"]
    np.testing.assert_array_equal(outside, inside)
    with pytest.raises(TypeError, match="inside `with model:`"):
        fuld.sample(**FEW)


def test_vectors_simplexes_and_constants():
    """A Dirichlet has a coordinate less than components; a constant has no effective size."""
    with pm.Model() as model:
        pm.Dirichlet("w", np.array([1.0, 2.0, 3.0]))
        pm.Uniform("u", -1, 3, shape=(2, 2))
        pm.Deterministic("one", pt.ones(3))
    samples = fuld.sample(model, chains=16, seed=1)
    assert samples.unconstrained.shape == (16, 1000, 2 + 4)
    assert samples["w"].mean(axis=(0, 1)) == pytest.approx(np.array([1, 2, 3]) / 6, abs=0.02)
    assert samples["u"].shape == (16, 1000, 2, 2)
    assert samples["u"].mean() == pytest.approx(1.0, abs=0.05)
    assert (samples["one"] == 1).all()
    assert samples.warnings == []
    assert "one[0]" not in samples.summary()


def test_models_that_cannot_be_sampled():
    with pm.Model() as coin:
        pm.Bernoulli("heads", 0.5)
        pm.Normal("x")
    with pytest.raises(TypeError, match=r"the PyMC model has discrete variables \(heads\)"):
        fuld.sample(coin)
    with pm.Model() as random, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = pm.Minibatch(np.arange(100.0), batch_size=10)
        pm.Normal("y", pm.Normal("m"), observed=rows, total_size=100)
    with pytest.raises(TypeError, match="the log density of the PyMC model is random"):
        fuld.sample(random)
    with pm.Model() as empty:
        pm.Normal("x", observed=1.0)
    with pytest.raises(TypeError, match="no variables to sample"):
        fuld.sample(empty)


def test_other_processes_take_models(schools):
    here = fuld.sample(schools, **FEW)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        there = fuld.sample(schools, executor=executor, parts=2, **FEW)
    np.testing.assert_allclose(there["theta"], here["theta"], rtol=1e-9)


def test_stores_continue_with_the_same_model_only(tmp_path):
    def model_of(sd):
        with pm.Model() as model:
            pm.Normal("x", 0, sd)
        return model

    first = fuld.sample(model_of(1.0), store=tmp_path / "s", **FEW)["x"]
    again = fuld.sample(model_of(1.0), store=tmp_path / "s", resume=True, **FEW)["x"]
    np.testing.assert_array_equal(first, again)
    with pytest.raises(ValueError, match="code"):
        fuld.sample(model_of(2.0), store=tmp_path / "s", resume=True, **FEW)


def identity_of(build):
    from fuld._pymc import PyMCModel

    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Potential("p", build(x))
    return PyMCModel(model).identity()


def test_identities_see_which_constant_is_used_where_and_inner_graphs():
    # Its types do not export what its documentation recommends.
    pytensor: Any = import_module("pytensor")
    a, b = pytensor.shared(1.0), pytensor.shared(2.0)
    assert identity_of(lambda x: a * x + b * x**2 + a) != identity_of(
        lambda x: a * x + b * x**2 + b
    )

    def walk(step):
        def build(x):
            steps = pytensor.scan(step, outputs_info=[x], n_steps=3, return_updates=False)
            return steps[-1]

        return identity_of(build)

    assert walk(pt.cos) != walk(pt.sin)
    assert walk(pt.cos) == walk(pt.cos)


def test_deterministic_variables_that_are_not_finite_do_not_end_a_run():
    with pm.Model() as model:
        x = pm.Normal("x", 0, 3)
        pm.Deterministic("log_x", pt.log(x))
    with pytest.warns(fuld.SamplingWarning, match="log_x: not finite in some draws"):
        samples = fuld.sample(model, seed=1)
    assert samples.coordinates == ["x"]
    assert np.isnan(samples["log_x"]).any()
