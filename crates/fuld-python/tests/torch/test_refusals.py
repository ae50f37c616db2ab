"""Wrong settings and tensors: one sentence that names the value."""

import math

import pytest

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402

REFUSED = [
    ({"lr": -0.1}, "lr must be finite and not negative, got -0.1"),
    ({"lr": math.nan}, "lr must be finite and not negative, got nan"),
    ({"lr": math.inf}, "lr must be finite and not negative, got inf"),
    ({"lr": torch.tensor(-0.5)}, "lr must be finite and not negative, got -0.5"),
    ({"lr": torch.ones(2)}, "Tensor lr must be 1-element, got one of shape (2,)"),
    ({"lr": "fast"}, "lr must be a number, got 'fast'"),
    ({"lr": None}, "lr must be a number, got None"),
    ({"momentum": -0.5}, "momentum must be finite and not negative, got -0.5"),
    ({"momentum": 1.0}, "momentum must be below 1, got 1"),
    ({"momentum": math.nan}, "momentum must be finite and not negative, got nan"),
    ({"momentum": -0.5, "alpha": 2}, "momentum must be finite and not negative, got -0.5"),
    ({"momentum": "much"}, "momentum must be a number, got 'much'"),
    ({"alpha": 2.1}, "alpha must satisfy 0.1 <= alpha <= 2, got 2.1"),
    ({"alpha": math.nan}, "alpha must satisfy 0.1 <= alpha <= 2, got nan"),
    ({"alpha": 0.05}, "alpha must satisfy 0.1 <= alpha <= 2, got 0.05"),
    ({"alpha": None}, "alpha must be a number or 'auto', got None"),
    ({"alpha": torch.tensor(1.5)}, "alpha must be a number, got a tensor: only lr may be one"),
    ({"noise_scale": 0.0}, "noise_scale must be positive and finite, got 0"),
    ({"noise_scale": 0.0, "alpha": 2}, "noise_scale must be positive and finite"),
    ({"beta": -1.0, "form": "paper"}, "beta must be positive and finite, got -1"),
    ({"noise_scale": 0.1, "form": "paper"}, "noise_scale belongs to form='matched'"),
    ({"beta": 1.0}, "beta belongs to form='paper', got beta=1.0 with form='matched'"),
    ({"noise_scale": 1e-300}, "the knee is out of range for single precision"),
    ({"momentum": 1.5}, "momentum must be at most 1 for alpha < 2, got 1.5"),
    ({"alpha": "1.5"}, "alpha must be a number or 'auto', got '1.5'"),
    ({"lr": torch.tensor(1j)}, "lr must be a real number"),
    ({"decoupled_weight_decay": 0.1}, "decoupled_weight_decay must be True or False, got 0.1"),
    ({"nesterov": "a"}, "nesterov must be True or False, got 'a'"),
    ({"fused": "a"}, "fused must be True or False, got 'a'"),
    ({"form": "matchd"}, "form must be 'matched' or 'paper', got 'matchd'"),
    ({"weight_decay": -0.1}, "weight_decay must be finite and not negative, got -0.1"),
    ({"weight_decay": math.nan}, "weight_decay must be finite and not negative, got nan"),
    ({"nesterov": True, "momentum": 0}, "nesterov=True requires a momentum above 0"),
    ({"fused": True, "foreach": True}, "fused and foreach cannot both be True: choose one"),
    ({"fused": True, "differentiable": True}, "the fused step is not differentiable: choose one"),
]


@pytest.mark.parametrize(("settings", "says"), REFUSED)
def test_wrong_settings(settings, says):
    with pytest.raises((ValueError, TypeError)) as refused:
        FULD([torch.zeros(2)], **settings)
    assert says in str(refused.value)
    # And in a group of its own, beside one that is right.
    optimizer = FULD([torch.zeros(2)])
    with pytest.raises((ValueError, TypeError)) as refused:
        optimizer.add_param_group({"params": [torch.zeros(3)], **settings})
    assert says in str(refused.value)
    assert len(optimizer.param_groups) == 1


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"eta": 0.0, "gamma": 0.1}, "eta must be positive, got 0.0"),
        ({"eta": 0.1, "gamma": -1.0}, "gamma must not be negative, got -1.0"),
        ({"eta": 0.1, "gamma": 0.1, "beta": math.nan}, "beta must be positive, got nan"),
        ({"eta": 0.1, "gamma": 20.0}, "momentum must be finite and not negative, got -1"),
        ({"eta": 0.1, "gamma": 0.1, "alpha": 2.1}, "0.1 <= alpha <= 2, got 2.1"),
        ({"eta": 0.1, "gamma": 0.1, "alpha": 0.0}, "0.1 <= alpha <= 2, got 0"),
        ({"eta": "a", "gamma": 0.1}, "eta must be a number, got 'a'"),
    ],
)
def test_wrong_settings_of_the_paper(values, says):
    with pytest.raises((ValueError, TypeError)) as refused:
        FULD.from_paper([torch.zeros(2)], **values)
    assert says in str(refused.value)


@pytest.mark.parametrize("implementation", [{}, {"foreach": True}, {"foreach": False}])
def test_sparse_gradients_for_alpha_below_2(implementation):
    x = torch.ones(3)
    x.grad = torch.ones(3).to_sparse()
    optimizer = FULD([x], **implementation)
    with pytest.raises(RuntimeError, match="FULD does not support sparse gradients for alpha < 2"):
        optimizer.step()
    assert torch.equal(x, torch.ones(3))
    assert not optimizer.state


@pytest.mark.parametrize("alpha", [1.5, 2.0])
def test_no_fused_step_on_other_devices(alpha):
    x = torch.ones(3, device="meta")
    x.grad = torch.ones(3, device="meta")
    optimizer = FULD([x], alpha=alpha, fused=True)
    with pytest.raises(RuntimeError, match=r"`fused=True` requires .* on meta|but .* and meta"):
        optimizer.step()
    assert not optimizer.state


def test_no_fused_step_of_complex_parameters_at_alpha_2():
    x = torch.ones(3, dtype=torch.complex64)
    x.grad = torch.ones_like(x)
    with pytest.raises(RuntimeError, match=r"`fused=True` requires .*complex64"):
        FULD([x], alpha=2, fused=True).step()
