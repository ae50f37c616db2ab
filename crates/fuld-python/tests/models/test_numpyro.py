"""NumPyro models, compared with NumPyro's own sampler."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import fuld
import fuld.numpyro
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

from tests.models.eight_schools import EFFECTS, ERRORS, assert_same, eight_schools, nuts_draws

FEW: dict[str, Any] = {"seed": 1, "chains": 4, "draws": 8, "warmup": 20}


def schools():
    return fuld.numpyro.model(eight_schools, ERRORS, y=EFFECTS)


def test_draws_agree_with_those_of_nuts():
    names: dict[str, Any] = {"dims": {"theta": ["school"]}, "coords": {"school": list("ABCDEFGH")}}
    samples = fuld.sample(schools(), seed=1, **names)
    assert_same(samples, nuts_draws())
    assert samples.settings["potential"] == "eight_schools"
    assert samples.to("arviz")["posterior"]["theta"].dims == ("chain", "draw", "school")


def test_labels_belong_to_one_call():
    model = schools()
    fuld.sample(model, dims={"theta": ["school"]}, coords={"school": list("ABCDEFGH")}, **FEW)
    assert "theta[0]" in fuld.sample(model, **FEW).coordinates


def test_simplexes():
    def weights(alpha):
        numpyro.sample("w", dist.Dirichlet(alpha))

    samples = fuld.sample(fuld.numpyro.model(weights, np.array([1.0, 2.0, 3.0])), chains=16, seed=1)
    assert samples["w"].mean(axis=(0, 1)) == pytest.approx(np.array([1, 2, 3]) / 6, abs=0.02)


def test_models_that_cannot_be_sampled():
    def coin():
        numpyro.sample("heads", dist.Bernoulli(0.5))
        numpyro.sample("x", dist.Normal())

    with pytest.raises(TypeError, match=r"the NumPyro model has discrete variables \(heads\)"):
        fuld.sample(fuld.numpyro.model(coin))
    with pytest.raises(TypeError, match="must be a function, got int"):
        fuld.numpyro.model(3)  # type: ignore[arg-type]


def test_other_processes_take_models():
    here = fuld.sample(schools(), **FEW)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        there = fuld.sample(schools(), executor=executor, parts=2, **FEW)
    np.testing.assert_allclose(there["theta"], here["theta"], rtol=1e-3)


def test_stores_continue_with_the_same_data_only(tmp_path):
    first = fuld.sample(schools(), store=tmp_path / "s", **FEW)["mu"]
    again = fuld.sample(schools(), store=tmp_path / "s", resume=True, **FEW)["mu"]
    np.testing.assert_array_equal(first, again)
    other = fuld.numpyro.model(eight_schools, ERRORS, y=2 * EFFECTS)
    with pytest.raises(ValueError, match="code"):
        fuld.sample(other, store=tmp_path / "s", resume=True, **FEW)
