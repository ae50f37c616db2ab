"""The fused step walks through memory: whatever is done to tensors, it must be theirs."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fuld.torch import FULD  # noqa: E402

FUSED = [{}, {"fused": True}]


def parameter(*shape, **options):
    x = torch.nn.Parameter(torch.zeros(shape, **options))
    x.grad = torch.ones_like(x)
    return x


def stepped(x, steps=2, **options):
    optimizer = FULD([x], 0.1, **options)
    for _ in range(steps):
        optimizer.step()
    return optimizer


@pytest.mark.parametrize("way", FUSED)
def test_a_checkpoint_of_another_width(way):
    small = parameter(4)
    sgd = torch.optim.SGD([small], 0.1, momentum=0.9)
    sgd.step()
    x = parameter(30_000)
    optimizer = FULD([x], 0.1, **way)
    optimizer.load_state_dict(sgd.state_dict())
    with pytest.raises(RuntimeError, match=r"shape \(30000,\) has a momentum_buffer of shape \(4,"):
        optimizer.step()
    assert (x == 0).all()


@pytest.mark.parametrize("way", FUSED)
@pytest.mark.parametrize("known", [False, True])
def test_a_buffer_of_another_size(way, known):
    x = parameter(40)
    optimizer = stepped(x, 2 if known else 1, **way)
    guarded = torch.full((40,), 7.0)
    optimizer.state[x]["momentum_buffer"] = guarded[:8]
    with pytest.raises(RuntimeError, match="momentum_buffer of shape"):
        optimizer.step()
    assert (guarded == 7).all()


@pytest.mark.parametrize("way", FUSED)
def test_a_buffer_that_was_shortened(way):
    x = parameter(1000)
    optimizer = stepped(x, **way)
    optimizer.state[x]["momentum_buffer"].resize_(3)
    with pytest.raises(RuntimeError, match="momentum_buffer of shape"):
        optimizer.step()


@pytest.mark.parametrize("way", FUSED)
def test_a_gradient_of_another_size(way):
    x = parameter(10)
    optimizer = stepped(x, **way)
    x.grad.data = torch.ones(3)
    with pytest.raises(RuntimeError, match=r"gradient of shape \(3,\)"):
        optimizer.step()


@pytest.mark.parametrize("way", FUSED)
def test_a_parameter_that_was_cut(way):
    x = parameter(100)
    optimizer = stepped(x, **way)
    x.data = x.data[:10]
    x.grad = torch.ones(10)
    with pytest.raises(RuntimeError, match="momentum_buffer of shape"):
        optimizer.step()


@pytest.mark.parametrize("way", FUSED)
def test_a_parameter_that_was_turned(way):
    def run(**options):
        x = torch.nn.Parameter(torch.zeros(4, 4))
        x.grad = torch.arange(16.0).view(4, 4)
        optimizer = stepped(x, **options)
        x.data = x.data.t()
        optimizer.step()
        return x

    torch.testing.assert_close(run(**way), run(foreach=False))


@pytest.mark.parametrize("way", FUSED)
def test_memory_and_buffers_that_were_replaced(way):
    def run(**options):
        x = parameter(7)
        optimizer = stepped(x, **options)
        x.data = x.data.clone()
        optimizer.step()
        optimizer.state[x]["momentum_buffer"] = torch.full((7,), -3.0)
        optimizer.step()
        optimizer.state[x]["momentum_buffer"].set_(torch.full((7,), 2.0))
        optimizer.step()
        x.grad = torch.full((7,), 5.0)
        optimizer.step()
        return x

    torch.testing.assert_close(run(**way), run(foreach=False), rtol=1e-6, atol=0)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_gradients_of_several_types_in_one_group(momentum):
    def run(**options):
        params = [parameter(1000), parameter(1000)]
        params[0].grad_dtype = None
        params[0].grad = torch.ones(1000, dtype=torch.float64)
        FULD(params, 0.1, momentum=momentum, **options).step()
        return params

    for ours, theirs in zip(run(foreach=True), run(foreach=False), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_memory_at_an_odd_address():
    odd = torch.frombuffer(np.zeros(41, "u1"), dtype=torch.float32, count=10, offset=1)
    odd.grad = torch.ones(10)
    even = parameter(10)
    stepped(odd)
    stepped(even)
    assert torch.equal(odd, even.detach())


@pytest.mark.parametrize("known", [False, True])
def test_gradients_that_are_negated_when_read(known):
    x = parameter(1)
    optimizer = stepped(x, 2 if known else 0)
    before = x.item()
    x.grad = torch.complex(torch.zeros(1), torch.full((1,), 100.0)).conj().imag
    assert x.grad.is_neg()
    optimizer.step()
    assert x.item() > before


def test_gradients_that_are_conjugated_when_read():
    ways: list[dict[str, Any]] = [{}, {"fused": False, "foreach": False}]
    for options in ways:
        q = torch.nn.Parameter(torch.tensor([1 + 2j, 3 - 1j]))
        (q.conj() * torch.tensor([2 + 1j, 1 - 1j])).real.sum().backward()
        assert q.grad.is_conj()
        before = q.detach().clone()
        FULD([q], 0.1, **options).step()
        torch.testing.assert_close(
            torch.sgn((before - q).detach().real), torch.sgn(q.grad.resolve_conj().real)
        )


@pytest.mark.parametrize("way", FUSED)
def test_gradients_that_have_become_sparse(way):
    x = parameter(10)
    optimizer = stepped(x, **way)
    x.grad = torch.sparse_coo_tensor([[1]], [1.0], (10,), check_invariants=True)
    with pytest.raises(RuntimeError, match="does not support sparse gradients"):
        optimizer.step()


def test_expanded_gradients():
    x, y = parameter(10), parameter(10)
    x.grad = torch.ones(1).expand(10)
    FULD([x], 0.1).step()
    FULD([y], 0.1).step()
    assert torch.equal(x, y)


def test_gradients_stay_as_they_are():
    x = parameter(4, dtype=torch.bfloat16)
    x.grad_dtype = None
    x.grad = torch.full((4,), 1.001)
    FULD([x], 0.1).step()
    assert (x.grad == 1.001).all()


def test_autograd_hears_of_the_step():
    w = torch.nn.Parameter(torch.ones(3))
    y = w * w
    y.sum().backward(retain_graph=True)
    FULD([w], 0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        (y * 2).sum().backward()


def test_old_buffers_are_forgotten():
    x = parameter(10)
    optimizer = stepped(x)
    old = weakref.ref(optimizer.state[x]["momentum_buffer"])
    optimizer.load_state_dict(optimizer.state_dict())
    optimizer.state[x]["momentum_buffer"] = torch.zeros(10)
    gc.collect()
    assert old() is None


@pytest.mark.parametrize("way", [{}, {"fused": True}, {"foreach": True}, {"foreach": False}])
def test_halves_have_the_small_steps_of_sgd(way):
    x = parameter(3, dtype=torch.float16)
    x.grad.fill_(1e-4)
    FULD([x], 1.0, noise_scale=1000.0, **way).step()
    torch.testing.assert_close(x, torch.full_like(x, -1e-4), rtol=1e-2, atol=0)


@pytest.mark.parametrize("way", [{}, {"fused": True}, {"foreach": True}, {"foreach": False}])
def test_a_learning_rate_that_has_decayed(way):
    x = parameter(3)
    optimizer = stepped(x, **way)
    optimizer.param_groups[0]["lr"] = 1e-35
    optimizer.step()
    for bad in (-1.0, float("nan")):
        optimizer.param_groups[0]["lr"] = bad
        with pytest.raises(ValueError, match="lr must be finite and not negative"):
            optimizer.step()
