"""The state of the optimizer, in checkpoints and copies."""

import copy
import io
import pickle

import pytest

from tests.torch.walk import IMPLEMENTATIONS, draw

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402

GROUP = {
    "params", "lr", "momentum", "alpha", "noise_scale", "beta", "form", "dampening", "weight_decay",
    "decoupled_weight_decay", "nesterov", "maximize", "guard",
    "foreach", "fused", "capturable", "differentiable",
}  # fmt: skip


def optimized(dtype=torch.float32, **settings):
    start, gradients = draw([4, 3], steps=3)
    x = start.to(dtype)
    optimizer = FULD([x], **{"lr": 0.05, "alpha": 1.4, "noise_scale": 0.3, **settings})
    take(x, optimizer, gradients)
    return x, optimizer


def take(x, optimizer, gradients):
    for gradient in gradients:
        x.grad = gradient.to(x.dtype)
        optimizer.step()


@pytest.mark.parametrize("implementation", ["single", "foreach", "fused", "default"])
@pytest.mark.parametrize("alpha", [1.4, 2.0])
def test_state_is_the_buffer_alone(implementation, alpha):
    _, optimizer = optimized(alpha=alpha, **IMPLEMENTATIONS[implementation])
    state = optimizer.state_dict()
    assert set(state) == {"state", "param_groups"}
    assert set(state["state"][0]) == {"momentum_buffer"}
    assert set(state["param_groups"][0]) == GROUP
    # Nothing of the table is kept: 12 numbers and the settings.
    held = io.BytesIO()
    torch.save(state, held)
    assert held.tell() < 5000


def test_without_momentum_there_is_no_state():
    _, optimizer = optimized(momentum=0.0)
    assert not optimizer.state_dict()["state"]


def of_checkpoint(x, optimizer):
    held = io.BytesIO()
    torch.save(optimizer.state_dict(), held)
    held.seek(0)
    new = x.clone()
    again = FULD([new], lr=9.0)
    again.load_state_dict(torch.load(held, weights_only=True))
    return new, again


def of_deepcopy(x, optimizer):
    again = copy.deepcopy(optimizer)
    return again.param_groups[0]["params"][0], again


def of_pickle(x, optimizer):
    again = pickle.loads(pickle.dumps(optimizer))
    return again.param_groups[0]["params"][0], again


@pytest.mark.parametrize("way", [of_checkpoint, of_deepcopy, of_pickle])
@pytest.mark.parametrize("lr", [0.05, torch.tensor(0.05)])
@pytest.mark.parametrize("implementation", ["single", "foreach", "fused", "default"])
def test_copies_go_on_as_the_original(way, lr, implementation):
    x, optimizer = optimized(lr=lr, nesterov=True, **IMPLEMENTATIONS[implementation])
    new, again = way(x, optimizer)
    assert new is not x
    assert str(again) == str(optimizer)
    _, gradients = draw([4, 3], steps=3, seed=2)
    before = x.clone()
    take(new, again, gradients)
    assert torch.equal(x, before)
    take(x, optimizer, gradients)
    assert torch.equal(new, x)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_a_checkpoint_takes_the_dtype_of_the_parameters(dtype):
    _, optimizer = optimized()
    new = torch.ones(4, 3, dtype=dtype)
    again = FULD([new])
    again.load_state_dict(optimizer.state_dict())
    buffer = again.state[new]["momentum_buffer"]
    assert buffer.dtype == dtype
    take(new, again, torch.ones(1, 4, 3))


def test_a_wrong_checkpoint_is_refused_whole():
    x, optimizer = optimized()
    state = copy.deepcopy(optimizer.state_dict())
    state["param_groups"][0]["alpha"] = 2.1
    with pytest.raises(ValueError, match=r"alpha <= 2, got 2\.1"):
        optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["alpha"] == 1.4
    state["param_groups"] *= 2
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optimizer.load_state_dict(state)
    take(x, optimizer, torch.ones(1, 4, 3))


def test_loading_leaves_the_checkpoint_as_it_is():
    _, optimizer = optimized()
    state = optimizer.state_dict()
    kept = copy.deepcopy(state)
    again = FULD([torch.ones(4, 3)], lr=9.0)
    again.load_state_dict(state)
    assert state["param_groups"] == kept["param_groups"]
    assert torch.equal(*(s["state"][0]["momentum_buffer"] for s in (state, kept)))
