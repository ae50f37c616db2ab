"""The step of a calibrated optimizer, in every implementation."""

import math

import pytest

torch = pytest.importorskip("torch")
from fuld import _native  # noqa: E402
from fuld.torch import FULD  # noqa: E402

from tests.torch.calibrated import AUTO, WAYS, Noise, known, led, starts  # noqa: E402
from tests.torch.walk import IMPLEMENTATIONS  # noqa: E402


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"momentum": 0.0},
        {"nesterov": True, "maximize": True},
        {"weight_decay": 0.1, "decoupled_weight_decay": True},
        {"alpha": 1.5},
        {"noise_scale": 0.1},
    ],
)
@pytest.mark.parametrize("way", ["single", "foreach"])
def test_all_ways_find_and_do_the_same(way, options, dtype):
    params, optimizer = led(dtype=dtype, **options)
    others, other = led(dtype=dtype, **options, **IMPLEMENTATIONS[way])
    for one, two in zip(known(params, optimizer), known(others, other), strict=True):
        assert torch.equal(one, two)
    for x, y in zip(params, others, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_halves(dtype):
    """One step from where single precision is: all that differs is rounding to half precision."""
    params, optimizer = led(dtype=dtype)
    assert all(c.dtype == torch.float32 for c in known(params, optimizer))
    assert optimizer.calibration()["0"].noise_alpha == pytest.approx(1.4, abs=0.15)
    others = [x.float() for x in params]
    wide = FULD(others, lr=0.01, **AUTO)
    for x, y in zip(params, others, strict=True):
        wide.state[y] = {k: v.float() for k, v in optimizer.state[x].items()}
        wide.state[y]["calibration"] = optimizer.state[x]["calibration"].clone()
    Noise(1.4, seed=2).fill(params)
    for x, y in zip(params, others, strict=True):
        y.grad = x.grad.float()
    optimizer.step()
    wide.step()
    for x, y, c, d in zip(
        params, others, known(params, optimizer), known(others, wide), strict=True
    ):
        assert torch.equal(c, d)
        torch.testing.assert_close(x.float(), y.to(dtype).float(), rtol=0, atol=0)


@pytest.mark.parametrize("way", WAYS)
def test_the_step_is_that_of_what_was_found(way):
    """Against FULD with the numbers found, on gradients limited by hand."""
    params, optimizer = led(1.3, steps=41, shapes=[(70, 33)], **IMPLEMENTATIONS[way])
    x = params[0]
    before, buffer = x.clone(), optimizer.state[x]["momentum_buffer"].clone()
    Noise(1.3, seed=2).lead([x], optimizer, 1)
    found = optimizer.calibration()["0"]
    assert found.alpha < 1.6
    limited = x.grad.clamp(-found.limit, found.limit)
    assert 0.001 < (limited != x.grad).double().mean() < 0.7
    scale = found.momentum_knee * (1 - 0.9) ** (1 / found.alpha)
    fixed = FULD([before], lr=0.01, alpha=found.alpha, noise_scale=scale)
    fixed.state[before]["momentum_buffer"] = buffer
    before.grad = limited
    fixed.step()
    torch.testing.assert_close(x, before, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(optimizer.state[x]["momentum_buffer"], buffer)


@pytest.mark.parametrize("way", WAYS)
def test_gradients_stay_as_they_were(way):
    params, optimizer = led(1.3, steps=20, **IMPLEMENTATIONS[way])
    Noise(1.3, seed=2).fill(params)
    gradients = [x.grad.clone() for x in params]
    optimizer.step()
    for x, gradient in zip(params, gradients, strict=True):
        assert torch.equal(x.grad, gradient)


@pytest.mark.parametrize("way", ["single", "fused", "default"])
def test_a_compiled_step_calibrates_too(way):
    torch._dynamo.reset()
    walked = []
    for compiled in (False, True):
        params = starts()
        optimizer = FULD(params, lr=0.01, **AUTO, **IMPLEMENTATIONS[way])
        step = torch.compile(optimizer.step, backend="eager") if compiled else optimizer.step
        for i in range(6):
            Noise(1.4, seed=i).fill(params)
            step()
        walked.append((params, known(params, optimizer)))
    for one, two in zip(*walked, strict=True):
        for x, y in zip(one, two, strict=True):
            assert torch.equal(x, y)


def test_lr_may_be_a_tensor_and_follow_a_schedule():
    def walked(lr):
        params = starts()
        optimizer = FULD(params, lr=lr, **AUTO)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.02, total_steps=30)
        noise = Noise(1.4)
        for _ in range(25):
            noise.lead(params, optimizer, 1)
            schedule.step()
        return params

    for x, y in zip(walked(0.01), walked(torch.tensor(0.01)), strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("way", ["fused"])
def test_a_scaler_unscales_and_skips(way):
    params, optimizer = led(1.4, **IMPLEMENTATIONS[way])
    others, other = led(1.4, **IMPLEMENTATIONS[way])
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    Noise(1.4, seed=2).fill(params)
    for x, y in zip(params, others, strict=True):
        y.grad = scaler.scale(x.grad.clone())
    optimizer.step()
    scaler.step(other)
    scaler.update()
    for x, y in zip(params, others, strict=True):
        assert torch.equal(x, y)
    before = [t.clone() for t in (*others, *known(others, other))]
    for x in others:
        x.grad = torch.full_like(x, math.inf)
    scaler.step(other)
    for was, t in zip(before, (*others, *known(others, other)), strict=True):
        assert torch.equal(was, t)


def test_many_threads_step_as_one_does():
    def walked(threads):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            params, optimizer = led(steps=5, shapes=[(400, 300), (100,), (301, 299)])
        finally:
            torch.set_num_threads(before)
        return [*params, *known(params, optimizer)]

    for one, two in zip(walked(1), walked(3), strict=True):
        assert torch.equal(one, two)


def test_native_steps_ask_for_as_many_of_everything():
    with pytest.raises(ValueError, match="calibrations and tensors must be equal"):
        _native.AutoStep().step(
            "float32", [0], [0], [0], [0], [], 0.1, 0.9, None, 0.0, False, False, False, 1
        )
