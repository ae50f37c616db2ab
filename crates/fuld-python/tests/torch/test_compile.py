"""The step under torch.compile."""

import pytest

from tests.torch.walk import IMPLEMENTATIONS, draw

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402

OPTIONS = [
    {"alpha": 1.5, "scale": 0.3},
    {"alpha": 1.5, "weight_decay": 0.1, "nesterov": True, "maximize": True},
    {"form": "paper", "scale": 0.1, "momentum": 0.0},
    {"alpha": 1.2, "weight_decay": 0.1, "decoupled_weight_decay": True},
    {"alpha": 2.0},
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


@pytest.mark.parametrize("implementation", ["single", "foreach", "fused", "default"])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("tensor", [False, True])
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
    settings = {"alpha": 1.5, **IMPLEMENTATIONS[implementation]}
    counts = []
    for steps in (3, 9):
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        led(True, steps, {"lr": torch.tensor(0.03), **settings}, backend="aot_eager")
        counts.append(torch._dynamo.utils.counters["stats"]["unique_graphs"])
    assert counts[0] == counts[1] > 0
    assert not torch._dynamo.utils.counters["graph_break"]


def test_the_default_compiler():
    settings = {"alpha": 1.5, "scale": 0.3, "foreach": True}
    try:
        got = led(True, 3, {"lr": torch.tensor(0.03), **settings})
    except torch._inductor.exc.InductorError as error:
        pytest.skip(f"inductor does not work here: {error}")
    expected = led(False, 3, {"lr": torch.tensor(0.03), **settings})
    for x, y in zip(expected, got, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-6)
