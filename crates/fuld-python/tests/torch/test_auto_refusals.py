"""Settings and gradients that a calibrated optimizer refuses."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402

from tests.torch.calibrated import AUTO, Noise, led  # noqa: E402

REFUSED = [
    ({**AUTO, "form": "paper"}, 'alpha="auto" and noise_scale="auto" requires form=\'matched\''),
    ({"alpha": "auto", "form": "paper"}, "alpha=\"auto\" requires form='matched', got 'paper'"),
    ({"alpha": "atuo"}, "alpha must be a number or 'auto', got 'atuo'"),
    ({"noise_scale": "Auto"}, "noise_scale must be a number or 'auto', got 'Auto'"),
    ({"lr": "auto"}, "lr must be a number, got 'auto'"),
    ({"momentum": "auto"}, "momentum must be a number, got 'auto'"),
    ({**AUTO, "momentum": 1.0}, 'momentum must be below 1 with alpha="auto"'),
    ({**AUTO, "capturable": True}, 'capturable=True does not go with alpha="auto"'),
    (
        {"noise_scale": "auto", "differentiable": True},
        "differentiable=True does not go with noise_scale=",
    ),
    ({"alpha": "auto", "noise_scale": 0.0}, "noise_scale must be positive and finite, got 0"),
    ({"alpha": "auto", "noise_scale": 1e-300}, "the knee is out of range for single precision"),
    ({"alpha": 2.1, "noise_scale": "auto"}, "0.1 <= alpha <= 2, got 2.1"),
]


@pytest.mark.parametrize(("settings", "says"), REFUSED)
def test_what_does_not_go_together(settings, says):
    with pytest.raises((ValueError, TypeError)) as refused:
        FULD([torch.zeros(2)], **settings)
    assert says in str(refused.value)


def test_settings_changed_to_what_does_not_go_are_refused_at_the_step():
    params, optimizer = led(steps=2)
    optimizer.param_groups[0]["form"] = "paper"
    with pytest.raises(ValueError, match="requires form='matched'"):
        Noise(1.4).lead(params, optimizer, 1)


def test_the_paper_has_no_auto():
    alpha: Any = "auto"
    with pytest.raises(ValueError, match="alpha='auto' requires the matched form"):
        FULD.from_paper([torch.zeros(2)], 0.1, 0.1, alpha)


def test_sparse_gradients_are_refused_and_change_nothing():
    x = torch.ones(3)
    x.grad = torch.ones(3).to_sparse()
    optimizer = FULD([x], **AUTO)
    with pytest.raises(RuntimeError, match="does not support sparse gradients"):
        optimizer.step()
    assert not optimizer.state
