"""Heavy-tailed noise: what the optimizer is for."""

from typing import Any

import numpy as np
import pytest
from fuld import SymmetricStable

torch = pytest.importorskip("torch")
from fuld.torch import FULD  # noqa: E402


def farthest(optimizer, x, noise):
    """How far 200 coordinates get from the bottom of a parabola."""
    far = 0.0
    for row in noise:
        x.grad = x + row
        optimizer.step()
        far = max(far, x.abs().max().item())
    return far


@pytest.mark.parametrize("alpha", [1.2, 1.5])
def test_matched_steps_stay_where_sgd_flies_off(alpha):
    draws = SymmetricStable(alpha, 0.5).rvs((1000, 200), random_state=1)
    noise = torch.tensor(np.asarray(draws))
    x, y = torch.zeros(200).double(), torch.zeros(200).double()
    settings: dict[str, Any] = {"lr": 0.05, "momentum": 0.9}
    sgd = farthest(torch.optim.SGD([x], **settings), x, noise)
    ours = farthest(FULD([y], alpha=alpha, noise_scale=0.5, **settings), y, noise)
    # A draw of size s moves SGD by up to 0.17 s, and the largest of 200,000 is beyond 90 but for a
    # chance of exp(-30): P(|X| > 90) = 1.7e-4 at alpha = 1.5, and more below.
    assert sgd > 15
    # FULD's step is bounded, whatever the noise.
    assert ours < 5
    assert y.abs().median() < 1.5
