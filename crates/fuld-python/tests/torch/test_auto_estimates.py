"""The estimates of alpha="auto" and noise_scale="auto", and their report."""

import math

import pytest

torch = pytest.importorskip("torch")
from fuld.torch import FULD, Calibration, TailMonitor  # noqa: E402

from tests.torch.calibrated import AUTO, WAYS, Noise, led, starts  # noqa: E402
from tests.torch.walk import COMMON, IMPLEMENTATIONS  # noqa: E402


@pytest.mark.parametrize("alpha", [1.2, 1.5, 1.8])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_the_noise_is_found(alpha, momentum):
    """At 400 steps alpha scatters by 0.02 between seeds: a false alarm has a chance of 1e-6."""
    _, optimizer = led(alpha, steps=400, shapes=[(200, 100)], momentum=momentum)
    found = optimizer.calibration()["0"]
    assert found.noise_alpha == pytest.approx(alpha, abs=0.1)
    assert found.noise_scale == pytest.approx(0.1, rel=0.1)
    assert found.alpha == pytest.approx(alpha, abs=0.1)
    # The limit keeps jumps out of the momentum, so that little of it is beyond the knee.
    assert found.beyond_knee < 0.05
    assert 0.05 < found.momentum_knee < 5
    assert 0.02 < found.limit < 5


@pytest.mark.parametrize("options", COMMON.values(), ids=COMMON)
@pytest.mark.parametrize("way", ["single", "foreach", "fused"])
def test_gaussian_noise_makes_it_sgd_to_the_bit(way, options):
    """alpha starts at 1.85, so SGD takes over where it has reached 2."""
    params, optimizer = led(2.0, steps=200, shapes=[(200, 100)], **options, **IMPLEMENTATIONS[way])
    assert optimizer.calibration()["0"].alpha == 2
    others = [x.clone() for x in params]
    sgd = torch.optim.SGD(others, lr=0.01, **options, **IMPLEMENTATIONS[way])
    for x, y in zip(params, others, strict=True):
        if "momentum_buffer" in optimizer.state[x]:
            sgd.state[y]["momentum_buffer"] = optimizer.state[x]["momentum_buffer"].clone()
    Noise(2.0, seed=2).lead(params, optimizer, 5)
    Noise(2.0, seed=2).lead(others, sgd, 5)
    assert optimizer.calibration()["0"].alpha == 2
    for x, y in zip(params, others, strict=True):
        assert torch.equal(x, y)


def test_alpha_that_is_given():
    _, optimizer = led(1.3, steps=100, alpha=1.3)
    found = optimizer.calibration()["0"]
    assert found.alpha == pytest.approx(1.3)
    assert found.noise_alpha == pytest.approx(1.3, abs=0.15)


def test_a_scale_that_is_given():
    """The knee is where the scale and the alpha that was found put it, and nothing is limited."""
    _, optimizer = led(1.3, steps=100, noise_scale=0.2)
    found = optimizer.calibration()["0"]
    assert found.momentum_knee == pytest.approx(0.2 * 0.1 ** (-1 / found.alpha), rel=1e-6)
    assert math.isinf(found.limit)
    assert found.alpha < 1.6


@pytest.mark.parametrize("way", WAYS)
def test_zero_gradients_move_nothing_and_teach_nothing(way):
    params = starts()
    optimizer = FULD(params, lr=0.1, **AUTO, **IMPLEMENTATIONS[way])
    for _ in range(9):
        for x in params:
            x.grad = torch.zeros_like(x)
        optimizer.step()
    for x, y in zip(params, starts(), strict=True):
        assert torch.equal(x, y)
    assert all(math.isnan(c.noise_scale) for c in optimizer.calibration().values())
    Noise(1.3).lead(params, optimizer, 120)
    assert optimizer.calibration()["0"].noise_alpha == pytest.approx(1.3, abs=0.15)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_does_not_poison_the_calibration(way, bad):
    params, optimizer = led(1.4, shapes=[(50, 20)], **IMPLEMENTATIONS[way])
    noise = Noise(1.4, seed=2)
    noise.fill(params)
    params[0].grad[7] = bad
    optimizer.step()
    noise.lead(params, optimizer, 80)
    found = optimizer.calibration()["0"]
    assert found.noise_alpha == pytest.approx(1.4, abs=0.15)
    assert found.noise_scale == pytest.approx(0.1, rel=0.2)
    assert math.isfinite(found.momentum_knee)
    lost = ~params[0].isfinite()
    # An infinite gradient is limited like others; NaN is lost, as it is with SGD.
    assert lost.sum() == (20 if math.isnan(bad) else 0)


def test_the_report():
    model = torch.nn.Linear(40, 30)
    optimizer = FULD(model.parameters(), lr=0.01, **AUTO)
    assert "no calibration yet" in str(optimizer.calibration())
    Noise(1.3).lead(list(model.parameters()), optimizer, 60)
    report = optimizer.calibration(model)
    assert list(report) == ["weight", "bias"]
    assert all(isinstance(found, Calibration) for found in report.values())
    lines = str(report).splitlines()
    heads = "parameter noise alpha noise scale alpha momentum knee limit beyond knee"
    assert " ".join(lines[0].split()) == heads
    assert [line.split()[0] for line in lines[2:]] == ["weight", "bias"]
    assert f"{report['weight'].noise_alpha:.2f}" in lines[2]


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_monitor_counts_against_the_estimated_knee(momentum, groups):
    """Two tensors with the same noise in different units have different knees.

    A constant gradient in a sixth of the columns is beyond it.
    """
    params = starts([(30, 30), (30, 30)])
    given = params if groups == 1 else [{"params": [x]} for x in params]
    optimizer = FULD(given, lr=0.0, momentum=momentum, **AUTO)
    monitor = TailMonitor(optimizer, half_life=14)
    for step in range(100):
        for x, scale in zip(params, (1.0, 128.0), strict=True):
            Noise(1.5, scale, seed=step).fill([x])
            x.grad -= 0.01
            x.grad[:, :5] += 5 * scale
        optimizer.step()
    seen, found = monitor.report(), optimizer.calibration()
    assert found["1"].momentum_knee == pytest.approx(128 * found["0"].momentum_knee, rel=0.3)
    for name in ("0", "1"):
        # Without momentum the limit is below the knee.
        assert (0.02 if momentum else -1) < seen[name].beyond_knee < (0.5 if momentum else 0.05)
        assert seen[name].beyond_knee == pytest.approx(found[name].beyond_knee, abs=0.05)
