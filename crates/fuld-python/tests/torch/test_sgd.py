"""At alpha = 2 the optimizer is torch's SGD to the last bit, and their checkpoints are the same."""

from functools import partial

import pytest

from tests.torch.walk import COMMON, IMPLEMENTATIONS, draw, walk

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402
from torch.optim import SGD  # noqa: E402

DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]

# The settings of SGD for complex parameters and sparse gradients.
NOT_FUSED = ["single", "foreach", "default", "differentiable"]


def equal(a, b):
    return torch.equal(torch.as_tensor(a), torch.as_tensor(b))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("option", COMMON)
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("tensor", [False, True])
def test_alpha_2_is_sgd(implementation, option, dtype, tensor):
    start, gradients = (values.to(dtype) for values in draw([5, 7], steps=4))
    lr = torch.tensor(0.03) if tensor else 0.03
    settings = {"lr": lr, **COMMON[option], **IMPLEMENTATIONS[implementation]}
    expected, buffer = walk(SGD, start, gradients, **settings)
    got, ours = walk(FULD, start, gradients, alpha=2, noise_scale=0.3, **settings)
    assert equal(got, expected)
    assert (ours is None) == (buffer is None)
    assert ours is None or equal(ours, buffer)


@pytest.mark.parametrize("option", COMMON)
@pytest.mark.parametrize("implementation", NOT_FUSED)
def test_complex_parameters_at_alpha_2(implementation, option):
    start, gradients = (values.to(torch.complex64) for values in draw([5, 7], steps=4))
    settings = {"lr": 0.03, **COMMON[option], **IMPLEMENTATIONS[implementation]}
    expected, _ = walk(SGD, start, gradients, **settings)
    got, _ = walk(FULD, start, gradients, alpha=2, **settings)
    assert equal(got, expected)


@pytest.mark.parametrize("implementation", NOT_FUSED)
@pytest.mark.parametrize("option", ["momentum", "no momentum", "uphill"])
def test_sparse_gradients_at_alpha_2(implementation, option):
    results = []
    for make in (SGD, partial(FULD, alpha=2)):
        torch.manual_seed(3)
        embedding = torch.nn.Embedding(10, 3, sparse=True)
        x = embedding.weight if implementation != "differentiable" else embedding.weight.detach()
        optimizer = make([x], lr=0.1, **COMMON[option], **IMPLEMENTATIONS[implementation])
        for i in range(4):
            embedding.weight.grad = None
            embedding(torch.tensor([i, 2, i])).square().sum().backward()
            x.grad = embedding.weight.grad
            assert x.grad.is_sparse
            optimizer.step()
        results.append(x.detach())
    assert equal(*results)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_decoupled_decay_at_alpha_2(implementation):
    start, gradients = draw([11], steps=3)
    x, b = start.clone(), torch.zeros(11).double()
    for g in gradients:
        b = 0.9 * b + g
        x = (1 - 0.03 * 0.5) * x - 0.03 * b
    settings = {"weight_decay": 0.5, "decoupled_weight_decay": True}
    got, _ = walk(
        FULD, start, gradients, lr=0.03, alpha=2, **settings, **IMPLEMENTATIONS[implementation]
    )
    torch.testing.assert_close(got, x, rtol=1e-13, atol=1e-13)


def led(x, optimizer, gradients):
    for gradient in gradients:
        x.grad = gradient
        optimizer.step()


@pytest.mark.parametrize("implementation", ["single", "foreach", "fused", "default"])
@pytest.mark.parametrize("option", COMMON)
def test_checkpoints_go_from_sgd_to_fuld_and_back(implementation, option):
    settings = {"lr": 0.03, **COMMON[option], **IMPLEMENTATIONS[implementation]}
    start, gradients = draw([13], steps=9)
    expected, _ = walk(SGD, start, gradients, **settings)

    x = start.clone()
    first = SGD([x], **settings)
    led(x, first, gradients[:3])
    second = FULD([x], lr=7.0, alpha=2)
    second.load_state_dict(first.state_dict())
    led(x, second, gradients[3:6])
    third = SGD([x], lr=5.0)
    third.load_state_dict(second.state_dict())
    led(x, third, gradients[6:])
    assert equal(x, expected)


def test_a_checkpoint_of_sgd_leaves_what_sgd_has_not():
    x = torch.ones(3)
    sgd = SGD([x], lr=0.03, momentum=0.5)
    led(x, sgd, [torch.ones(3)])
    fuld = FULD([x], lr=5.0, alpha=1.4, noise_scale=0.2, decoupled_weight_decay=True)
    fuld.load_state_dict(sgd.state_dict())
    expected = {"lr": 0.03, "momentum": 0.5, "alpha": 1.4, "noise_scale": 0.2, "form": "matched"}
    group = fuld.param_groups[0]
    assert {name: group[name] for name in expected} == expected
    assert group["decoupled_weight_decay"]
    led(x, fuld, [torch.ones(3)])
    assert (fuld.state[x]["momentum_buffer"] == 1.5).all()


def test_a_checkpoint_of_sgd_with_dampening_is_refused():
    x = torch.ones(2)
    sgd = SGD([x], lr=0.1, momentum=0.9, dampening=0.5)
    fuld = FULD([x], alpha=2)
    with pytest.raises(ValueError, match=r"dampening must be 0, got 0\.5"):
        fuld.load_state_dict(sgd.state_dict())
