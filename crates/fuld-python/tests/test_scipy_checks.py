"""scipy's own checks of its distributions, on ours.

They take a distribution and its shape parameters. A law of ours has its parameters already, so they
get the law and no parameters; those that vary the parameters get `Unfrozen`, which makes a law for
every call.

| check | why it does not apply |
|---|---|
| random_state_property | sets `random_state` of the distribution, but a law cannot be changed |
| pickling | the same; test_law_arrays.py pickles |
| meth_dtype, ppf_dtype | want float64 from float32, too; test_dtypes has the other dtypes |
| cmplx_deriv | complex x, which is a TypeError here |
| entropy_vect_scale | wants NaN for a negative scale, which is a ValueError here |
| named_args, freezing, vecentropy, ppf_private | need an rv_continuous and its private methods |
| private_entropy, munp_expect | the same |
| loc_scale, retrieving_support | use `loc`, which a law that is symmetric about 0 does not have |
| fit_args, fit_args_fix | there is no `fit` |
"""

import numpy as np
import pytest
from fuld import SymmetricStable

common = pytest.importorskip(
    "scipy.stats.tests.common_tests", reason="scipy came without its tests"
)
basic = pytest.importorskip("scipy.stats.tests.test_continuous_basic")

LAWS = [SymmetricStable(alpha, 2.0) for alpha in (0.4, 0.8, 1.0, 1.2, 1.5, 1.9, 2.0)]
laws = pytest.mark.parametrize("law", LAWS, ids=repr)


class Unfrozen:
    """Methods that take alpha and scale after their argument, as those of scipy do."""

    name = "symmetric_stable"

    def __getattr__(self, name):
        def method(*given, alpha=None, scale=1.0, **options):
            rest = given if alpha is None else (*given, alpha)
            return getattr(SymmetricStable(rest[-1], scale), name)(*rest[:-1], **options)

        return method


class Named:
    """A law with what a few checks read beside its methods: a name, and `args` in `expect`."""

    name = "symmetric_stable"

    def __init__(self, law):
        self.law = law

    def __getattr__(self, name):
        return getattr(self.law, name)

    def expect(self, func, args=(), **options):
        assert args == ()
        return self.law.expect(func, **options)


@laws
@pytest.mark.parametrize(
    "name",
    [
        "cdf_ppf",
        "sf_isf",
        "cdf_sf",
        "ppf_isf",
        "pdf",
        "pdf_logpdf",
        "pdf_logpdf_at_endpoints",
        "sf_logsf",
        "cdf_logcdf",
        "entropy",
    ],
)
def test_of_one_law(law, name):
    check = getattr(basic, f"check_{name}", None) or getattr(common, f"check_{name}")
    check(law, (), repr(law))


@laws
def test_edges_and_normalization(law):
    common.check_edge_support(Named(law), ())
    common.check_normalization(Named(law), (), law)


@laws
def test_moments_are_expectations(law):
    mean, variance, skewness, kurtosis = law.stats("mvsk")
    message = repr(law)
    if np.isfinite(mean):
        common.check_moment(law, (), mean, variance, message)
    else:
        assert np.isnan(law.moment(1))
    common.check_mean_expect(Named(law), (), mean, message)
    common.check_var_expect(Named(law), (), mean, variance, message)
    common.check_skew_expect(Named(law), (), mean, variance, skewness, message)
    common.check_kurt_expect(Named(law), (), mean, variance, kurtosis, message)


@laws
def test_draws(law):
    # Below 0.001 in 1 of 1000 seeds, and then drawn again.
    draws = law.rvs(1000, random_state=1234)
    basic.check_distribution_rvs(law.cdf, (), 0.001, draws)
    if law.alpha == 2.0:
        basic.check_sample_meanvar_(law.mean(), law.var(), draws, np.random.default_rng(1))


def test_dtypes():
    law = LAWS[4]
    for dtype in (np.int64, np.float16, np.float64):
        x = np.array([0, 1, 3]).astype(dtype)
        for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):
            assert getattr(law, name)(x).dtype == np.float64
        assert law.ppf(x).dtype == law.isf(x).dtype == np.float64


def test_parameters_in_arrays():
    for alpha in (0.7, 1.0, 1.5, 2.0):
        basic.check_ppf_broadcast(Unfrozen(), (alpha,), "symmetric_stable")
    scale = np.array([[1.0, 2.0], [3.0, 4.0]])
    together = Unfrozen().entropy(1.5, scale=scale)
    singly = [[Unfrozen().entropy(1.5, scale=s) for s in row] for row in scale]
    np.testing.assert_allclose(together, singly, atol=1e-14)
    mixed = np.array([0.15, 1.2, 1.5])
    common.check_rvs_broadcast(Unfrozen(), "symmetric_stable", [mixed], (3,), False, "d")
