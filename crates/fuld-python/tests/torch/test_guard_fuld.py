"""The guard inside FULD."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fuld.torch import FULD, guard  # noqa: E402

from tests.torch.guarded import corrupted, fill, lead, parameters, states  # noqa: E402

SETTINGS = [
    {"alpha": 1.5, "noise_scale": 0.1},
    {"alpha": 1.5, "momentum": 0.0},
    {"alpha": 2.0},
    {"alpha": 2.0, "momentum": 0.0},
    {"alpha": 1.5, "weight_decay": 0.1, "nesterov": True, "maximize": True},
    {"alpha": 2.0, "weight_decay": 0.1, "decoupled_weight_decay": True},
]
WAYS = [{}, {"fused": True}, {"foreach": True}, {"foreach": False}]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_it_is_the_guard_before_the_step(settings, way):
    ours, theirs = parameters(), parameters()
    inside = FULD(ours, 0.01, guard=2.0, **settings, **way)
    before = guard(FULD(theirs, 0.01, **settings, **way), 2.0)
    for step in range(12):
        corrupted(ours, step)
        corrupted(theirs, step)
        inside.step()
        before.step()
    assert states(ours, inside) == states(theirs, before)
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("alpha", [1.5, 2.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_the_fused_step_does_not_change_gradients(alpha, dtype):
    params = parameters(dtype)
    optimizer = FULD(params, 0.01, alpha=alpha, guard=True)
    for step in range(4):
        corrupted(params, step)
        gradients = [x.grad.clone() for x in params]
        optimizer.step()
        for x, g in zip(params, gradients, strict=True):
            assert torch.equal(x.grad.nan_to_num(), g.nan_to_num())
            assert x.isfinite().all()


def test_auto_is_sgd_with_a_guard():
    ours, theirs = parameters(), parameters()
    auto = FULD(ours, 0.01, alpha="auto")
    sgd = guard(torch.optim.SGD(theirs, 0.01, momentum=0.9))
    assert auto.param_groups[0]["alpha"] == 2
    lead(ours, auto, range(10))
    lead(theirs, sgd, range(10))
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-6)


def test_groups_have_their_own_guards():
    a, b, c = (torch.nn.Parameter(torch.zeros(4)) for _ in range(3))
    groups: list[dict[str, Any]] = [
        {"params": [a], "guard": True},
        {"params": [b], "guard": 5.0},
        {"params": [c]},
    ]
    optimizer = FULD(groups, 0.1, alpha=2.0, momentum=0.0)
    for last in (1.0, 1.0, 100.0):
        for x in (a, b, c):
            x.data.zero_()
            x.grad = torch.tensor([1.0, 1.0, 1.0, last])
        optimizer.step()
    scale = np.exp(optimizer.state[a]["guard"][2].item())
    found = [-x[3].item() / 0.1 for x in (a, b, c)]
    assert found == pytest.approx([scale, 5 * scale, 100], rel=1e-5)
    assert "guard" not in optimizer.state.get(c, {})


def test_other_parameters_each_step():
    params = parameters()
    optimizer = FULD(params, 0.01, guard=True)
    for step in range(6):
        fill(params, step)
        params[step % 2].grad = None
        optimizer.step()
    assert [s[1] for s in states(params, optimizer)] == [3, 3, 6, 6, 0]


def test_scaled_gradients_of_a_fused_step():
    ours, theirs = parameters(), parameters()
    scaled = FULD(ours, 0.01, alpha="auto", fused=True)
    plain = FULD(theirs, 0.01, alpha="auto", fused=True)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(torch.zeros(()))
    for step in range(4):
        fill(ours, step, 8.0)
        fill(theirs, step)
        scaler.step(scaled)
        scaler.update()
        plain.step()
    np.testing.assert_allclose(states(ours, scaled), states(theirs, plain), atol=1e-6)


def test_a_compiled_step():
    ours, theirs = parameters(), parameters()
    compiled, plain = (FULD(p, 0.01, alpha=1.5, guard=2.0, foreach=True) for p in (ours, theirs))
    step = torch.compile(compiled.step, backend="eager")
    for k in range(3):
        corrupted(ours, k)
        corrupted(theirs, k)
        step()
        plain.step()
    assert states(ours, compiled) == states(theirs, plain)
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"guard": 0.0}, "guard must be positive, got 0.0"),
        ({"guard": -1}, "guard must be positive, got -1.0"),
        ({"guard": "yes"}, "guard must be a number, got 'yes'"),
        ({"noise_scale": "auto"}, "use guard=True"),
        ({"alpha": "auto", "noise_scale": "auto"}, "use guard=True"),
    ],
)
def test_refusals(settings, says):
    with pytest.raises((ValueError, TypeError), match=says):
        FULD([torch.zeros(2)], **settings)
