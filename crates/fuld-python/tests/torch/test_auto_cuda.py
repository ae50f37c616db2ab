"""Calibration on a GPU, against the same steps on the CPU."""

from copy import deepcopy

import pytest

torch = pytest.importorskip("torch")

from fuld.torch import FULD  # noqa: E402

from tests.torch.calibrated import AUTO, SHAPES, Noise, known, led, starts  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="requires a GPU"),
]

WAYS = [{"fused": True}, {"foreach": True}, {"foreach": False, "fused": False}]


def on_gpu(steps=40, dtype=torch.float32, **settings):
    params = [x.cuda() for x in starts(SHAPES, dtype)]
    optimizer = FULD(params, **{"lr": 0.01, **AUTO, **settings})
    Noise(1.4).lead(params, optimizer, steps)
    return params, optimizer


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("options", [{}, {"momentum": 0.0}, {"alpha": 1.5}, {"noise_scale": 0.1}])
def test_it_finds_and_does_what_the_cpu_does(way, options):
    params, optimizer = on_gpu(**options, **way)
    others, other = led(**options)
    for x, y in zip(params, others, strict=True):
        torch.testing.assert_close(x.cpu(), y, rtol=1e-4, atol=1e-5)
    for c, d in zip(known(params, optimizer), known(others, other), strict=True):
        assert (c.dtype, c.device.type) == (torch.float32, "cpu")
        torch.testing.assert_close(c, d, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("way", WAYS)
def test_a_checkpoint_goes_on_to_the_same_bits(way, dtype):
    params, optimizer = on_gpu(steps=6, dtype=dtype, **way)
    new = [x.clone() for x in params]
    again = FULD(new)
    # A copy, as from a file: torch would share the momentum buffers.
    again.load_state_dict(deepcopy(optimizer.state_dict()))
    for d in known(new, again):
        assert (d.dtype, d.device.type) == (torch.float32, "cpu")
    Noise(1.4, seed=2).lead(params, optimizer, 6)
    Noise(1.4, seed=2).lead(new, again, 6)
    for x, y in zip([*params, *known(params, optimizer)], [*new, *known(new, again)], strict=True):
        assert torch.equal(x, y)


def test_a_scaler_unscales_and_skips():
    params, optimizer = on_gpu(steps=6, fused=True)
    scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)
    before = [x.clone() for x in (*params, *known(params, optimizer))]
    for x in params:
        x.grad = scaler.scale(torch.full_like(x, torch.inf))
    scaler.step(optimizer)
    for x, y in zip(before, (*params, *known(params, optimizer)), strict=True):
        assert torch.equal(x, y)


# Torch warns because nothing is captured.
@pytest.mark.filterwarnings("ignore:The CUDA Graph is empty")
def test_a_graph_is_refused():
    params, optimizer = on_gpu(steps=3)
    Noise(1.4).fill(params)
    with (
        pytest.raises(RuntimeError, match="cannot be captured in a CUDA graph"),
        torch.cuda.graph(torch.cuda.CUDAGraph()),
    ):
        optimizer.step()
