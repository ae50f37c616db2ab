"""The step against the rule."""

import math

import numpy as np
import pytest
from fuld import grad_g

from tests.torch.recursion import recursion
from tests.torch.walk import IMPLEMENTATIONS, OPTIONS, draw, walk

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402

START, GRADIENTS = draw([37], steps=6)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("tensor", [False, True])
def test_step_is_the_rule(implementation, option, tensor):
    settings = {"lr": 0.03, **OPTIONS[option]}
    x, b = recursion(START, GRADIENTS, **settings)
    if tensor:
        settings["lr"] = torch.tensor(settings["lr"], dtype=torch.float64)
    got, buffer = walk(FULD, START, GRADIENTS, **settings, **IMPLEMENTATIONS[implementation])
    # The table's own error is 1e-12 of the field.
    np.testing.assert_allclose(got.numpy(), x, rtol=1e-11, atol=1e-11)
    if settings.get("momentum") == 0:
        assert buffer is None
    else:
        np.testing.assert_allclose(buffer.numpy(), b, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_small_gradients_take_the_step_of_sgd(implementation):
    gradients = 1e-6 * GRADIENTS
    settings = {"lr": 0.03, "momentum": 0.9, "nesterov": True}
    expected, _ = walk(torch.optim.SGD, START, gradients, **settings)
    got, _ = walk(FULD, START, gradients, alpha=1.3, **settings, **IMPLEMENTATIONS[implementation])
    torch.testing.assert_close(got - START, expected - START, rtol=1e-5, atol=1e-12)


def test_large_gradients_move_little():
    for size in (1e3, 1e6):
        x, _ = walk(FULD, torch.zeros(1).double(), torch.tensor([[size]]).double(), lr=1.0)
        # (1 + alpha)/v far out, in units of the knee.
        kappa = 0.1 ** (-1 / 1.75)
        slope = grad_g(1e-9, 1.75) / 1e-9
        assert x.item() == pytest.approx(-(kappa**2) * 2.75 / slope / size, rel=1e-2)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("beta", [1.0, 7.0])
def test_from_paper_is_the_paper(implementation, beta):
    eta, gamma, alpha = 0.1, 0.4, 1.6
    x, v = START.numpy(), np.zeros(37)
    for g in GRADIENTS.numpy():
        v = (1 - gamma * eta) * v - eta * g
        x = x + eta * beta ** (1 / alpha - 1) * grad_g(beta ** (1 / alpha) * v, alpha)
    options = {"gamma": gamma, "alpha": alpha, "beta": beta, **IMPLEMENTATIONS[implementation]}
    got, buffer = walk(FULD.from_paper, START, GRADIENTS, eta=eta, **options)
    np.testing.assert_allclose(got.numpy(), x, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(-eta * buffer.numpy(), v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_nan_gets_through(implementation, dtype):
    x = torch.ones(40, dtype=dtype)
    x.grad = torch.ones_like(x)
    x.grad[7] = math.nan
    FULD([x], lr=0.1, **IMPLEMENTATIONS[implementation]).step()
    assert x.isnan().nonzero().tolist() == [[7]]


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_an_infinite_gradient_shows(implementation, momentum):
    """The field of infinity is 0: the coordinate would stand still for ever, unseen."""
    x = torch.ones(20)
    x.grad = torch.ones(20)
    x.grad[3] = math.inf
    FULD([x], lr=0.1, momentum=momentum, **IMPLEMENTATIONS[implementation]).step()
    assert x.isnan().nonzero().tolist() == [[3]]
    assert (x[4:] < 1).all()
