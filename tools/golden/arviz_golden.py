"""Golden values of the diagnostics, from ArviZ and scipy, for the tests of fuld.

Run in the root of the workspace:

    pip install -r tools/golden/requirements-arviz.txt
    python tools/golden/arviz_golden.py

It writes crates/fuld/tests/diagnostics/draws.csv, the chains (those of the eight schools that ArviZ ships, and seeded
ones), and crates/fuld/tests/diagnostics/expected.csv, what ArviZ and scipy say about them.
"""

import warnings
from pathlib import Path

warnings.simplefilter("ignore")

import arviz as az
import numpy as np
import scipy
from arviz.stats.stats import _gpdfit
from arviz.stats.stats_utils import quantile as type7

SEED = 20240607
TARGET = Path("crates/fuld/tests/diagnostics")
PROBABILITIES = (0.01, 0.05, 0.25, 0.5, 0.9, 0.95)
LAGS = (1, 2, 5, 20)


def autoregressive(rng, shape, phi):
    """Stationary chains x[t+1] = phi x[t] + noise of unit variance."""
    chains, draws = shape
    x = np.empty(shape)
    x[:, 0] = rng.normal(size=chains)
    for t in range(1, draws):
        x[:, t] = phi * x[:, t - 1] + np.sqrt(1 - phi**2) * rng.normal(size=chains)
    return x


def chains():
    """Name -> array (chain, draw)."""
    rng = np.random.default_rng(SEED)
    centered = az.load_arviz_data("centered_eight").posterior
    non_centered = az.load_arviz_data("non_centered_eight").posterior
    with_infinity = rng.standard_cauchy((2, 50))
    with_infinity[0, 3], with_infinity[1, 40] = np.inf, -np.inf
    with_nan = rng.normal(size=(2, 20))
    with_nan[1, 5] = np.nan
    stuck = np.repeat([[0.1], [0.3]], 20, axis=1)
    return {
        "eight_mu": centered["mu"].values,
        "eight_tau": centered["tau"].values,
        "eight_theta": non_centered["theta"].isel(school=0).values,
        "ar1": autoregressive(rng, (4, 250), 0.9),
        "antithetic": autoregressive(rng, (2, 200), -0.7),
        "cauchy": rng.standard_cauchy((4, 250)),
        "very_heavy": rng.standard_cauchy((4, 150)) ** 5,
        "apart": rng.normal(size=(4, 100)) + np.array([[0.0], [0.0], [0.3], [2.0]]),
        "spread": rng.normal(size=(3, 101)) * np.array([[1.0], [1.0], [3.0]]),
        "odd": rng.normal(size=(3, 7)),
        "shortest": rng.normal(size=(2, 4)),
        "single": autoregressive(rng, (1, 99), 0.5),
        "ties": rng.poisson(2.0, size=(4, 100)).astype(float),
        "large_offset": 1e8 + autoregressive(rng, (2, 64), 0.3),
        "constant": np.full((2, 10), 0.1),
        "stuck": stuck,
        "with_infinity": with_infinity,
        "with_nan": with_nan,
    }


def convergence(x):
    """Everything about chains: quantity, argument, value."""
    yield "r_hat", "", az.rhat(x, method="rank")
    for method in ("bulk", "tail", "mean"):
        yield f"ess_{method}", "", az.ess(x, method=method)
    yield "mcse_mean", "", az.mcse(x, method="mean")
    for p in PROBABILITIES:
        yield "ess_quantile", p, az.ess(x, method="quantile", prob=p)
        yield "mcse_quantile", p, az.mcse(x, method="quantile", prob=p)


def pooled(x):
    """Everything about a finite sample."""
    flat = x.ravel()
    for p in PROBABILITIES:
        yield "quantile", p, type7(flat, p)[0]
    rho = az.autocorr(x[0])
    for lag in LAGS:
        if lag < x.shape[1]:
            yield "autocorrelation", lag, rho[lag]
    normal = scipy.stats.norm(0.2, 1.5)
    yield "ks_normal", "", scipy.stats.kstest(flat, normal.cdf).statistic
    rest = x[1:].ravel()
    if rest.size:
        yield "ks_first_rest", "", scipy.stats.ks_2samp(x[0], rest).statistic
        yield "w1_first_rest", "", scipy.stats.wasserstein_distance(x[0], rest)


def tails(x):
    """Pareto shapes. PSIS takes logarithms of weights: those of a positive sample leave its own shape."""
    flat = np.abs(x.ravel()) + 1e-300
    for efficiency in (1.0, 0.3):
        yield "pareto_k_abs", efficiency, az.psislw(np.log(flat), reff=efficiency)[1].item()
    k, sigma = _gpdfit(np.sort(flat))
    yield "gpd_k", "", k
    yield "gpd_scale", "", sigma


def clamped_wasserstein(x, low, high):
    """Distance to the standard Cauchy law after clamping to [low, high], by a fine sum over the quantile."""
    n = 4_000_000
    u = (np.arange(n) + 0.5) / n
    law = np.clip(np.tan(np.pi * (u - 0.5)), low, high)
    return scipy.stats.wasserstein_distance(np.clip(x, low, high), law)


def number(value):
    return repr(float(value))


def main():
    made = (
        "# made by: python tools/golden/arviz_golden.py "
        f"(arviz {az.__version__}, numpy {np.__version__}, scipy {scipy.__version__}, seed {SEED})\n"
    )
    every = chains()
    with open(TARGET / "draws.csv", "w", encoding="utf-8") as file:
        file.write(made + "set,chain,draws\n")
        for name, x in every.items():
            file.writelines(
                ",".join([name, str(i), *map(number, chain)]) + "\n" for i, chain in enumerate(x)
            )
    with open(TARGET / "expected.csv", "w", encoding="utf-8") as file:
        file.write(made + "set,quantity,argument,value\n")
        for name, x in every.items():
            rows = list(convergence(x))
            if np.isfinite(x).all() and np.ptp(x) > 0 and name != "stuck":
                rows += pooled(x)
            if name in ("eight_mu", "eight_tau", "ar1", "cauchy", "very_heavy"):
                rows += tails(x)
            if name == "cauchy":
                rows += [
                    ("w1_cauchy", b, clamped_wasserstein(x.ravel(), -b, b))
                    for b in (1.0, 10.0, 50.0)
                ]
            file.writelines(
                f"{name},{quantity},{argument},{number(value)}\n"
                for quantity, argument, value in rows
            )
        for x in (0.2, 0.5, 0.9, 0.999, 1.0, 1.5, 3.0, 10.0):
            file.write(f",kolmogorov_sf,{x},{number(scipy.special.kolmogorov(x))}\n")


if __name__ == "__main__":
    main()
