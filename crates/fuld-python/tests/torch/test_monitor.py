"""The monitor beside an optimizer, and what it shows."""

import math

import pytest

torch = pytest.importorskip("torch")

from fuld.torch import TailMonitor  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from tests.torch.noise import StableGradients, parameters, sgd_with_knee, watched  # noqa: E402


def test_names():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1, bias=False))
    named = ["0.weight", "0.bias", "1.weight"]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    assert list(TailMonitor(optimizer).report()) == ["0", "1", "2"]
    assert list(TailMonitor(optimizer, model).report()) == named
    assert list(TailMonitor(optimizer, model.named_parameters()).report()) == named
    assert list(TailMonitor(optimizer, ["a", "b", "c"]).report()) == ["a", "b", "c"]
    own = torch.optim.SGD(model.named_parameters(), lr=0.1)
    assert list(TailMonitor(own).report()) == named


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"names": ["a"]}, ValueError, "1 names for the 2 parameters"),
        ({"names": ["a", "a"]}, ValueError, "'a' 2 times"),
        ({"names": "ab"}, TypeError, "got 'ab'"),
        ({"names": [1, 2]}, TypeError, "entry of type int"),
        ({"every": 0}, ValueError, "every must be at least 1"),
        ({"every": 1.5}, TypeError, "every must be a whole number, got 1.5"),
        ({"sample": 0}, ValueError, "sample must be at least 1"),
        ({"half_life": 0}, ValueError, "half_life must be above 0 steps, got 0"),
        ({"half_life": math.nan}, ValueError, "half_life must be above 0 steps, got nan"),
        ({"half_life": "long"}, TypeError, "half_life must be a number, got 'long'"),
    ],
)
def test_refuses(settings, error, words):
    with pytest.raises(error, match=words):
        watched(2, 3, **settings)


def test_needs_an_optimizer():
    with pytest.raises(TypeError, match=r"must be a torch\.optim\.Optimizer, such .* got Linear"):
        TailMonitor(torch.nn.Linear(2, 2))


class AroundAnother(torch.optim.Optimizer):  # type: ignore[misc, name-defined, unused-ignore]
    """As some libraries make them: an optimizer in name, whose hooks never run."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    def __getattr__(self, name):
        raise AttributeError(name)


class OfItsOwn(torch.optim.Optimizer):  # type: ignore[misc, name-defined, unused-ignore]
    def __init__(self):
        pass


def test_needs_the_optimizer_inside():
    _, optimizer, _ = watched(3)
    schedule = torch.optim.lr_scheduler.ConstantLR(optimizer)
    for outer in (AroundAnother(optimizer), schedule):
        kind = type(outer).__name__
        words = rf"got {kind} around one; give the optimizer inside, \.optimizer"
        with pytest.raises(TypeError, match=words):
            TailMonitor(outer)
        assert TailMonitor(outer.optimizer).steps == 0
    with pytest.raises(TypeError, match=r"got OfItsOwn, which does not call Optimizer\.__init__"):
        TailMonitor(OfItsOwn())


def test_steps_as_without_it():
    ends = []
    for watch in (False, True):
        torch.manual_seed(0)
        model = torch.nn.Linear(5, 5)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        if watch:
            TailMonitor(optimizer)
        for _ in range(10):
            optimizer.zero_grad()
            model(torch.randn(4, 5)).square().sum().backward()
            optimizer.step()
        ends.append(model.weight.detach().clone())
    assert torch.equal(*ends)


def test_looks_until_it_is_detached():
    params, optimizer, monitor = watched(50)
    noise = StableGradients(1.5, params)
    with monitor as entered:
        assert entered is monitor
        noise.train(optimizer, 8)
    noise.train(optimizer, 8)
    assert monitor.total().steps == monitor.steps == 8
    monitor.detach()


def test_looks_at_four_steps_of_every_so_many():
    params, optimizer, monitor = watched(50, every=3)
    StableGradients(1.5, params).train(optimizer, 36)
    assert (monitor.steps, monitor.total().steps) == (36, 12)


def test_nothing_waits_for_the_device():
    class NoWaiting(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            name = str(function)
            for waiting in ("_local_scalar_dense", "nonzero", "masked_select", "equal.default"):
                assert waiting not in name, name
            return function(*args, **(kwargs or {}))

    (param,) = params = parameters(300)
    optimizer = sgd_with_knee(params, form="matched", momentum=0.5, noise_scale=0.5, alpha=1.5)
    monitor = TailMonitor(optimizer)
    noise = StableGradients(1.5, params)
    for _ in range(8):
        noise.fill()
        with NoWaiting():
            monitor._sample_step()
    assert monitor.total().steps == 8
    assert param.grad is not None


def test_a_compiled_step():
    params, optimizer, monitor = watched(40)
    step = torch.compile(optimizer.step, backend="eager")
    noise = StableGradients(1.5, params)
    for _ in range(8):
        noise.fill()
        step()
    assert monitor.total().steps == 8


def test_numbers_to_log():
    params, optimizer, monitor = watched(50, 50, names=["a", "b"])
    counted = ("nonfinite", "nonfinite_momenta")
    assert set(monitor.as_dict()) == {
        f"tail/{who}{what}" for who in ("a/", "b/", "") for what in counted
    }
    StableGradients(1.5, params).train(optimizer, 40)
    numbers = monitor.as_dict("noise/")
    assert numbers["noise/a/alpha"] == monitor.report()["a"].alpha
    assert numbers["noise/noise_scale_error"] == monitor.total().noise_scale_error
    assert all(isinstance(value, (int, float)) for value in numbers.values())
    # SGD has no knee.
    assert not any("beyond_knee" in name for name in numbers)


def test_table_reads_well():
    params, optimizer, monitor = watched(50, 50, names=["a", "layers." * 10 + "weight"])
    StableGradients(1.5, params).train(optimizer, 40)
    lines = str(monitor).splitlines()
    assert lines[0].split() == ["parameter", "alpha", "noise", "scale", "spread", "sample", "steps"]
    assert len({len(line) for line in lines}) == 1
    assert "…yers.layers.layers.layers.layers.weight" in lines[3]
    assert lines[4].startswith("all ")
    assert repr(monitor) == "<TailMonitor of SGD of 2 parameters, 40 steps>"


def test_table_of_a_parameter_called_all():
    params, optimizer, monitor = watched(50, 60, names=["all", "b"])
    StableGradients(1.5, params).train(optimizer, 4)
    samples = [line.split()[-2] for line in str(monitor).splitlines()[2:]]
    assert samples == ["50", "60", "110"]
