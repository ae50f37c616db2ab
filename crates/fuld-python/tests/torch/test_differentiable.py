"""Autograd through the step."""

import pytest

from tests.torch.walk import OPTIONS, draw

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402

START, GRADIENTS = draw([6], steps=3)


# At alpha = 2 it is torch's SGD, which with momentum forgets where its first buffer came from.
@pytest.mark.parametrize("option", [*OPTIONS, "alpha = 2"])
def test_derivatives_of_three_steps(option):
    settings = OPTIONS.get(option, {"alpha": 2.0, "momentum": 0.0})

    def end(start, gradients, lr):
        x = start.clone()
        optimizer = FULD([x], lr=lr, differentiable=True, **settings)
        for gradient in gradients:
            x.grad = gradient
            optimizer.step()
        return x

    inputs = [START, GRADIENTS, torch.tensor(0.03).double()]
    for value in inputs:
        value.requires_grad_()
    assert torch.autograd.gradcheck(end, inputs, eps=1e-6, atol=1e-6)


def test_a_learning_rate_learns():
    """One step of length lr down a parabola: the best lr is where the end has the least loss."""
    lr = torch.tensor(0.01, requires_grad=True)
    outer = torch.optim.SGD([lr], lr=0.05)
    losses = []
    for _ in range(20):
        y = torch.ones(4, requires_grad=True)
        (gradient,) = torch.autograd.grad(y.square().sum(), y, create_graph=True)
        x = y.clone()
        x.grad = gradient
        FULD([x], lr=lr, alpha=1.5, noise_scale=5.0, differentiable=True).step()
        loss = x.square().sum()
        outer.zero_grad()
        loss.backward()
        outer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.01 * losses[0]
