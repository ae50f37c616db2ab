"""`fuld.torch.sampler` on a GPU."""

import math

import pytest

torch = pytest.importorskip("torch")

from fuld.torch import sampler  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="requires a GPU"),
]


def well(x, batch):
    return -(x**4 / 4 - x**2 / 2).sum()


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_updates_do_not_wait_and_have_the_exact_moment(dtype):
    """E x^2 within five standard errors, which are exceeded with probability 6e-7."""
    transform = sampler.build(well, 0.05, seed=1)
    state = transform.init(torch.zeros(20_000, device="cuda", dtype=dtype))
    total = torch.zeros(20_000, device="cuda", dtype=torch.float64)
    state, _ = transform.update(state, None)
    torch.cuda.set_sync_debug_mode("error")
    try:
        for k in range(1000):
            state, _ = transform.update(state, None)
            if k >= 400:
                total += state.params.double() ** 2 / 600
    finally:
        torch.cuda.set_sync_debug_mode("default")
    error = 5 * total.std().item() / math.sqrt(20_000) + 0.002
    assert abs(total.mean().item() - 1.04176) < error
