"""Estimates of the monitor for gradients with known noise."""

import math

import pytest

torch = pytest.importorskip("torch")

from fuld.torch import TailMonitor  # noqa: E402

from tests.torch.noise import StableGradients, geometric_mean, parameters  # noqa: E402


@pytest.mark.parametrize("alpha", [1.2, 1.5, 1.8])
def test_estimates_alpha_and_noise_scale_under_a_drifting_mean_and_many_scales(alpha):
    # Four deviations each, of three numbers: a false alarm in 5000 seeds.
    (param,) = params = parameters(1000)
    optimizer = torch.optim.SGD(params, lr=0.0)
    monitor = TailMonitor(optimizer, ["p"])
    noise = StableGradients(alpha, params)
    noise.train(optimizer, 240)
    tail = monitor.report()["p"]
    scale = geometric_mean(noise.scales[0])
    assert abs(tail.alpha - alpha) < 4 * tail.alpha_error
    assert abs(tail.noise_scale - scale) < 4 * tail.noise_scale_error
    # The scales are uniform on four decades, and were drawn once.
    assert tail.spread == pytest.approx(float(noise.scales[0].log().std()), abs=0.1)
    assert 0.003 < tail.alpha_error < 0.02
    assert 0.002 < tail.noise_scale_error / tail.noise_scale < 0.02
    assert (tail.steps, tail.coordinates, tail.nonfinite) == (240, 1000, 0)
    # Now and then two of them agree to all digits.
    assert tail.zeros < 1e-3
    assert math.isnan(tail.beyond_knee)
    assert param.grad is not None


def test_gaussian_noise_is_gaussian():
    params = parameters(1000)
    optimizer = torch.optim.SGD(params, lr=0.0)
    monitor = TailMonitor(optimizer)
    StableGradients(2.0, params).train(optimizer, 240)
    tail = monitor.total()
    # Below 2 by four deviations: a false alarm in 30000 seeds.
    assert 2 - 4 * tail.alpha_error < tail.alpha <= 2
    assert tail.alpha_error < 0.02


def test_errors_are_those_of_repeated_trials():
    """Sixty parameters are sixty trials. Bounds are four deviations wide: one alarm in 8000."""
    params = parameters(*[50] * 60)
    optimizer = torch.optim.SGD(params, lr=0.0)
    monitor = TailMonitor(optimizer, half_life=math.inf)
    noise = StableGradients(1.5, params)
    noise.train(optimizer, 120)
    off = [
        ((tail.alpha - 1.5) / tail.alpha_error, math.log(tail.noise_scale / geometric_mean(scale)))
        for tail, scale in zip(monitor.report().values(), noise.scales, strict=True)
    ]
    square = sum(z * z for z, _ in off) / len(off)
    # Mean 1 or a little more, as the error is itself estimated; deviation sqrt(2/60) and such.
    assert 0.4 < square < 1.9
    predicted = sum(
        tail.noise_scale_error / tail.noise_scale for tail in monitor.report().values()
    ) / len(off)
    assert (sum(z * z for _, z in off) / len(off)) ** 0.5 == pytest.approx(predicted, rel=0.4)


def test_what_coordinates_have_in_common_is_in_the_error():
    """Gaussian coordinates times one factor a step: as heavy as the factor, and no surer."""
    (param,) = params = parameters(1000)
    optimizer = torch.optim.SGD(params, lr=0.0)
    monitor = TailMonitor(optimizer)
    random = torch.Generator().manual_seed(5)
    for _ in range(240):
        factor = 1 / torch.randn((), generator=random).abs()
        param.grad = factor * torch.randn(1000, generator=random)
        optimizer.step()
    tail = monitor.total()
    # The ratio of two Gaussians is a Cauchy number.
    assert abs(tail.alpha - 1) < 4 * tail.alpha_error
    assert tail.alpha_error > 0.04


def test_what_is_old_is_forgotten():
    params = parameters(1000)
    optimizer = torch.optim.SGD(params, lr=0.0)
    monitor = TailMonitor(optimizer, half_life=10)
    StableGradients(1.2, params).train(optimizer, 100)
    StableGradients(1.8, params).train(optimizer, 100)
    # A thousandth of the weight is the past's. A false alarm in 15000 seeds.
    assert abs(monitor.total().alpha - 1.8) < 4 * monitor.total().alpha_error


def test_half_precision():
    params = parameters(1000, dtype=torch.bfloat16)
    optimizer = torch.optim.SGD(params, lr=0.0)
    monitor = TailMonitor(optimizer)
    noise = StableGradients(1.5, params)
    for _ in range(240):
        noise.fill()
        # Without a mean gradient, beside which bfloat16 would round the noise away.
        params[0].grad -= (20 * math.cos(noise.step / 300) * noise.scales[0]).bfloat16()
        optimizer.step()
    # Digits cost up to 0.04 here, and chance four deviations of 0.01.
    assert monitor.total().alpha == pytest.approx(1.5, abs=0.08)


def test_bias_of_few_coordinates_is_known_to_be_unsure():
    params = parameters(3)
    optimizer = torch.optim.SGD(params, lr=0.0)
    monitor = TailMonitor(optimizer)
    noise = StableGradients(1.5, params)
    noise.train(optimizer, 3)
    assert monitor.total().note == "no gradients yet"
    noise.train(optimizer, 1)
    assert 0 < monitor.total().alpha <= 2
    assert math.isnan(monitor.total().alpha_error)
    noise.train(optimizer, 36)
    assert monitor.total().alpha_error > 0.1


def test_a_scale_that_changes_with_time_is_no_spread_of_coordinates():
    (param,) = params = parameters(1000)
    optimizer = torch.optim.SGD(params, lr=0.0)
    monitor = TailMonitor(optimizer)
    random = torch.Generator().manual_seed(5)
    for step in range(240):
        param.grad = 0.98**step * torch.empty(1000).cauchy_(generator=random)
        optimizer.step()
    # By 0.98 from one step to the next is too little to look heavier.
    assert abs(monitor.total().alpha - 1) < 4 * monitor.total().alpha_error
    assert monitor.total().spread < 0.25
