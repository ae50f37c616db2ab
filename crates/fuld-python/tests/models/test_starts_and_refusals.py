"""Starts by name, axes by plate, and the errors about models that cannot be sampled."""

from typing import Any

import fuld
import fuld.numpyro
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pymc as pm
import pytest
from fuld._pymc import PyMCModel


def scales(groups, members):
    mu = numpyro.sample("mu", dist.Normal(0, 1))
    with numpyro.plate("group", groups, dim=-2), numpyro.plate("member", members, dim=-1):
        numpyro.sample("tau", dist.HalfNormal(1))
    with numpyro.plate("group", groups):
        numpyro.sample("weights", dist.Dirichlet(jnp.ones(3)))
    numpyro.deterministic("twice", 2 * mu)


def improper():
    numpyro.sample("x", dist.ImproperUniform(dist.constraints.positive, (), ()))
    numpyro.factor("density", -numpyro.sample("y", dist.Exponential(1.0)))


def test_plates_become_axes():
    model = fuld.numpyro.model(scales, 2, 4)
    expected = {"tau": ["group", "member"], "weights": ["group", "weights_dim_1"]}
    assert model.dims == expected
    posterior = fuld.sample(model, draws=20, warmup=20, chains=2, seed=1, output="xarray")
    assert posterior["tau"].dims == ("chain", "draw", "group", "member")
    assert posterior["weights"].dims == ("chain", "draw", "group", "weights_dim_1")


def test_numpyro_starts_by_name():
    model = fuld.numpyro.model(scales, 2, 4)
    start: dict[str, Any] = {
        "mu": 0.5,
        "tau": np.arange(1.0, 9).reshape(2, 4),
        "weights": [[0.2, 0.3, 0.5]] * 2,
    }
    values = model.values(model.coordinates(start)[None])
    for name, value in start.items():
        np.testing.assert_allclose(values[name][0], value, rtol=1e-5)
    with pytest.raises(ValueError, match=r"a value for each of \['mu', 'tau', 'weights'\], got"):
        fuld.sample(model, start={"mu": 0.0})
    with pytest.raises(ValueError, match=r"start\['tau'\] must have shape \(2, 4\), got \(3,\)"):
        fuld.sample(model, start={**start, "tau": np.ones(3)})
    with pytest.raises(ValueError, match="inside the support"):
        fuld.sample(model, start={**start, "tau": -np.ones((2, 4))})


def test_pymc_starts_by_name():
    with pm.Model() as model:
        pm.Normal("mu")
        pm.HalfNormal("tau", shape=3)
        pm.Dirichlet("weights", np.ones(3))
    start: dict[str, Any] = {"mu": 0.5, "tau": np.array([1.0, 2.0, 3.0])}
    adapted = PyMCModel(model)
    values = adapted.values(adapted.coordinates(start)[None])
    for name, value in {**start, "weights": np.full(3, 1 / 3)}.items():
        np.testing.assert_allclose(values[name][0], value, rtol=1e-12)
    few = fuld.sample(model, start=start, draws=4, chains=2, warmup=0, seed=1)
    assert few.settings["start"] == adapted.coordinates(start).tolist()
    with pytest.raises(ValueError, match="no variable is called 'sigma'"):
        fuld.sample(model, start={"sigma": 0.0})
    with pytest.raises(ValueError, match=r"start\['tau'\] must have shape \(3,\), got \(\)"):
        fuld.sample(model, start={"tau": 1.0})
    with pytest.raises(ValueError, match="inside the support"):
        fuld.sample(model, start={"tau": -np.ones(3)})


def test_a_constant_density_is_refused():
    with pm.Model() as model:
        pm.Flat("mu")
    with pytest.raises(TypeError, match=r"PyMC model is constant, as with pm\.Flat alone"):
        fuld.sample(model)


def test_improper_priors_need_no_draws():
    """ImproperUniform cannot be sampled from, but its density times a factor can."""

    def model():
        x = numpyro.sample("x", dist.ImproperUniform(dist.constraints.positive, (), ()))
        numpyro.factor("density", -x)

    samples = fuld.sample(fuld.numpyro.model(model), seed=1)
    assert abs(samples["x"].mean() - 1) < 0.05  # the law is exponential; 5 standard errors


def test_a_numpyro_model_without_its_wrapper_is_named():
    for function in (scales, improper):
        with pytest.raises(
            TypeError, match=rf"fuld\.numpyro\.model\({function.__name__}, \.\.\.\)"
        ):
            fuld.sample(function)
        with pytest.raises(TypeError, match="is a NumPyro model"):
            fuld.sample(logp=function, dim=2)
