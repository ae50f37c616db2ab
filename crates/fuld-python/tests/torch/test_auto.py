"""alpha="auto" and scale="auto": what is found, and the step that follows from it."""

import math
from typing import Any

import fuld
import numpy as np
import pytest

from tests.torch.walk import COMMON, IMPLEMENTATIONS

torch = pytest.importorskip("torch")
from fuld import _native  # noqa: E402
from fuld.torch import FULD, Calibration, TailMonitor  # noqa: E402

SHAPES = [(70, 33), (100,), (5,), ()]
AUTO: dict[str, Any] = {"alpha": "auto", "scale": "auto"}
WAYS = ["single", "foreach", "fused", "default"]


class Noise:
    """Stable gradients about 0.01, the same for the same seed; alpha = 2 is Gaussian."""

    def __init__(self, alpha, scale=0.1, seed=1):
        self.law, self.scale = fuld.SymmetricStable(alpha), scale
        self.random = np.random.default_rng(seed)

    def fill(self, params):
        for x in params:
            draws = self.law.rvs(tuple(x.shape), random_state=self.random)
            gradient = 0.01 + self.scale * torch.as_tensor(np.asarray(draws))
            x.grad = gradient.to(x.dtype).to(x.device)

    def lead(self, params, optimizer, steps):
        for _ in range(steps):
            self.fill(params)
            optimizer.step()


def starts(shapes=SHAPES, dtype=torch.float32):
    random = torch.Generator().manual_seed(3)
    return [torch.randn(s, generator=random, dtype=torch.float64).to(dtype) for s in shapes]


def led(noise=1.4, steps=40, shapes=SHAPES, dtype=torch.float32, **settings):
    params = starts(shapes, dtype)
    optimizer = FULD(params, **{"lr": 0.01, **AUTO, **settings})
    Noise(noise).lead(params, optimizer, steps)
    return params, optimizer


def known(params, optimizer):
    return [optimizer.state[x]["calibration"] for x in params]


@pytest.mark.parametrize("alpha", [1.2, 1.5, 1.8])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_the_noise_is_found(alpha, momentum):
    """At 400 steps alpha scatters by 0.02 between seeds: a false alarm has a chance of 1e-6."""
    _, optimizer = led(alpha, steps=400, shapes=[(200, 100)], momentum=momentum)
    found = optimizer.calibration()["0"]
    assert found.noise_alpha == pytest.approx(alpha, abs=0.1)
    assert found.noise_sigma == pytest.approx(0.1, rel=0.1)
    assert found.alpha == pytest.approx(alpha, abs=0.1)
    # Jumps of noise are kept out of the momentum, of which little bends then.
    assert found.bent < 0.05
    assert 0.05 < found.bend < 5
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"momentum": 0.0},
        {"nesterov": True, "maximize": True},
        {"weight_decay": 0.1, "decoupled_weight_decay": True},
        {"alpha": 1.5},
        {"scale": 0.1},
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
    scale = found.bend * (1 - 0.9) ** (1 / found.alpha)
    fixed = FULD([before], lr=0.01, alpha=found.alpha, scale=scale)
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


def test_alpha_that_is_given():
    _, optimizer = led(1.3, steps=100, alpha=1.3)
    found = optimizer.calibration()["0"]
    assert found.alpha == pytest.approx(1.3)
    assert found.noise_alpha == pytest.approx(1.3, abs=0.15)


def test_a_scale_that_is_given():
    """The bend is where the scale and the alpha that was found put it, and nothing is limited."""
    _, optimizer = led(1.3, steps=100, scale=0.2)
    found = optimizer.calibration()["0"]
    assert found.bend == pytest.approx(0.2 * 0.1 ** (-1 / found.alpha), rel=1e-6)
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
    assert all(math.isnan(c.noise_sigma) for c in optimizer.calibration().values())
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
    assert found.noise_sigma == pytest.approx(0.1, rel=0.2)
    assert math.isfinite(found.bend)
    lost = ~params[0].isfinite()
    # An infinite gradient is limited like others; NaN is lost, as it is with SGD.
    assert lost.sum() == (20 if math.isnan(bad) else 0)


@pytest.mark.parametrize("way", WAYS)
def test_parameters_without_gradients(way):
    params = starts([(70, 33), (100,)])
    optimizer = FULD(params, lr=0.01, **AUTO, **IMPLEMENTATIONS[way])
    Noise(1.4).lead(params[:1], optimizer, 10)
    assert set(optimizer.calibration()) == {"0"}
    assert torch.equal(params[1], starts([(70, 33), (100,)])[1])
    Noise(1.4).lead(params[1:], optimizer, 10)
    assert set(optimizer.calibration()) == {"0", "1"}


@pytest.mark.parametrize("way", WAYS)
def test_groups_of_all_kinds(way):
    """A group does what it does alone."""
    settings = [AUTO, {"alpha": 1.4, "scale": "auto"}, {"alpha": 1.4, "scale": 0.1}, {"alpha": 2.0}]

    def walked(chosen):
        params = [starts([(40, 30)])[0] for _ in settings]
        groups = [{"params": [params[i]], **settings[i]} for i in chosen]
        optimizer = FULD(groups, lr=0.01, **IMPLEMENTATIONS[way])
        for step in range(20):
            for x in params:
                Noise(1.4, seed=step).fill([x])
            optimizer.step()
        return params, optimizer

    together, optimizer = walked(range(4))
    assert set(optimizer.calibration()) == {"0", "1"}
    for i in range(4):
        alone, _ = walked([i])
        assert torch.equal(together[i], alone[i])
        assert not any(torch.equal(together[i], together[j]) for j in range(i))


@pytest.mark.parametrize("way", WAYS)
def test_order_in_memory_and_complex_numbers(way):
    """Parameters that lie otherwise are stepped as the same numbers in order are."""
    x = starts([(30, 40)])[0]
    lying = {
        "transposed": (x.clone(), x.t().contiguous().t()),
        "with gaps": (x.clone(), torch.zeros(30, 80)[:, ::2].copy_(x)),
    }
    for what, (plain, other) in lying.items():
        order = plain.t().contiguous() if what == "transposed" else plain
        optimizers = [FULD([t], lr=0.01, **AUTO, **IMPLEMENTATIONS[way]) for t in (order, other)]
        for step in range(12):
            Noise(1.4, seed=step).fill([order])
            other.grad = order.grad.t() if what == "transposed" else order.grad
            if step % 2:
                # Gradients need not lie as their parameters do.
                other.grad = other.grad.contiguous()
            for optimizer in optimizers:
                optimizer.step()
        assert torch.equal(order.t() if what == "transposed" else order, other), what
    pairs = starts([(30, 20, 2)])[0]
    z = torch.view_as_complex(pairs.clone())
    optimizers = [FULD([t], lr=0.01, **AUTO, **IMPLEMENTATIONS[way]) for t in (pairs, z)]
    for step in range(12):
        Noise(1.4, seed=step).fill([pairs])
        z.grad = torch.view_as_complex(pairs.grad)
        for optimizer in optimizers:
            optimizer.step()
    assert torch.equal(torch.view_as_real(z), pairs)


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


REFUSED = [
    ({**AUTO, "form": "paper"}, 'alpha="auto" and scale="auto" needs form=\'matched\''),
    ({"alpha": "auto", "form": "paper"}, "alpha=\"auto\" needs form='matched', got 'paper'"),
    ({"alpha": "atuo"}, "alpha must be a number or 'auto', got 'atuo'"),
    ({"scale": "Auto"}, "scale must be a number or 'auto', got 'Auto'"),
    ({"lr": "auto"}, "lr must be a number, got 'auto'"),
    ({"momentum": "auto"}, "momentum must be a number, got 'auto'"),
    ({**AUTO, "momentum": 1.0}, 'momentum must be below 1 with alpha="auto"'),
    ({**AUTO, "capturable": True}, 'capturable=True does not go with alpha="auto"'),
    ({"scale": "auto", "differentiable": True}, "differentiable=True does not go with scale="),
    ({"alpha": "auto", "scale": 0.0}, "scale must be positive and finite, got 0"),
    ({"alpha": "auto", "scale": 1e-300}, "the scale leaves single precision no room"),
    ({"alpha": 2.1, "scale": "auto"}, "0.1 <= alpha <= 2, got 2.1"),
]


@pytest.mark.parametrize(("settings", "says"), REFUSED)
def test_what_does_not_go_together(settings, says):
    with pytest.raises((ValueError, TypeError)) as refused:
        FULD([torch.zeros(2)], **settings)
    assert says in str(refused.value)


def test_settings_changed_to_what_does_not_go_are_refused_at_the_step():
    params, optimizer = led(steps=2)
    optimizer.param_groups[0]["form"] = "paper"
    with pytest.raises(ValueError, match="needs form='matched'"):
        Noise(1.4).lead(params, optimizer, 1)


def test_the_paper_has_no_auto():
    alpha: Any = "auto"
    with pytest.raises(ValueError, match="the paper's form has no alpha='auto'"):
        FULD.from_paper([torch.zeros(2)], 0.1, 0.1, alpha)


def test_sparse_gradients_are_refused_and_change_nothing():
    x = torch.ones(3)
    x.grad = torch.ones(3).to_sparse()
    optimizer = FULD([x], **AUTO)
    with pytest.raises(RuntimeError, match="does not support sparse gradients"):
        optimizer.step()
    assert not optimizer.state


def test_the_report():
    model = torch.nn.Linear(40, 30)
    optimizer = FULD(model.parameters(), lr=0.01, **AUTO)
    assert "nothing is calibrated yet" in str(optimizer.calibration())
    Noise(1.3).lead(list(model.parameters()), optimizer, 60)
    report = optimizer.calibration(model)
    assert list(report) == ["weight", "bias"]
    assert all(isinstance(found, Calibration) for found in report.values())
    lines = str(report).splitlines()
    heads = "parameter noise alpha noise sigma alpha bend limit bent"
    assert " ".join(lines[0].split()) == heads
    assert [line.split()[0] for line in lines[2:]] == ["weight", "bias"]
    assert f"{report['weight'].noise_alpha:.2f}" in lines[2]


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_monitor_counts_against_the_bend_that_was_found(momentum, groups):
    """Of two tensors with the same noise in other units each has its own bend.

    What bends is a lasting gradient in a sixth of the columns.
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
    assert found["1"].bend == pytest.approx(128 * found["0"].bend, rel=0.3)
    for name in ("0", "1"):
        # Without momentum the limit is below the bend.
        assert (0.02 if momentum else -1) < seen[name].bent < (0.5 if momentum else 0.05)
        assert seen[name].bent == pytest.approx(found[name].bent, abs=0.05)


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
    with pytest.raises(ValueError, match="as many calibrations as tensors"):
        _native.AutoStep().step(
            "float32", [0], [0], [0], [0], [], 0.1, 0.9, None, 0.0, False, False, False, 1
        )
