"""Calibrated parameters of all kinds: without gradients, in groups, in other memory orders."""

import pytest

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402

from tests.torch.calibrated import AUTO, WAYS, Noise, starts  # noqa: E402
from tests.torch.walk import IMPLEMENTATIONS  # noqa: E402


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
    settings = [
        AUTO,
        {"alpha": 1.4, "noise_scale": "auto"},
        {"alpha": 1.4, "noise_scale": 0.1},
        {"alpha": 2.0},
    ]

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
