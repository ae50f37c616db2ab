"""The step under torch.compile."""

import pytest

from tests.torch.walk import IMPLEMENTATIONS, draw

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402

CASES = [
    ("single", {"alpha": 1.5, "weight_decay": 0.1, "decoupled_weight_decay": True}, True),
    ("foreach", {"alpha": 1.5, "noise_scale": 0.3, "weight_decay": 0.1, "nesterov": True}, True),
    ("foreach", {"form": "paper", "beta": 0.1**-1.75, "momentum": 0.0}, True),
    ("fused", {"alpha": 1.5, "weight_decay": 0.1, "nesterov": True, "maximize": True}, True),
    ("fused", {"alpha": 1.5, "noise_scale": 0.3, "momentum": 0.0}, False),
    ("default", {"alpha": 1.5, "noise_scale": 0.3}, False),
    ("default", {"alpha": 2.0}, False),
]
SHAPES = [(5, 3), (40,), ()]


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()


def led(compiled, steps, settings, **how):
    xs = [draw(shape, steps=0, seed=i)[0].float() for i, shape in enumerate(SHAPES)]
    optimizer = FULD(xs, **settings)
    step = torch.compile(optimizer.step, **how) if compiled else optimizer.step
    for i in range(steps):
        for j, x in enumerate(xs):
            x.grad = draw(x.shape, steps=1, seed=10 * i + j)[1][0].float()
        if isinstance(settings["lr"], torch.Tensor):
            settings["lr"].fill_(0.01 * (i + 1))
        step()
    return xs


@pytest.mark.parametrize(("implementation", "options", "tensor"), CASES)
def test_compiled_step_is_the_step(implementation, options, tensor):
    expected, got = (
        led(
            compiled,
            steps=3,
            settings={
                "lr": torch.tensor(0.03) if tensor else 0.03,
                **options,
                **IMPLEMENTATIONS[implementation],
            },
            backend="aot_eager",
        )
        for compiled in (False, True)
    )
    for x, y in zip(expected, got, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("implementation", ["single", "foreach", "fused"])
def test_a_tensor_lr_is_compiled_for_once(implementation):
    torch._dynamo.utils.counters.clear()
    settings = {"lr": torch.tensor(0.03), "alpha": 1.5, **IMPLEMENTATIONS[implementation]}
    led(True, 6, settings, backend="aot_eager")
    # One graph for the first step, which makes the buffers, and one for all others, as for SGD. The
    # one break is torch's own, before the step begins.
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 2
    assert sum(torch._dynamo.utils.counters["graph_break"].values()) == 1


def test_the_default_compiler():
    settings = {"alpha": 1.5, "noise_scale": 0.3, "foreach": True}
    try:
        got = led(True, 3, {"lr": torch.tensor(0.03), **settings})
    except torch._inductor.exc.InductorError as error:
        pytest.skip(f"inductor does not work here: {error}")
    expected = led(False, 3, {"lr": torch.tensor(0.03), **settings})
    for x, y in zip(expected, got, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-6)
