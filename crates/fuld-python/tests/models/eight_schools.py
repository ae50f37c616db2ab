"""The model of docs/models.md, sampled by NumPyro's NUTS, and the comparison with it."""

from collections.abc import Mapping
from functools import cache

import arviz
import numpy as np
from numpy.typing import NDArray

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def eight_schools(sigma, y=None):
    """The model in NumPyro."""
    import numpyro
    import numpyro.distributions as dist

    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("school", len(sigma)):
        z = numpyro.sample("z", dist.Normal(0, 1))
        theta = numpyro.deterministic("theta", mu + tau * z)
        numpyro.sample("effect", dist.Normal(theta, sigma), obs=y)


@cache
def nuts_draws() -> dict[str, NDArray[np.float64]]:
    """Draws of NUTS: 4 chains of 4000."""
    import jax
    from numpyro.infer import MCMC, NUTS

    kernel = NUTS(eight_schools, target_accept_prob=0.9)
    mcmc = MCMC(
        kernel,
        num_warmup=1000,
        num_samples=4000,
        num_chains=4,
        chain_method="vectorized",
        progress_bar=False,
    )
    mcmc.run(jax.random.key(0), ERRORS, y=EFFECTS)
    draws = mcmc.get_samples(group_by_chain=True)
    return {name: np.asarray(draws[name], np.float64) for name in ("mu", "tau", "theta")}


def assert_same(
    ours: Mapping[str, NDArray[np.float64]], theirs: Mapping[str, NDArray[np.float64]]
) -> None:
    """Means and sds agree within 4 Monte Carlo standard errors of their differences.

    With fixed seeds; of all seeds, one in 800 would fail one of the 20 comparisons.
    """
    for name in theirs:
        for statistic, error in (("mean", "mcse_mean"), ("sd", "mcse_sd")):
            one, two = (
                arviz.summary({name: draws[name]}, kind="all", round_to="none")
                for draws in (ours, theirs)
            )
            apart = np.abs(one[statistic] - two[statistic])
            allowed = 4 * np.hypot(one[error], two[error])
            assert (apart < allowed).all(), (name, statistic, apart, allowed)
