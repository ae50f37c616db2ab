"""Tensors of every dtype, shape and layout: all implementations move them alike."""

import itertools
from typing import Any

import pytest

from tests.torch.walk import IMPLEMENTATIONS, OPTIONS, draw, walk

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402

SHAPES = [(), (0,), (1,), (17,), (3, 0, 2), (5, 7), (1031,), (2, 3, 4, 5)]
# Of one step and of what it starts from; halves are rounded after each operation of torch.
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-6, torch.bfloat16: 0.02, torch.float16: 0.003}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("implementation", ["single", "foreach", "fused", "differentiable"])
def test_dtypes_agree_with_double_precision(implementation, dtype, option):
    start, gradients = (values.to(dtype) for values in draw([83], steps=1))
    settings = {"lr": 0.03, **OPTIONS[option]}
    got, _ = walk(FULD, start, gradients, **settings, **IMPLEMENTATIONS[implementation])
    expected, _ = walk(FULD, start.double(), gradients.double(), **settings)
    assert got.dtype == dtype
    tolerance = TOLERANCE[dtype]
    torch.testing.assert_close(got.double(), expected, rtol=tolerance, atol=tolerance)


def layouts():
    """Pairs of a parameter and where its gradient lies, by name."""
    plain, _ = draw([4, 6, 5, 3], steps=0)
    last = plain.contiguous(memory_format=torch.channels_last)
    gaps = torch.zeros(8, 6, 10, 3).double()[::2, :, ::2]
    gaps.copy_(plain)
    turned = plain.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0)
    offset = torch.cat([torch.zeros(1).double(), plain.flatten()])[1:].view(plain.shape)
    kinds = {"plain": plain, "last": last, "gaps": gaps, "turned": turned, "offset": offset}
    return {f"{a}-{b}": (kinds[a], kinds[b]) for a, b in itertools.product(kinds, kinds)}


@pytest.mark.parametrize("layout", layouts())
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_layouts(implementation, layout):
    start, gradients = draw([4, 6, 5, 3], steps=3)
    settings: dict[str, Any] = {"lr": 0.03, "weight_decay": 0.1, "nesterov": True}
    expected, buffer = walk(FULD, start, gradients, **settings)
    like, grad_like = layouts()[layout]
    x = like.detach()  # The same memory, gaps and all.
    assert torch.equal(x, start)
    strides = x.stride()
    optimizer = FULD([x], **settings, **IMPLEMENTATIONS[implementation])
    for gradient in gradients:
        x.grad = torch.empty_strided(x.shape, grad_like.stride(), dtype=x.dtype)
        x.grad.copy_(gradient)
        optimizer.step()
        assert torch.equal(x.grad, gradient)
    assert x.stride() == strides
    torch.testing.assert_close(x, expected, rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(optimizer.state[x]["momentum_buffer"], buffer)


def test_what_lies_between_strides_stays():
    around = torch.full((10, 10), 5.0)
    x = around[::2, 1::3]
    x.grad = torch.ones_like(x)
    FULD([x], lr=0.1, fused=True).step()
    x += 1
    assert (around[1::2] == 5).all()
    assert (around[:, ::3] == 5).all()
    assert (x != 6).all()


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_many_tensors_at_once_are_each_alone(implementation):
    options = {"lr": 0.03, "weight_decay": 0.1, **IMPLEMENTATIONS[implementation]}
    cases = [
        (draw(shape, steps=2, seed=seed), dtype)
        for seed, (shape, dtype) in enumerate(itertools.product(SHAPES, TOLERANCE))
    ]
    together = [start.to(dtype, copy=True) for (start, _), dtype in cases]
    unused = torch.ones(3)
    optimizer = FULD([*together, unused], **options)
    for i in range(2):
        for x, ((_, gradients), dtype) in zip(together, cases, strict=True):
            x.grad = gradients[i].to(dtype)
        optimizer.step()
    assert torch.equal(unused, torch.ones(3))
    assert unused not in optimizer.state
    for x, ((start, gradients), dtype) in zip(together, cases, strict=True):
        alone, buffer = walk(FULD, start.to(dtype), gradients.to(dtype), **options)
        assert torch.equal(x, alone)
        assert torch.equal(optimizer.state[x]["momentum_buffer"], buffer)


def test_many_cores_take_the_step_of_one():
    # Above the size from which the work is shared, and not a multiple of the shares.
    start, gradients = draw([100_003], steps=2)
    fused, _ = walk(FULD, start, gradients, lr=0.03, fused=True)
    single, _ = walk(FULD, start, gradients, lr=0.03, foreach=False, fused=False)
    torch.testing.assert_close(fused, single, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_complex_parameters_are_pairs(implementation, option):
    settings = {"lr": 0.03, **OPTIONS[option], **IMPLEMENTATIONS[implementation]}
    start, gradients = draw([9, 2], steps=3)
    expected, buffer = walk(FULD, start, gradients, **settings)
    pairs = (torch.view_as_complex(values) for values in (start, gradients))
    got, complex_buffer = walk(FULD, *pairs, **settings)
    assert torch.equal(torch.view_as_real(got), expected)
    if buffer is not None:
        assert complex_buffer.is_complex()
        assert torch.equal(torch.view_as_real(complex_buffer), buffer)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_a_gradient_that_comes_and_goes(implementation):
    x = torch.ones(3)
    optimizer = FULD([x], lr=0.1, **IMPLEMENTATIONS[implementation])
    optimizer.step()
    assert torch.equal(x, torch.ones(3))
    assert not optimizer.state
    x.grad = torch.ones(3)
    optimizer.step()
    moved = x.clone()
    optimizer.zero_grad()
    optimizer.step()
    assert torch.equal(x, moved)
    assert (optimizer.state[x]["momentum_buffer"] == 1).all()


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("alpha", [1.5, 2.0])
def test_a_parameter_that_begins_later(implementation, alpha):
    first, late = torch.ones(3), torch.ones(3)
    settings = {"lr": 0.1, "alpha": alpha, **IMPLEMENTATIONS[implementation]}
    optimizer = FULD([first, late], **settings)
    for x in (None, late, late):
        first.grad = torch.ones(3)
        if x is not None:
            x.grad = torch.ones(3)
        optimizer.step()
    assert torch.equal(late, walk(FULD, torch.ones(3), torch.ones(2, 3), **settings)[0])
    assert torch.equal(first, walk(FULD, torch.ones(3), torch.ones(3, 3), **settings)[0])
