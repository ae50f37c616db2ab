"""Transforms of constrained variables: values, Jacobians, gradients and inverses."""

import numpy as np
import pytest
from fuld._constraints import constraint
from fuld._variables import Variables

FORMS = {
    "real": ("real", (), (2, 3)),
    "positive": ("positive", (), (2, 3)),
    "lower": ("lower", (-2.5,), (3,)),
    "upper": ("upper", (1.5,), (3,)),
    "unit_interval": ("unit_interval", (), (2,)),
    "interval": ("interval", (-1.0, 7.0), (2, 2)),
    "ordered": ("ordered", (), (2, 4)),
    "simplex": ("simplex", (), (2, 4)),
}


def points(kind, shape, count=5, scale=1.5):
    rng = np.random.default_rng(0)
    return scale * rng.normal(size=(count, *kind.free_shape(shape)))


@pytest.mark.parametrize("form", FORMS)
def test_the_inverse_undoes_the_transform(form):
    name, numbers, shape = FORMS[form]
    kind = constraint(name, numbers)
    u = points(kind, shape)
    y, _ = kind.forward(u)
    assert y.shape == (5, *shape)
    np.testing.assert_allclose(kind.inverse(y), u, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_jacobians_are_those_of_differences(form):
    """log|det dy/du| by central differences; a simplex is seen in all components but the last."""
    name, numbers, shape = FORMS[form]
    kind = constraint(name, numbers)
    u = points(kind, shape, 1)
    free, step = u.size, 1e-6
    moved = np.repeat(u, 2 * free, axis=0).reshape(2 * free, -1)
    moved[np.arange(free), np.arange(free)] += step
    moved[free + np.arange(free), np.arange(free)] -= step
    y, _ = kind.forward(moved.reshape(2 * free, *u.shape[1:]))
    y = y[..., : kind.free_shape(shape)[-1]].reshape(2 * free, free)
    matrix = (y[:free] - y[free:]) / (2 * step)
    assert kind.forward(u)[1][0] == pytest.approx(np.linalg.slogdet(matrix)[1], abs=1e-7)


@pytest.mark.parametrize("form", FORMS)
def test_gradients_are_those_of_differences(form):
    name, numbers, shape = FORMS[form]
    kind = constraint(name, numbers)
    weights = np.random.default_rng(1).normal(size=shape)

    def density(u):
        y, log_jacobian = kind.forward(u)
        return (weights * np.sin(y)).reshape(len(u), -1).sum(axis=1) + log_jacobian

    u = points(kind, shape)
    y, _ = kind.forward(u)
    gradient = kind.pull_back(u, y, weights * np.cos(y))
    assert gradient.shape == u.shape
    for index in np.ndindex(*u.shape[1:]):
        step = np.zeros(u.shape)
        step[(slice(None), *index)] = 1e-6
        slope = (density(u + step) - density(u - step)) / 2e-6
        np.testing.assert_allclose(gradient[(slice(None), *index)], slope, atol=1e-7)


@pytest.mark.parametrize("form", FORMS)
def test_far_out_nothing_overflows_without_need(form):
    name, numbers, shape = FORMS[form]
    kind = constraint(name, numbers)
    u = points(kind, shape, scale=100.0)
    with np.errstate(all="ignore"):
        y, log_jacobian = kind.forward(u)
        flat = kind.pull_back(u, y, np.zeros_like(y))
    assert not np.isnan(y).any()
    assert np.isfinite(log_jacobian).all()
    assert np.isfinite(flat).all()


@pytest.mark.parametrize("u", [-300.0, -36.0, -20.0, 5.0])
def test_gradients_near_the_ends_of_an_interval_keep_their_digits(u):
    """log p = -log(y)/2, of Beta(1/2, 1): with the Jacobian, the gradient is (1 - s)/2 - s."""
    kind = constraint("unit_interval", ())
    at = np.array([[u]])
    y, _ = kind.forward(at)
    s = 1 / (1 + np.exp(-u))
    assert kind.pull_back(at, y, -0.5 / y)[0, 0] == pytest.approx((1 - s) / 2 - s, rel=1e-12)


def test_variables_are_laid_out_in_their_order():
    variables = Variables({"mu": (), "tau": ("positive", ()), "w": ("simplex", 3), "m": (2, 2)})
    assert variables.dim == 1 + 1 + 2 + 4
    x = np.arange(16.0).reshape(2, 8) / 10
    values, _ = variables.values(x)
    assert {name: array.shape[1:] for name, array in values.items()} == {
        "mu": (),
        "tau": (),
        "w": (3,),
        "m": (2, 2),
    }
    np.testing.assert_array_equal(values["mu"], x[:, 0])
    np.testing.assert_allclose(values["tau"], np.exp(x[:, 1]))
    np.testing.assert_allclose(values["w"].sum(axis=1), 1)
    np.testing.assert_array_equal(values["m"][1], x[1, 4:].reshape(2, 2))
    np.testing.assert_allclose(variables.coordinates({k: a[1] for k, a in values.items()}), x[1])
    np.testing.assert_allclose(variables.coordinates(values), x)


@pytest.mark.parametrize(
    ("declared", "error", "says"),
    [
        ({}, TypeError, "one entry per variable"),
        ({"mu": "positve"}, ValueError, "did you mean 'positive'"),
        ({"mu": 2.5}, TypeError, r"must be a shape like \(\), 8 or \(2, 3\)"),
        ({"mu": ("interval", 0, ())}, TypeError, r"\('interval', lower, upper, shape\)"),
        ({"mu": ("interval", 3, 1, ())}, ValueError, "finite and ascend"),
        ({"mu": ("simplex", ())}, ValueError, "a last axis of at least 2"),
        ({"mu": -1}, ValueError, "negative"),
        ({"mu": 0}, ValueError, "at least one coordinate"),
        ({2: ()}, TypeError, "a name like 'mu'"),
    ],
)
def test_wrong_declarations_say_what_is_right(declared, error, says):
    with pytest.raises(error, match=says):
        Variables(declared)


@pytest.mark.parametrize(
    ("start", "says"),
    [
        ({"mu": 0.0}, "'tau' is missing"),
        ({"mu": 0.0, "tau": 1.0, "nu": 1.0}, "no variable is called 'nu'"),
        ({"mu": 0.0, "tau": -1.0}, r"start\['tau'\] must be above 0, got -1.0"),
        ({"mu": [1.0, 2.0, 3.0], "tau": [1.0, 2.0]}, "values for 2 and 3 chains"),
    ],
)
def test_wrong_starts_say_what_is_right(start, says):
    variables = Variables({"mu": (), "tau": ("positive", ())})
    with pytest.raises(ValueError, match=says):
        variables.coordinates(start)
