"""The law against ball arithmetic, against scipy where scipy is right, and where it is not."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuld import SymmetricStable

GOLDEN = Path(__file__).parents[2] / "levy-stable" / "tests" / "golden"


def golden(file):
    """The columns of a golden file by name; what a double cannot hold is 0 or infinite."""
    lines = [line for line in (GOLDEN / file).read_text().splitlines() if not line.startswith("#")]
    names, *rows = (line.split(",") for line in lines)
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    columns.pop("class", None)
    return {name: np.array(column, dtype=float) for name, column in columns.items()}


def relative_error(ours, exact, size=None):
    """Return |ours - exact|/size; below the normal range, relative to the remaining digits."""
    size = np.abs(exact) if size is None else size
    with np.errstate(invalid="ignore"):
        error = np.abs(ours - exact) / np.maximum(size, 1e-290)
    return np.where(ours == exact, 0.0, error)


@pytest.mark.parametrize("file", ["small.csv", "random.csv"])
def test_golden_values(file):
    rows = golden(file)
    law, x = SymmetricStable(rows["alpha"]), rows["x"]
    usual = rows["alpha"] >= 0.3
    for name in ("pdf", "sf", "score"):
        error = relative_error(getattr(law, name)(x), rows[name])
        assert error[usual].max() <= 2e-14, name
        assert error[~usual].max() <= 1e-12, name
    size = np.abs(rows["score_deriv"]) + rows["score"] ** 2
    error = relative_error(law.score_derivative(x), rows["score_deriv"], size)
    assert error.max() <= 1e-12
    # Functions that are computed from the others.
    normal = (rows["pdf"] > 1e-300) & (rows["sf"] > 1e-300) & np.isfinite(rows["pdf"])
    law, x = SymmetricStable(rows["alpha"][normal]), x[normal]
    np.testing.assert_allclose(law.cdf(-x), rows["sf"][normal], rtol=1e-12)
    np.testing.assert_allclose(law.cdf(x), 1 - rows["sf"][normal], rtol=1e-12)
    np.testing.assert_allclose(law.logpdf(x), np.log(rows["pdf"][normal]), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(law.logsf(x), np.log(rows["sf"][normal]), rtol=1e-12)
    np.testing.assert_allclose(law.logcdf(-x), law.logsf(x), rtol=0)


def test_golden_quantiles():
    rows = golden("quantile.csv")
    law, q, x = SymmetricStable(rows["alpha"]), rows["q"], rows["x"]
    # The error of q that rounding of x may cause, plus that of the law, seen through the slope.
    bound = 2e-14 * (1 + q / (x * law.pdf(x)))
    assert np.all(relative_error(law.isf(q), x) <= bound)
    assert np.all(relative_error(-law.ppf(q), x) <= bound)


def test_golden_entropies():
    rows = golden("entropy.csv")
    ours = SymmetricStable(rows["alpha"], 3.0).entropy()
    np.testing.assert_allclose(ours, rows["entropy"] + np.log(3), rtol=0, atol=2e-12)


def test_scale_scales():
    unit, wide, x = SymmetricStable(1.3), SymmetricStable(1.3, 4.0), np.linspace(-9, 9, 19)
    assert np.array_equal(wide.pdf(4 * x), unit.pdf(x) / 4)
    assert np.array_equal(wide.cdf(4 * x), unit.cdf(x))
    assert np.array_equal(wide.score(4 * x), unit.score(x) / 4)
    assert np.array_equal(wide.score_derivative(4 * x), unit.score_derivative(x) / 16)
    assert np.array_equal(wide.ppf(unit.cdf(x)), 4 * unit.ppf(unit.cdf(x)))
    assert np.array_equal(wide.characteristic_function(x / 4), unit.characteristic_function(x))


def test_moments():
    alpha = np.array([0.5, 1.0, 1.5, 2.0])
    law = SymmetricStable(alpha, 3.0)
    nan, inf = np.nan, np.inf
    np.testing.assert_array_equal(law.mean(), [nan, nan, 0, 0])
    np.testing.assert_allclose(law.var(), [inf, inf, inf, 18])
    np.testing.assert_allclose(law.std(), [inf, inf, inf, np.sqrt(18)])
    np.testing.assert_array_equal(law.moment(0), [1, 1, 1, 1])
    np.testing.assert_array_equal(law.moment(3), [nan, nan, nan, 0])
    np.testing.assert_allclose(law.moment(4), [inf, inf, inf, 3 * 18**2])
    for ours, exact in zip(law.stats("mvsk"), [law.mean(), law.var()], strict=False):
        np.testing.assert_array_equal(ours, exact)
    np.testing.assert_array_equal(law.stats("k"), [nan, nan, nan, 0])
    # Also where the variance is no double.
    for scale in (1e-170, 1e200):
        assert SymmetricStable(2.0, scale).stats("sk") == (0, 0)
        assert SymmetricStable(1.5, scale).std() == inf
    assert len(law.stats("vs")) == 2
    # E |X|^(1/2) of the Cauchy law is the root of twice its scale.
    np.testing.assert_allclose(SymmetricStable(1.0, 3.0).absolute_moment(0.5), np.sqrt(6))
    np.testing.assert_array_equal(law.mode(), np.zeros(4))
    np.testing.assert_array_equal(law.median(), np.zeros(4))


def power(x, p):
    return np.abs(x) ** p


def test_expectations():
    law = SymmetricStable(1.5, 2.0)
    assert law.expect() == 0
    assert law.expect(lambda x: 1) == pytest.approx(1, rel=1e-14)
    for p in (-0.3, 0.5, 1.0, 1.3):
        mean = law.expect(partial(power, p=p))
        assert mean == pytest.approx(law.absolute_moment(p), rel=1e-13)
    # E ln(1 + X²) of the Cauchy law is ln 4, E g'(X)² of the Gaussian of variance 2 is 1/2.
    cauchy, gauss = SymmetricStable(1.0), SymmetricStable(2.0)
    assert cauchy.expect(lambda x: np.log1p(x * x)) == pytest.approx(np.log(4), rel=1e-13)
    assert gauss.expect(lambda x: gauss.score(x) ** 2) == pytest.approx(0.5, rel=1e-13)
    # The part of E ln X beyond 1 is Catalan's constant by π; the other tail is not looked at.
    catalan = 0.915965594177219015
    assert cauchy.expect(np.log, lb=1) == pytest.approx(catalan / np.pi, rel=1e-13)
    for lb, ub in ((-1, 2), (1, np.inf), (-3, -1), (5, 5), (0, 0.5)):
        assert law.expect(lambda x: 1, lb, ub) == pytest.approx(
            law.cdf(ub) - law.cdf(lb), abs=1e-13
        )
    assert law.expect(lambda x: 3, 10, 20, conditional=True) == pytest.approx(3, rel=1e-12)
    assert law.expect(lambda x: x, -7, 5) < 0 < law.expect(lambda x: x, -5, 7)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 2.0])
def test_expectations_of_what_is_singular_at_the_median(alpha):
    law = SymmetricStable(alpha, 3.0)
    for p in (-0.95, -0.9, -0.5, -0.3):
        assert law.expect(partial(power, p=p)) == pytest.approx(law.absolute_moment(p), rel=1e-13)
    # E ln|X| is C(1/α - 1) + ln σ, C Euler's constant.
    mean = np.euler_gamma * (1 / alpha - 1) + np.log(3)
    assert law.expect(lambda x: np.log(np.abs(x))) == pytest.approx(mean, rel=1e-13)
    # Up to a bound as well, on either side.
    assert law.expect(partial(power, p=-0.5), 0, 1) == pytest.approx(
        law.expect(partial(power, p=-0.5), -1, 0), rel=1e-14
    )


def test_expectations_that_cannot_be_asked_for():
    law = SymmetricStable(1.5)
    with pytest.raises(ValueError, match=r"no draw lies between lb = 1.0 and ub = 1.0"):
        law.expect(lb=1, ub=1, conditional=True)
    with pytest.raises(TypeError, match="func must return real numbers, got complex128"):
        law.expect(lambda x: np.exp(1j * x))


def test_expectations_that_are_not_to_be_had_warn():
    def somewhere_infinite(x):
        return np.where(np.abs(x) > 10, np.inf, 0.0)

    # The last three have a mean, but a part of it that counts is from beyond the doubles, or is
    # never resolved.
    powers = [partial(power, p=p) for p in (-1, 1.5, 1.499, -0.97)]
    functions: list[Callable[[Any], Any]] = [np.square, np.exp, somewhere_infinite, *powers, np.cos]
    for func in functions:
        with pytest.warns(RuntimeWarning, match="the expectation has not settled"):
            SymmetricStable(1.5).expect(func)
    with pytest.raises(ValueError, match="expect is for one law"):
        SymmetricStable([1.2, 1.5]).expect()
    with pytest.raises(ValueError, match=r"lb must not be above ub, got lb = 2.0 and ub = 1.0"):
        SymmetricStable(1.5).expect(lb=2, ub=1)


def test_interval_holds_what_it_says():
    law = SymmetricStable([[1.2], [1.9]], 2.0)
    low, high = law.interval([0.1, 0.9, 1 - 1e-9])
    np.testing.assert_allclose(law.sf(high) + law.cdf(low), [[0.9, 0.1, 1e-9]] * 2, rtol=1e-7)
    assert SymmetricStable(1.5).interval(1.0) == (-np.inf, np.inf)


def test_gauss_and_cauchy_are_scipys():
    stats = pytest.importorskip("scipy.stats")
    x, q = np.linspace(-12, 12, 401), np.linspace(0.01, 0.99, 99)
    for alpha, peer in ((2.0, stats.norm(scale=3 * np.sqrt(2))), (1.0, stats.cauchy(scale=3))):
        law = SymmetricStable(alpha, 3.0)
        for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):
            np.testing.assert_allclose(getattr(law, name)(x), getattr(peer, name)(x), rtol=2e-14)
        for name in ("ppf", "isf"):
            np.testing.assert_allclose(
                getattr(law, name)(q), getattr(peer, name)(q), rtol=2e-14, atol=1e-14
            )
        np.testing.assert_allclose(law.entropy(), peer.entropy(), rtol=1e-14)
        np.testing.assert_array_equal(law.support(), peer.support())


@pytest.mark.filterwarnings("ignore")
def test_scipy_where_it_is_right():
    stats = pytest.importorskip("scipy.stats")
    x = np.array([0.1, 0.5, 1.0, 2.0, 5.0])
    for alpha in (0.7, 1.3, 1.5, 1.8):
        law, peer = SymmetricStable(alpha, 2.0), stats.levy_stable(alpha, 0, scale=2.0)
        np.testing.assert_allclose(law.pdf(x), peer.pdf(x), rtol=1e-6)
        np.testing.assert_allclose(law.cdf(-x), peer.cdf(-x), rtol=1e-6)
        np.testing.assert_allclose(law.ppf([0.2, 0.9]), peer.ppf([0.2, 0.9]), rtol=1e-5)
        np.testing.assert_array_equal(law.mean(), peer.mean())
        assert law.var() == peer.var() == np.inf


# The true values of the first two with mpmath, of the others from the golden values:
#   sf(a, x) = sum((-1)**(n+1)*gamma(a*n)/factorial(n)*sin(pi*a*n/2)/pi*x**(-a*n) for n in 1..20)
#   findroot(lambda x: sf(1.5, x) - (1 - mpf(0.999999)), 3413)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "alpha", "x", "exact"),
    [
        ("ppf", 1.5, 0.999999, 3413.938523741241174785325),
        ("sf", 1.3181, 368.43, 0.0001036133733632184711447779),
        ("pdf", 1.9999980260637868, 8.968425, 3.76804992725349e-09),
        ("pdf", 0.9986982655978921, 572.4423, 9.788865824996445e-07),
        ("pdf", 1.9999999999999873, 18.18489, 2.1847131730961676e-18),
    ],
)
def test_right_where_scipy_is_not(name, alpha, x, exact):
    ours = getattr(SymmetricStable(alpha), name)(x)
    try:
        from scipy.stats import levy_stable
    except ImportError:
        scipys = "not installed"
    else:
        scipys = getattr(levy_stable(alpha, 0), name)(x)
    print(f"{name} at alpha = {alpha}, {x}: {exact}, ours {ours}, scipy's {scipys}")
    assert ours == pytest.approx(exact, rel=2e-14, abs=0)
