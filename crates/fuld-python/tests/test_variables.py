"""Functions of named variables: how they are called, and the draws they give.

Bounds of means are four standard errors over 16 independent chains. By Student's law with 15
degrees of freedom each fails by chance for one of 860 seeds; seeds are fixed.
"""

import pickle
from typing import Any

import fuld
import numpy as np
import pytest

FEW: dict[str, Any] = {"seed": 1, "chains": 6, "draws": 8, "warmup": 20}
SCALE = {"mu": (), "tau": ("positive", ())}


def funnel_by_name(mu, tau):
    """A Gaussian mean with a unit exponential scale, and its gradient."""
    value = -0.5 * (mu / tau) ** 2 - np.log(tau) - tau
    return value, {"mu": -mu / tau**2, "tau": mu**2 / tau**3 - 1 / tau - 1}


def funnel_by_dict(values):
    return funnel_by_name(**values)


def assert_mean(draws, exact):
    """Compare with the mean over chains, which are independent."""
    means = draws.mean(axis=1)
    error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    np.testing.assert_array_less(np.abs(means.mean(axis=0) - exact), 4 * error)


def test_variables_come_by_name_or_as_one_dict():
    by_name = fuld.sample(logp=funnel_by_name, variables=SCALE, **FEW)
    by_dict = fuld.sample(logp=funnel_by_dict, variables=SCALE, **FEW)
    assert list(by_name) == ["mu", "tau"]
    np.testing.assert_array_equal(by_name["tau"], by_dict["tau"])
    minus = fuld.sample(
        lambda mu, tau: (
            -funnel_by_name(mu, tau)[0],
            {k: -g for k, g in funnel_by_name(mu, tau)[1].items()},
        ),
        variables=SCALE,
        **FEW,
    )
    np.testing.assert_array_equal(by_name["tau"], minus["tau"])


def test_all_chains_at_once():
    def many(mu, tau):
        assert mu.shape == tau.shape == (6,)
        return funnel_by_name(mu, tau)

    together = fuld.sample(logp=many, variables=SCALE, vectorized=True, **FEW)
    one = fuld.sample(logp=funnel_by_name, variables=SCALE, **FEW)
    np.testing.assert_allclose(together["tau"], one["tau"], rtol=1e-12)


def test_the_density_is_that_of_the_variables():
    """Exponential, Beta(2, 3) and Dirichlet(1, 2, 3), each with a different transform.

    Without the Jacobians the means would be 0.5 or not exist, 1/3, and (0, 1/3, 2/3).
    """

    def logp(tau, p, w):
        powers = np.array([0.0, 1.0, 2.0])
        value = -tau.sum() + np.log(p) + 2 * np.log1p(-p) + (powers * np.log(w)).sum()
        return value, {"tau": -np.ones(2), "p": 1 / p - 2 / (1 - p), "w": powers / w}

    samples = fuld.sample(
        logp=logp,
        variables={"tau": ("positive", 2), "p": "unit_interval", "w": ("simplex", 3)},
        chains=16,
        seed=2,
    )
    assert samples["tau"].shape == (16, 1000, 2)
    assert_mean(samples["tau"], 1.0)
    assert_mean(samples["p"], 2 / 5)
    assert_mean(samples["w"], np.array([1, 2, 3]) / 6)
    np.testing.assert_allclose(samples["w"].sum(axis=2), 1)
    assert samples.coordinates == ["tau[0]", "tau[1]", "p", "w[0]", "w[1]", "w[2]"]
    assert samples.unconstrained.shape == (16, 1000, 5)


def test_axes_have_names_and_labels():
    pytest.importorskip("arviz")

    def logp(theta, m):
        return -0.5 * (theta @ theta + (m**2).sum()), {"theta": -theta, "m": -m}

    samples = fuld.sample(
        logp=logp,
        variables={"theta": 3, "m": (2, 2)},
        dims={"theta": ["school"]},
        coords={"school": ["A", "B", "C"]},
        **FEW,
    )
    assert samples.coordinates[:3] == ["theta[A]", "theta[B]", "theta[C]"]
    assert samples.coordinates[3:] == ["m[0, 0]", "m[0, 1]", "m[1, 0]", "m[1, 1]"]
    assert "theta[B]" in samples.summary()
    assert "theta (chain: 6, draw: 8, school: 3)" in repr(samples)
    posterior = samples.to("arviz")["posterior"]
    assert posterior["theta"].dims == ("chain", "draw", "school")
    assert posterior["m"].dims == ("chain", "draw", "m_dim_0", "m_dim_1")
    assert list(posterior.coords["school"].to_numpy()) == ["A", "B", "C"]
    np.testing.assert_array_equal(posterior["m"].to_numpy(), samples["m"])
    again = pickle.loads(pickle.dumps(samples))
    assert again.to("arviz")["posterior"]["theta"].dims == ("chain", "draw", "school")
    assert repr(again) == repr(samples)


def test_starts_are_values_of_variables():
    settings: dict[str, Any] = {"adapt": False, "step": 1e-9, "warmup": 0, "path": 0}
    settings |= {"seed": 1, "chains": 3, "draws": 4, "variables": SCALE, "logp": funnel_by_name}
    samples = fuld.sample(start={"mu": 2.0, "tau": 0.5}, **settings)
    np.testing.assert_allclose(samples["tau"], 0.5, rtol=1e-6)
    samples = fuld.sample(start={"mu": 2.0, "tau": [0.5, 1.0, 2.0]}, **settings)
    np.testing.assert_allclose(samples["tau"][:, 0], [0.5, 1.0, 2.0], rtol=1e-6)
    with pytest.raises(TypeError, match="a dict only with variables"):
        fuld.sample("x^2/2", start={"x": 1.0})


def test_a_log_density_is_minus_a_potential():
    x = fuld.sample("x^2/2", **FEW)["x"]
    np.testing.assert_array_equal(fuld.sample(logp="-x^2/2", **FEW)["x"], x)
    plain = fuld.sample(lambda x: ((x**2).sum(-1) / 2, x), dim=2, **FEW)["x"]
    logp = fuld.sample(logp=lambda x: (-(x**2).sum(-1) / 2, -x), dim=2, **FEW)["x"]
    np.testing.assert_array_equal(logp, plain)
    lists = fuld.sample(logp=lambda x: (-float(x @ x) / 2, [-c for c in x]), dim=2, **FEW)["x"]
    np.testing.assert_allclose(lists, plain, rtol=1e-9)


def by_rows(mu, rows):
    return -0.5 * ((mu - rows) ** 2).sum(), {"mu": (rows - mu).sum()}


def by_batch(mu, batch):
    """An unbiased estimate of the log density of 40 rows."""
    value, gradient = by_rows(mu, batch)
    return 40 / len(batch) * value, {"mu": 40 / len(batch) * gradient["mu"]}


def test_data_may_come_in_minibatches():
    rows = np.random.default_rng(0).normal(2.0, 1.0, size=40)
    all_rows = fuld.sample(logp=by_rows, variables={"mu": ()}, data=rows, chains=16, seed=1)
    assert all_rows.settings["integrator"] == "exact"
    assert_mean(all_rows["mu"], rows.mean())
    settings: dict[str, Any] = {"chains": 16, "seed": 1, "start": {"mu": rows.mean()}}
    few = fuld.sample(
        logp=by_batch, variables={"mu": ()}, data=rows, batch_size=8, step=0.02, **settings
    )
    assert few.settings["integrator"] == "baoab"
    assert few.settings["exact"] == 0
    assert_mean(few["mu"], rows.mean())


def test_minibatches_are_uniform():
    """Counts of 100 rows in 64,000 draws: chi-squared with 99 degrees, seed fixed, 1 in 10,000."""
    from fuld._minibatches import rows_of

    rows = rows_of({"a": np.arange(100), "b": (np.arange(200).reshape(100, 2),)}, 10)
    words = np.random.default_rng(0).integers(2**64, size=6400, dtype=np.uint64)
    batch = rows.batch(words)
    assert batch["a"].shape == (6400, 10)
    assert batch["b"][0].shape == (6400, 10, 2)
    np.testing.assert_array_equal(batch["b"][0][..., 0], 2 * batch["a"])
    counts = np.bincount(batch["a"].ravel(), minlength=100)
    assert ((counts - 640) ** 2 / 640).sum() < 155


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({}, TypeError, "nothing to sample from"),
        ({"potential": "x^2", "logp": "x"}, TypeError, "either a potential f or logp="),
        ({"potential": "x^2", "variables": SCALE}, ValueError, "variables is for functions"),
        ({"potential": "x^2", "dims": {"x": ["a"]}}, ValueError, "named variables"),
        ({"potential": "x^2", "batch_size": 3}, ValueError, "batch_size requires data="),
        ({"logp": lambda a, b: 0, "variables": SCALE}, TypeError, r"def logp\(mu, tau\)"),
        ({"logp": funnel_by_name, "variables": SCALE, "dim": 3}, ValueError, "dim must be left"),
        ({"logp": lambda p: 0.0, "variables": SCALE}, TypeError, r"return a tuple \(value, grad"),
        (
            {"logp": lambda p: (0.0, {"mu": 0.0}), "variables": SCALE},
            TypeError,
            r"'mu': array of shape \(\), 'tau': array of shape \(\)}, got the keys \['mu'\]",
        ),
        (
            {"logp": lambda p: (0.0, {"a": np.zeros(2)}), "variables": {"a": 3}},
            ValueError,
            r"must be {'a': array of shape \(3,\)}, got shape \(2,\)",
        ),
        ({"logp": by_rows, "variables": {"mu": ()}, "data": 3.0}, TypeError, "one row per"),
        (
            {"logp": by_rows, "variables": {"mu": ()}, "data": (np.ones(3), np.ones(4))},
            ValueError,
            r"the same number of rows, at least one, got \[3, 4\]",
        ),
        ({"logp": funnel_by_name, "variables": {"chain": ()}}, ValueError, "an axis of the draws"),
        (
            {"logp": funnel_by_name, "variables": SCALE, "coords": {"schol": [1]}},
            ValueError,
            "the axis 'schol', which dims does not",
        ),
        (
            {"logp": funnel_by_name, "variables": SCALE, "stochastic": True},
            ValueError,
            "give data= and batch_size=",
        ),
        (
            {"logp": by_rows, "variables": {"mu": ()}, "data": np.ones(3), "batch_size": 4},
            ValueError,
            "batch_size must be at most 3",
        ),
        (
            {"potential": lambda x: ((x**2).sum(-1).astype(np.float32), x), "dim": 2},
            TypeError,
            "same precision, got float32 and float64",
        ),
        ({"logp": lambda x: 0.0, "dim": 2, "gradient": "numpy"}, ValueError, "'jax' or 'torch'"),
    ],
)
def test_errors_show_the_right_form(settings, error, says):
    with pytest.raises(error, match=says):
        fuld.sample(**settings)


def test_a_wrong_gradient_is_in_the_warnings():
    def logp(mu, tau):
        value, gradient = funnel_by_name(mu, tau)
        return value, {**gradient, "tau": -3 * gradient["tau"]}

    with pytest.warns(fuld.SamplingWarning, match="seems not to be that of the value"):
        samples = fuld.sample(logp=logp, variables=SCALE, start={"mu": 1.0, "tau": 0.5}, **FEW)
    assert "seems not to be that of the value" in samples.warnings[0]


def test_stores_continue_with_the_same_model_only(tmp_path):
    settings: dict[str, Any] = {"variables": SCALE, "store": tmp_path / "s", **FEW}
    first = fuld.sample(logp=funnel_by_name, **settings)
    again = fuld.sample(logp=funnel_by_name, resume=True, **settings)
    np.testing.assert_array_equal(first["tau"], again["tau"])
    with pytest.raises(ValueError, match="code"):
        fuld.sample(logp=funnel_by_dict, resume=True, name="funnel_by_name", **settings)
    other = {**settings, "variables": {"mu": (), "tau": ("lower", -1.0, ())}}
    with pytest.raises(ValueError, match="code"):
        fuld.sample(logp=funnel_by_name, resume=True, **other)


def gaussian(**values):
    return -0.5 * sum(v**2 for v in values.values()), {k: -v for k, v in values.items()}


def test_a_variable_may_be_called_v():
    samples = fuld.sample(logp=gaussian, variables={"v": (), "w": ()}, **FEW)
    assert samples.coordinates == ["v", "w"]
    assert samples["v"].shape == (6, 8)
    assert fuld.sample(logp=gaussian, variables={"v": ()}, **FEW).coordinates == ["v"]
    with pytest.raises(ValueError, match="rename the variable 'v'"):
        fuld.sample(logp=gaussian, variables={"v": ()}, velocities=True, **FEW)
    kept = fuld.sample(logp=gaussian, variables={"u": (), "w": ()}, velocities=True, **FEW)
    assert kept["v"].shape == (6, 8, 2)
    assert kept.coordinates == ["u", "w"]


def test_a_function_may_change_its_arguments():
    def careless(mu):
        answer = -0.5 * (mu @ mu), {"mu": -mu.copy()}
        mu *= 0
        return answer

    settings: dict[str, Any] = {"variables": {"mu": 3}, **FEW}
    tidy = fuld.sample(logp=lambda mu: (-0.5 * (mu @ mu), {"mu": -mu}), **settings)["mu"]
    np.testing.assert_array_equal(fuld.sample(logp=careless, **settings)["mu"], tidy)


def test_the_first_call_is_at_the_start():
    import math

    def half_line(x):
        return -x + math.log(x), {"x": -1 + 1 / x}  # raises an error at 0

    settings: dict[str, Any] = {"adapt": False, "step": 1e-3, "path": 0, "warmup": 0}
    settings |= {"seed": 1, "chains": 2, "draws": 4, "variables": {"x": ("lower", -1.0, ())}}
    samples = fuld.sample(logp=half_line, start={"x": 1.0}, **settings)
    assert samples["x"].shape == (2, 4)
