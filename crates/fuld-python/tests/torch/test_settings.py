"""Settings by group, and settings that change on the way."""

from typing import Any

import pytest

from tests.torch.walk import IMPLEMENTATIONS, draw, walk

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402
from torch.optim import lr_scheduler as schedulers  # noqa: E402

START, GRADIENTS = draw([7], steps=12)
EVERY = pytest.mark.parametrize("implementation", IMPLEMENTATIONS)


@EVERY
def test_each_group_has_its_own(implementation):
    own: list[dict[str, Any]] = [
        {"alpha": 1.2, "noise_scale": 0.5},
        {"alpha": 2.0, "momentum": 0.0},
        {"form": "paper", "beta": 0.1**-1.75, "lr": 0.2},
        {"lr": torch.tensor(0.3), "nesterov": True},
        {"maximize": True, "weight_decay": 0.5, "decoupled_weight_decay": True},
        {},
    ]
    xs = [START.clone() for _ in own]
    groups = [{"params": [x], **settings} for x, settings in zip(xs, own, strict=True)]
    optimizer = FULD(groups[:4], lr=0.03, **IMPLEMENTATIONS[implementation])
    for group in groups[4:]:
        optimizer.add_param_group(group)
    for gradient in GRADIENTS:
        for x in xs:
            x.grad = gradient.clone()
        optimizer.step()
    for x, settings in zip(xs, own, strict=True):
        settings = {"lr": 0.03, **settings, **IMPLEMENTATIONS[implementation]}
        assert torch.equal(x, walk(FULD, START, GRADIENTS, **settings)[0])


@EVERY
@pytest.mark.parametrize(
    ("name", "value"),
    [("lr", 0.2), ("alpha", 1.2), ("noise_scale", 0.1), ("momentum", 0.5), ("alpha", 2.0)],
)
def test_a_setting_changed_between_steps_counts_from_there(implementation, name, value):
    settings = {"lr": 0.03, **IMPLEMENTATIONS[implementation]}
    x = START.clone()
    optimizer = FULD([x], **settings)
    half = [START.clone(), *walk(FULD, START, GRADIENTS[:6], **settings)]
    for i, gradient in enumerate(GRADIENTS):
        if i == 6:
            assert torch.equal(x, half[1])
            optimizer.param_groups[0][name] = value
        x.grad = gradient.clone()
        optimizer.step()
    other = half[1].clone()
    second = FULD([other], **{**settings, name: value})
    second.state[other]["momentum_buffer"] = half[2].clone()
    for gradient in GRADIENTS[6:]:
        other.grad = gradient.clone()
        second.step()
    assert torch.equal(x, other)


SCHEDULERS = {
    "one cycle": lambda o: schedulers.OneCycleLR(o, max_lr=0.3, total_steps=12),
    "warm-up from 0": lambda o: schedulers.LambdaLR(o, lambda i: i / 5),
    "sequential": lambda o: schedulers.SequentialLR(
        o,
        [schedulers.LinearLR(o, 0.1, total_iters=4), schedulers.CosineAnnealingLR(o, 8)],
        milestones=[4],
    ),
}


@EVERY
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("tensor", [False, True])
def test_schedulers(implementation, scheduler, tensor):
    """The step follows the settings that the scheduler leaves, momentum among them."""
    lr = torch.tensor(0.03).double() if tensor else 0.03
    x, expected = START.clone(), START.clone()
    led = FULD([x], lr=lr, **IMPLEMENTATIONS[implementation])
    schedule = SCHEDULERS[scheduler](led)
    plain = FULD([expected])
    seen = set()
    for gradient in GRADIENTS:
        group = led.param_groups[0]
        assert isinstance(group["lr"], torch.Tensor) == tensor
        now = {"lr": float(group["lr"]), "momentum": group["momentum"]}
        seen.add(tuple(now.values()))
        plain.param_groups[0].update(now)
        x.grad, expected.grad = gradient.clone(), gradient.clone()
        led.step()
        plain.step()
        schedule.step()
    assert len(seen) > 5
    assert (scheduler == "one cycle") == (len({momentum for _, momentum in seen}) > 1)
    torch.testing.assert_close(x, expected, rtol=1e-12, atol=1e-12)


@EVERY
def test_a_closure_is_evaluated_once_with_gradients(implementation):
    x = torch.ones(3, requires_grad=IMPLEMENTATIONS[implementation] != {"differentiable": True})
    optimizer = FULD([x], lr=0.1, **IMPLEMENTATIONS[implementation])
    calls = []

    def closure():
        calls.append(torch.is_grad_enabled())
        y = x.detach().requires_grad_()
        loss = y.square().sum()
        loss.backward()
        x.grad = y.grad
        return loss.item()

    assert optimizer.step(closure) == 3
    assert calls == [True]
    assert (x < 1).all()


def test_hooks_are_called_around_the_step():
    x = torch.ones(3)
    x.grad = torch.ones(3)
    optimizer = FULD([x], lr=0.1)
    seen = []
    optimizer.register_step_pre_hook(lambda *_: seen.append(x[0].item()))
    optimizer.register_step_post_hook(lambda *_: seen.append(x[0].item()))
    optimizer.step()
    assert seen[0] == 1
    assert seen[1] == x[0].item() < 1
