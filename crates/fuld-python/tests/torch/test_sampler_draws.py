"""Stable draws in torch: the law, its tails, and special cases.

Kolmogorov distances of N draws exceed 2.7/√N with probability 1e-6.
"""

import math

import fuld
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fuld.torch._stable_draws import stable_like  # noqa: E402

COUNT = 400_000
CHANCE = 2.7 / math.sqrt(COUNT)


def sample(alpha, dtype=torch.float64, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return stable_like(torch.empty(COUNT, dtype=dtype), alpha, generator)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("alpha", [0.5, 0.9, 1.0, 1.0 + 1e-9, 1.3, 1.8, 2.0])
def test_draws_have_the_law(alpha, dtype):
    x = np.sort(sample(alpha, dtype).double().numpy())
    cdf = fuld.SymmetricStable(alpha).cdf(x)
    ranks = np.arange(COUNT + 1) / COUNT
    distance = max(np.abs(cdf - ranks[1:]).max(), np.abs(cdf - ranks[:-1]).max())
    assert distance < CHANCE, distance


@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_tails_are_exact_in_float32(alpha):
    """Uniform numbers of 24 bits would give few different draws beyond one in a million."""
    generator = torch.Generator().manual_seed(2)
    law = fuld.SymmetricStable(alpha)
    far = float(law.isf(5e-6))
    batches = (stable_like(torch.empty(10**6), alpha, generator) for _ in range(20))
    tail = torch.cat([x[x.abs() > far] for x in batches])
    # 200 are expected, with a standard deviation of 14: five of them are exceeded with 6e-7.
    assert abs(len(tail) - 200) < 71
    assert len(tail.unique()) == len(tail)
    # On a logarithmic scale they are exponential: the mean of 200 is 1 within 5/√200.
    excess = alpha * (tail.abs().double().log().mean().item() - math.log(far))
    assert abs(excess - 1) < 5 / math.sqrt(200)


def test_alpha_2_is_gaussian():
    x = sample(2.0)
    assert abs(x.var().item() - 2) < 5 * 2 * math.sqrt(2 / COUNT)
    assert x.abs().max() < 9


def test_ends_of_the_uniform_numbers_are_finite(monkeypatch):
    for value in (0.0, 0.5, 1 - 2.0**-53):

        def constant(shape, value=value, **_):
            return torch.full(shape, value, dtype=torch.float64)

        monkeypatch.setattr(torch, "rand", constant)
        for alpha in (0.5, 1.0, 1.5, 2.0):
            draws = stable_like(torch.empty(3, dtype=torch.float64), alpha, None)
            assert draws.isfinite().all(), (value, alpha)
