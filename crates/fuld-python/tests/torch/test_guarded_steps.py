"""The steps of torch's SGD and Adam that contain the guard."""

import copy
import weakref
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from fuld.torch import _guarded_adam, _guarded_sgd, guard  # noqa: E402
from fuld.torch._kernels import fused_step_of  # noqa: E402

from tests.torch.guarded import corrupted, lead, parameters  # noqa: E402


@pytest.fixture
def steps_taken(monkeypatch):
    """The steps with the guard inside, one entry per group."""
    taken: list[object] = []
    step = _guarded_adam.cpu_step

    def counted(kept, *settings):
        taken.append(kept)
        step(kept, *settings)

    monkeypatch.setattr(_guarded_adam, "cpu_step", counted)

    def counted_sgd(kept, *settings):
        taken.append(kept)
        fused_step_of(kept, *settings)

    monkeypatch.setattr(_guarded_sgd, "fused_step_of", counted_sgd)
    return taken


def twelve_steps(ours, fused, theirs, single):
    """Steps with the guard inside, which leave gradients alone, beside steps after the guard."""
    for step in range(12):
        corrupted(ours, step)
        corrupted(theirs, step)
        if step == 5:
            ours[1].grad = theirs[1].grad = None
        before = [None if x.grad is None else x.grad.clone() for x in ours]
        fused.step()
        single.step()
        for x, g in zip(ours, before, strict=True):
            assert (x.grad is None) == (g is None)
            if g is not None:
                torch.testing.assert_close(x.grad, g, rtol=0, atol=0, equal_nan=True)


ADAMS: list[dict[str, Any]] = [
    {},
    {"weight_decay": 0.0, "betas": (0.0, 0.9)},
    {"weight_decay": 0.1, "maximize": True},
    {"lr": torch.tensor(0.02, dtype=torch.float64)},
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("options", ADAMS, ids=str)
@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW])
def test_the_guard_inside_adam_is_the_guard_before_it(steps_taken, kind, options, dtype):
    ours, theirs = parameters(dtype), parameters(dtype)
    fused = guard(kind(ours, **{"lr": 0.02, **options}, fused=True), 2.0)
    single = guard(kind(theirs, **{"lr": 0.02, **options}, foreach=False), 2.0)
    twelve_steps(ours, fused, theirs, single)
    assert len(steps_taken) == 12
    close = 1e-5 if dtype == torch.float32 else 1e-7
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, rtol=close, atol=close)
        for key in ("step", "exp_avg", "exp_avg_sq", "guard"):
            torch.testing.assert_close(
                fused.state[x][key], single.state[y][key], rtol=close, atol=close
            )


SGDS: list[dict[str, Any]] = [
    {},
    {"momentum": 0.9},
    {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    {"momentum": 0.5, "maximize": True},
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("options", SGDS, ids=str)
def test_the_guard_inside_sgd_is_the_guard_before_it(steps_taken, options, dtype):
    ours, theirs = parameters(dtype), parameters(dtype)
    fused = guard(torch.optim.SGD(ours, 0.02, **options, fused=True), 2.0)
    single = guard(torch.optim.SGD(theirs, 0.02, **options, foreach=False), 2.0)
    twelve_steps(ours, fused, theirs, single)
    assert len(steps_taken) == 12
    # The guard before the step rounds what it changes to halves.
    close = 1e-5 if dtype == torch.float32 else 0.05
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, rtol=close, atol=close)
        torch.testing.assert_close(fused.state[x]["guard"], single.state[y]["guard"])
        assert ("momentum_buffer" in fused.state[x]) == bool(options)


def test_torch_takes_the_steps_of_sgd_with_dampening(steps_taken):
    params = parameters()
    optimizer = guard(torch.optim.SGD(params, 0.02, momentum=0.9, dampening=0.1, fused=True))
    lead(params, optimizer, range(3))
    assert not steps_taken


def test_torch_takes_the_steps_of_other_adams(steps_taken):
    for options in ({"amsgrad": True}, {"betas": (torch.tensor(0.9), torch.tensor(0.99))}):
        ours, theirs = parameters(), parameters()
        fused = guard(torch.optim.Adam(ours, lr=0.02, fused=True, **options), 2.0)
        single = guard(torch.optim.Adam(theirs, lr=0.02, foreach=False, **options), 2.0)
        for step in range(5):
            corrupted(ours, step)
            corrupted(theirs, step)
            fused.step()
            single.step()
        assert not steps_taken
        for x, y in zip(ours, theirs, strict=True):
            torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda groups, fused: torch.optim.AdamW(groups, lr=0.02, fused=fused),
        lambda groups, fused: torch.optim.SGD(groups, lr=0.02, momentum=0.9, fused=fused),
    ],
    ids=["AdamW", "SGD"],
)
def test_a_step_with_the_guard_inside_continues_like_torchs(steps_taken, make):
    """Groups, new groups, sets in turn, other settings, lost states, and a checkpoint."""
    ours, theirs = parameters(), parameters()
    optimizers = []
    for params, fused in ((ours, True), (theirs, False)):
        groups = [{"params": params[:2]}, {"params": params[2:3]}]
        optimizers.append(guard(make(groups, fused), 2.0))
    for step in range(14):
        for params, optimizer in zip((ours, theirs), optimizers, strict=True):
            corrupted(params, step)
            if step == 3:
                optimizer.add_param_group({"params": params[3:]})
            if step > 5:
                params[step % 2].grad = None
            if step == 8:
                optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
            if step == 10:
                optimizer.state[params[2]].clear()
        optimizers[0].param_groups[0]["fused"] = step != 12
        if isinstance(optimizers[0], torch.optim.SGD):
            for optimizer in optimizers:
                optimizer.param_groups[1]["momentum"] = 0.9 if step % 4 else 0.0
        for optimizer in optimizers:
            optimizer.step()
    assert len(steps_taken) > 25
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-5)
        if x is not ours[2]:  # whose state was cleared
            a, b = (o.state[p]["guard"] for o, p in zip(optimizers, (x, y), strict=True))
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


def test_hooks_come_before_the_step_of_adam(steps_taken):
    x = torch.nn.Parameter(torch.ones(4))
    optimizer = guard(torch.optim.AdamW([x], lr=0.1, weight_decay=0.0, fused=True))
    seen = []

    def refuse(*_):
        seen.append(x.detach().clone())
        if len(seen) == 3:
            raise ValueError("not this step")
        if len(seen) == 4:
            x.grad.zero_()

    optimizer.register_step_pre_hook(refuse)
    for step in range(5):
        x.grad = torch.ones(4)
        if step == 2:
            with pytest.raises(ValueError, match="not this step"):
                optimizer.step()
        else:
            optimizer.step()
    # The first gradient is measured.
    assert torch.equal(seen[0], seen[1])
    assert (seen[2] < 1).all()
    assert torch.equal(seen[2], seen[3])
    assert optimizer.state[x]["step"] == len(steps_taken) == 4
    # Zeroed after the guard was armed: the average of the gradients decreases.
    assert optimizer.state[x]["exp_avg"].max() < 0.2


def test_a_guarded_adam_is_freed():
    x = torch.nn.Parameter(torch.ones(4))
    optimizer = guard(torch.optim.AdamW([x], fused=True))
    x.grad = torch.ones(4)
    optimizer.step()
    freed = weakref.ref(optimizer)
    del optimizer
    assert freed() is None
