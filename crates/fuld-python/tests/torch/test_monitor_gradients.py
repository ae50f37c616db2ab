"""Which gradients the monitor sees, whatever optimizers do with them."""

import math

import pytest

torch = pytest.importorskip("torch")

from fuld.torch import TailMonitor  # noqa: E402

from tests.torch.noise import StableGradients, parameters, same, sgd_with_knee, watched  # noqa: E402


@pytest.mark.parametrize("shape", [(50, 50), (100,), (3, 1000), (7, 11, 13)])
def test_takes_few_coordinates_spread_over_all_rows_and_columns(shape):
    (param,), optimizer, monitor = watched(shape, sample=50)
    where = torch.arange(param.numel(), dtype=torch.float32).reshape(shape)
    param.grad = where
    optimizer.step()
    (samples,) = monitor._estimates._samples
    taken = samples.tails.rows[0].to(int)
    assert 25 <= len(taken) <= 50
    assert taken[0] == 0
    assert taken[-1] > param.numel() * 0.9
    assert len(set(taken.tolist())) == len(taken)
    for dim, size in enumerate(shape):
        meshes = torch.meshgrid(*[torch.arange(n) for n in shape], indexing="ij")
        met = len(set(meshes[dim].reshape(-1)[taken].tolist()))
        assert met >= min(size, len(taken)) * 0.5


def test_memory_order_does_not_matter():
    param = torch.nn.Parameter(torch.zeros(4, 8, 5, 5).to(memory_format=torch.channels_last))
    optimizer = torch.optim.SGD([param], lr=0.0)
    monitor = TailMonitor(optimizer, sample=100)
    random = torch.Generator().manual_seed(0)
    for step in range(40):
        grad = torch.empty(4, 8, 5, 5).cauchy_(generator=random)
        if step >= 20:
            # Neither dense nor contiguous.
            grad = grad.repeat_interleave(2, dim=0)[::2]
        else:
            grad = grad.to(memory_format=torch.channels_last)
        param.grad = grad
        optimizer.step()
    # Four deviations: one false alarm in 15000.
    assert abs(monitor.total().alpha - 1) < 4 * monitor.total().alpha_error


def test_zeros_and_numbers_that_are_not_finite_are_left_out_and_counted():
    (param,), optimizer, monitor = watched(100)
    noise = StableGradients(1.5, [param])
    for _ in range(40):
        noise.fill()
        param.grad[:25] = 0
        param.grad[25] = math.nan
        param.grad[26:28] = math.inf
        optimizer.step()
    tail = monitor.total()
    assert tail.nonfinite == 30
    assert tail.zeros == pytest.approx(25 / 97)
    assert 1 < tail.alpha < 2


def test_parameters_without_gradients():
    (always, sometimes, never), optimizer, monitor = watched(40, 40, 40)
    noise = StableGradients(1.5, [always, sometimes])
    for step in range(40):
        noise.fill()
        if step // 4 % 2:
            sometimes.grad = None
        optimizer.step()
    by_name = monitor.report()
    assert [by_name[name].steps for name in "012"] == [40, 20, 0]
    assert [by_name[name].nonfinite for name in "012"] == [0, 0, 0]
    assert by_name["2"].note == "no gradients yet"
    assert [by_name[name].coordinates for name in "012"] == [40, 40, 0]
    # All that are looked at, not all that there are.
    assert monitor.total().coordinates == 80
    assert str(monitor).splitlines()[-1].split()[-2:] == ["80", "40"]
    # Nor was one ever not finite because it was not there.
    past = [tail.nonfinite for _, tails in monitor.history() for tail in tails.values()]
    assert set(past) == {0}
    assert never.grad is None
    assert "no gradients yet" in str(monitor)


def test_sparse_gradients_are_left_out_with_a_word():
    table = torch.nn.Embedding(10, 3, sparse=True)
    optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
    monitor = TailMonitor(optimizer, table)
    for _ in range(4):
        optimizer.zero_grad()
        table(torch.tensor([1, 2])).sum().backward()
        optimizer.step()
    assert monitor.report()["weight"].note == "sparse gradients"
    assert monitor.total().note == "sparse gradients"


def test_a_parameter_of_another_size_is_looked_at_afresh():
    (param,), optimizer, monitor = watched(200)
    StableGradients(1.5, [param]).train(optimizer, 6)
    param.data = torch.zeros(70)
    optimizer.state.clear()
    StableGradients(1.5, [param]).train(optimizer, 20)
    assert monitor.total().coordinates == 70


def test_closures():
    (param,), optimizer, monitor = watched(500)
    noise = StableGradients(1.5, [param])
    plain = torch.optim.SGD([param], lr=0.0)
    seen_plain = TailMonitor(plain)
    noise.train(plain, 40)

    def closure():
        optimizer.zero_grad()
        noise.fill()
        return torch.tensor(2.5)

    noise = StableGradients(1.5, [param])
    for step in range(40):
        # Gradients from before the closure must not be seen.
        param.grad = torch.full((500,), float(step))
        loss = optimizer.step(closure) if step % 2 else optimizer.step(closure=closure)
        assert loss == 2.5
    assert same(monitor.total(), seen_plain.total())


def test_gradients_that_a_scaler_left_scaled():
    params, optimizer, monitor = watched(300)
    noise = StableGradients(1.5, params)
    (scaled,) = parameters(300)
    # A fused step unscales as it goes.
    fused = torch.optim.SGD([scaled], lr=0.0, fused=True)
    monitor_of_fused = TailMonitor(fused)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=7)
    for _ in range(40):
        noise.fill()
        optimizer.step()
        fused.zero_grad()
        scaler.scale((scaled * params[0].grad).sum()).backward()
        scaler.step(fused)
        scaler.update()
    assert scaler.get_scale() > 1024
    assert monitor_of_fused.total().noise_scale == pytest.approx(
        monitor.total().noise_scale, rel=1e-6
    )


@pytest.mark.parametrize(
    ("settings", "momentum_knee"),
    [
        (
            {"form": "matched", "momentum": 0.75, "noise_scale": 0.5, "alpha": 1.5},
            0.5 * 0.25 ** (-1 / 1.5),
        ),
        ({"form": "matched", "momentum": 0.0, "noise_scale": 0.5, "alpha": 1.5}, 0.5),
        ({"form": "paper", "momentum": 0.5, "beta": 0.2**-1.5, "alpha": 1.5, "lr": 0.01}, 2.0),
        (
            {
                "form": "paper",
                "momentum": 0.5,
                "beta": 0.2**-1.5,
                "alpha": 1.5,
                "lr": torch.tensor(0.01),
            },
            2.0,
        ),
        ({"form": "matched", "momentum": 0.75, "noise_scale": 0.5, "alpha": 2.0}, math.inf),
    ],
)
def test_share_of_coordinates_beyond_the_knee(settings, momentum_knee):
    (param,) = params = parameters(400)
    momentum = settings["momentum"]
    optimizer = sgd_with_knee(params, **settings)
    monitor = TailMonitor(optimizer)
    for step in range(4):
        param.grad = torch.linspace(-1, 1, 400) * (step != 3 or momentum == 0)
        optimizer.step()
    # After three equal gradients; without momentum it is the last gradient.
    buffer = torch.linspace(-1, 1, 400) * (1 + momentum + momentum**2)
    expected = (buffer.abs() > momentum_knee).double().mean().item()
    assert monitor.report()["0"].beyond_knee == pytest.approx(expected)
    assert (0 < expected < 1) == (settings["alpha"] < 2 and momentum_knee < 2)


@pytest.mark.parametrize("alpha", [1.5, 2.0])
def test_momenta_that_are_not_finite_are_counted(alpha):
    params = parameters(20, 20, 20, 20, dtype=torch.float16)
    optimizer = sgd_with_knee(params, form="matched", momentum=0.9, noise_scale=1.0, alpha=alpha)
    optimizer.add_param_group({"params": parameters(5), "momentum": 0.0})
    monitor = TailMonitor(optimizer, ["a", "b", "c", "never", "no momentum"])
    for _ in range(8):
        for param in (*params[:3], optimizer.param_groups[1]["params"][0]):
            param.grad = torch.randn_like(param)
        # Each fits, their sum does not.
        params[0].grad[:2] = 6e4
        params[1].grad[0] = 6e4
        optimizer.step()
    optimizer.state[params[1]]["momentum_buffer"][0] = math.nan
    for _ in range(4):
        params[0].grad[:2] = 0
        optimizer.step()
    by_name = monitor.report()
    lost = {name: tail.nonfinite_momenta for name, tail in by_name.items()}
    # How many they are, not how often they were met.
    assert lost == {"a": 2, "b": 1, "c": 0, "never": 0, "no momentum": 0}
    assert monitor.as_dict()["tail/a/nonfinite_momenta"] == 2
    assert {tail.nonfinite for tail in by_name.values()} == {0}
    last = str(monitor).splitlines()[-1]
    assert last == "3 momenta are not finite among those sampled: in a, b"
    optimizer.state.clear()
    for _ in range(8):
        params[1].grad[0] = 0
        optimizer.step()
    assert monitor.total().nonfinite_momenta == 0
    assert "momenta" not in str(monitor)
