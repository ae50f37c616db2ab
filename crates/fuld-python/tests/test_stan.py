"""Stan models: the interface of BridgeStan, with a stand-in that has its methods.

tests/models/test_page.py compiles and samples a Stan program where BridgeStan is installed.
"""

import json
from concurrent.futures import ProcessPoolExecutor

import fuld
import numpy as np
import pytest


class StanModel:
    """A Gaussian mu and a positive tau ~ Exponential(1), with a transformed matrix."""

    __module__ = "bridgestan.model"

    def name(self):
        return "gaussian_model"

    def param_unc_num(self):
        return 2

    def param_names(self, *, include_tp=False, include_gq=False):
        matrix = [f"m.{i}.{j}" for j in (1, 2, 3) for i in (1, 2)]
        return ["mu", "tau", *(matrix if include_tp else [])]

    def param_constrain(self, x, *, include_tp=False, include_gq=False):
        matrix = [x[0] + 10 * i + j for j in (1, 2, 3) for i in (1, 2)]
        return np.array([x[0], np.exp(x[1]), *(matrix if include_tp else [])])

    def param_unconstrain_json(self, text):
        values = json.loads(text)
        if values.keys() != {"mu", "tau"}:
            raise RuntimeError("variable does not exist")
        return np.array([values["mu"], np.log(values["tau"])])

    def log_density_gradient(self, x, *, propto=True, jacobian=True):
        if x[1] > 50:
            raise RuntimeError("tau is infinite")
        return -0.5 * x[0] ** 2 - np.exp(x[1]) + x[1], np.array([-x[0], 1 - np.exp(x[1])])


def test_parameters_have_the_names_and_shapes_of_the_program():
    samples = fuld.sample(StanModel(), chains=16, seed=1)
    assert samples.settings["potential"] == "gaussian_model"
    assert samples["mu"].std() == pytest.approx(1.0, abs=0.05)
    assert samples["tau"].mean() == pytest.approx(1.0, abs=0.1)
    matrix = 10 * np.arange(1, 3)[:, None] + np.arange(1, 4)
    np.testing.assert_allclose(samples["m"], samples["mu"][..., None, None] + matrix)


def test_starts_have_the_names_of_parameters():
    start = {"mu": 0.5, "tau": np.array(2.0)}
    samples = fuld.sample(StanModel(), start=start, chains=2, draws=4, seed=1)
    assert samples.settings["start"] == [0.5, np.log(2.0)]
    with pytest.raises(
        ValueError, match="start does not fit the Stan model: variable does not exist"
    ):
        fuld.sample(StanModel(), start={"mu": 0.5})


def test_what_a_stan_model_cannot_do(tmp_path):
    with pytest.raises(TypeError, match="sample without store="):
        fuld.sample(StanModel(), store=tmp_path / "s")
    with ProcessPoolExecutor(1) as executor, pytest.raises(TypeError, match="without executor="):
        fuld.sample(StanModel(), executor=executor)
