"""Mixed precision: gradients that a GradScaler has multiplied, and steps that it skips."""

import pytest

from tests.torch.walk import IMPLEMENTATIONS, draw, walk

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402

EVERY = pytest.mark.parametrize("implementation", ["single", "foreach", "fused", "default"])
SETTINGS = [
    {"alpha": 1.5},
    {"alpha": 1.5, "weight_decay": 0.1, "decoupled_weight_decay": True},
    {"alpha": 2.0},
    {"alpha": 2.0, "weight_decay": 0.1, "decoupled_weight_decay": True},
    {"alpha": 1.5, "maximize": True, "momentum": 0.0, "weight_decay": 0.1},
]


@EVERY
@pytest.mark.parametrize("settings", SETTINGS)
def test_scaled_gradients_and_skipped_steps(implementation, settings):
    start, gradients = (values.float() for values in draw([50], steps=4))
    settings = {"lr": 0.03, **settings, **IMPLEMENTATIONS[implementation]}
    expected, buffer = walk(FULD, start, gradients, **settings)
    x = start.clone().requires_grad_()
    optimizer = FULD([x], **settings)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**9, growth_interval=1000)
    for i, gradient in enumerate(gradients):
        if i == 2:
            before = x.detach().clone()
            lead(x, torch.full_like(gradient, torch.inf), scaler, optimizer)
            assert torch.equal(x, before)
            assert scaler.get_scale() == 2.0**8
        lead(x, gradient, scaler, optimizer)
    # Powers of two: exact.
    assert torch.equal(x, expected)
    if buffer is not None:
        assert torch.equal(optimizer.state[x]["momentum_buffer"], buffer)


@EVERY
@pytest.mark.parametrize("alpha", [1.5, 2.0])
def test_a_skipped_first_step_leaves_nothing_behind(implementation, alpha):
    start, gradients = (values.float() for values in draw([5000], steps=2))
    settings = {"lr": 0.03, "alpha": alpha, **IMPLEMENTATIONS[implementation]}
    expected, _ = walk(FULD, start, gradients, **settings)
    x = start.clone().requires_grad_()
    optimizer = FULD([x], **settings)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**9)
    # So that memory that is not written does not happen to be 0.
    torch.full_like(start, 7e5)
    lead(x, torch.full_like(start, torch.inf), scaler, optimizer)
    for gradient in gradients:
        lead(x, gradient, scaler, optimizer)
    assert torch.equal(x, expected)


def lead(x, gradient, scaler, optimizer):
    optimizer.zero_grad()
    scaler.scale((x * gradient).sum()).backward()
    scaler.step(optimizer)
    scaler.update()


@EVERY
def test_clipping_between_unscaling_and_the_step(implementation):
    results = []
    for scaled in (False, True):
        x = torch.ones(5, requires_grad=True)
        optimizer = FULD([x], lr=0.1, noise_scale=0.1, **IMPLEMENTATIONS[implementation])
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**9, enabled=scaled)
        scaler.scale((x * torch.arange(5)).sum()).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_([x], 1.0)
        scaler.step(optimizer)
        results.append(x.detach())
    torch.testing.assert_close(*results)
    assert (results[0][1:] < 1).all()
