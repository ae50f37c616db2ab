"""The fields against closed forms, against their definitions, and against each other."""

import _thread
import math
import threading
import time
from pathlib import Path

import fuld
import numpy as np
import pytest
from numpy.typing import ArrayLike

WELL = "x^4/4 - x^2/2"


def close(ours: ArrayLike, theirs: ArrayLike, rtol: float = 1e-12, atol: float = 0.0) -> None:
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=rtol, atol=atol)


# The Riesz derivative.


def bell(x: np.ndarray) -> np.ndarray:
    return np.exp(-(x**2) / 2)


GRID = np.linspace(-12, 12, 97)  # spacing 1/4: nothing but rounding is left


def test_riesz_of_order_0_and_2():
    assert (fuld.riesz(bell(GRID), 0.25, 0) == bell(GRID)).all()
    close(fuld.riesz(bell(GRID), 0.25, 2), (1 - GRID**2) * bell(GRID), atol=1e-12)


@pytest.mark.parametrize("order", [-0.9, -0.5, 0.5, 1.0, 1.5, 3.0])
def test_riesz_of_a_bell(order):
    """2^(order/2) Gamma((order+1)/2)/sqrt(pi) 1F1((1+order)/2; 1/2; -x^2/2)."""
    special = pytest.importorskip("scipy.special")
    peak = 2 ** (order / 2) * math.gamma((order + 1) / 2) / math.sqrt(math.pi)
    closed = peak * special.hyp1f1((1 + order) / 2, 0.5, -(GRID**2) / 2)
    unit = max(1.0, (math.pi / 0.25) ** order)
    close(fuld.riesz(bell(GRID), 0.25, order), closed, rtol=1e-12, atol=1e-14 * unit)


def test_riesz_of_a_cauchy_density():
    """(1 - x^2)/(1 + x^2)^2; the grid cuts a tail that counts 1/L^3."""
    x = np.linspace(-800, 800, 16001)
    near = np.abs(x) < 50
    closed = (1 - x**2) / (1 + x**2) ** 2
    close(fuld.riesz(1 / (1 + x**2), 0.1, 1.0)[near], closed[near], rtol=0, atol=1e-8)


def test_riesz_of_a_sine():
    """A wave is multiplied by its frequency to the power order; the window changes that by 1e-4."""
    x = np.linspace(-200, 200, 4001)
    wave = np.sin(2 * x) * np.exp(-(x**2) / 3200)
    middle = np.abs(x) < 5
    result = fuld.riesz(wave, 0.1, 1.5)
    close(result[middle], 2**1.5 * np.sin(2 * x[middle]), rtol=0, atol=0.02)


def test_riesz_along_an_axis():
    u = np.stack([bell(GRID), GRID * bell(GRID), bell(GRID - 1)])
    rows = np.stack([fuld.riesz(row, 0.25, 0.7) for row in u])
    assert (fuld.riesz(u, 0.25, 0.7) == rows).all()
    assert (fuld.riesz(u.T, 0.25, 0.7, axis=0) == rows.T).all()
    cube = np.stack([u, 2 * u])
    turned = fuld.riesz(np.moveaxis(cube, 2, 1), 0.25, 0.7, axis=1)
    assert (turned == np.moveaxis(np.stack([rows, 2 * rows]), 2, 1)).all()
    assert fuld.riesz(np.zeros((0, 5)), 0.25, 0.7).shape == (0, 5)


def test_riesz_in_single_precision_is_rounded_once():
    u = bell(GRID).astype(np.float32)
    result = fuld.riesz(u, 0.25, 0.7)
    assert result.dtype == np.float32
    assert (result == fuld.riesz(u.astype(float), 0.25, 0.7).astype(np.float32)).all()
    assert fuld.riesz([0, 1, 0], 1.0, 1.0).dtype == np.float64


@pytest.mark.parametrize(
    ("u", "dx", "order", "message"),
    [
        (bell(GRID), 0.25, -1.0, "-1 < order <= 20, got -1"),
        (bell(GRID), 0.25, 20.5, "-1 < order <= 20, got 20.5"),
        (bell(GRID), 0.25, np.nan, "order <= 20, got NaN"),
        (bell(GRID), 0.0, 1.0, "spacing must be positive and finite, got 0"),
        ([0.0, 1.0, np.nan], 0.25, 1.0, r"u\[2\] is nan; u must be finite"),
        ([[0.0, 1.0], [np.inf, 0.0]], 0.25, 1.0, r"u\[1, 0\] is inf"),
        (1.0, 0.25, 1.0, "samples on a grid, got the single number 1.0"),
        (bell(GRID)[:, None], 0.25, -1.5, "order"),
    ],
)
def test_riesz_refuses(u, dx, order, message):
    with pytest.raises(ValueError, match=message):
        fuld.riesz(u, dx, order)


def test_riesz_refuses_an_axis_that_is_none():
    with pytest.raises(IndexError, match="axis 1"):
        fuld.riesz(bell(GRID), 0.25, 1.0, axis=1)


# The drift of the Gaussian energy.

V = np.array([-6.0, -1.0, -1e-3, 0.0, 0.3, 2.0, 8.0])


def test_drift_c_at_alpha_2_is_v():
    assert (fuld.drift_c(V, 2.0) == V).all()
    assert (fuld.drift_c(V, 2.0, beta=0.3) == V).all()


def test_drift_c_at_alpha_1_is_erfi():
    """c(v) = erfi(sqrt(beta/2) v)/beta."""
    special = pytest.importorskip("scipy.special")
    for beta in (0.25, 1.0, 3.0):
        closed = special.erfi(math.sqrt(beta / 2) * V) / beta
        close(fuld.drift_c(V, 1.0, beta), closed, rtol=1e-12)


@pytest.mark.parametrize("alpha", [1.2, 1.5, 1.9])
@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_drift_c_is_what_theorem_1_says(alpha, beta):
    """D^(alpha-2)(psi v)/psi, by the Riesz derivative on a grid."""
    x = np.linspace(-40, 40, 641)
    psi = np.exp(-beta * x**2 / 2)
    middle = np.abs(x) < 2.5
    c = fuld.riesz(psi * x, 0.125, alpha - 2)[middle] / psi[middle]
    close(fuld.drift_c(x[middle], alpha, beta), c, rtol=1e-9, atol=1e-9)


def test_drift_c_takes_the_time_of_the_golden_flow():
    """v' = -c(v) takes v0 to v1 in the integral of 1/c, here over log v."""
    golden = Path(__file__).parents[2] / "fuld/tests/golden/gaussian_flow.csv"
    table = np.genfromtxt(golden, delimiter=",", skip_header=3)
    alpha, v0, v1, times = table.T
    assert len(times) == 240
    nodes, weights = np.polynomial.legendre.leggauss(400)
    low, high = np.log(v1)[:, None], np.log(v0)[:, None]
    v = np.exp((high + low) / 2 + (high - low) / 2 * nodes)
    integral = (high - low)[:, 0] / 2 * ((v / fuld.drift_c(v, alpha[:, None])) @ weights)
    close(integral, times, rtol=1e-12)


# The transport of the stable energy.


def test_transport_h_in_closed_form():
    assert (fuld.transport_h(V, 2.0) == V).all()
    for beta in (0.25, 1.0, 3.0):
        close(fuld.transport_h(V, 2.0, beta), V, rtol=1e-15)
        close(fuld.transport_h(V, 1.0, beta), 2 * beta * V / (1 + (beta * V) ** 2))


@pytest.mark.parametrize("alpha", [0.5, 1.2, 1.75])
@pytest.mark.parametrize("beta", [0.25, 1.0, 3.0])
def test_transport_h_at_both_ends(alpha, beta):
    slope = alpha ** (2 / alpha) * math.gamma(3 / alpha) / math.gamma(1 / alpha)
    close(fuld.transport_h(1e-9, alpha, beta), 1e-9 * slope * beta ** (2 / alpha - 1), rtol=1e-10)
    close(fuld.transport_h(1e12, alpha, beta), (1 + alpha) / (beta * 1e12), rtol=1e-5)


# Properties of all fields.


@pytest.mark.parametrize("field", [fuld.drift_c, fuld.transport_h])
def test_fields_broadcast(field):
    alpha = np.array([1.1, 1.5, 1.5, 2.0])[:, None, None]
    beta = np.array([0.5, 2.0])[:, None]
    result = field(V, alpha, beta)
    assert result.shape == (4, 2, 7)
    for i, one_alpha in enumerate(alpha.flat):
        for j, one_beta in enumerate(beta.flat):
            assert (result[i, j] == field(V, float(one_alpha), float(one_beta))).all()
    assert (field(V.reshape(7, 1), alpha[:, 0, 0]) == field(V, alpha[:, 0]).T).all()
    assert field(V[:0], np.array([1.5])).shape == (0,)
    assert field(np.zeros((3, 0)), 1.5).shape == (3, 0)


@pytest.mark.parametrize("field", [fuld.drift_c, fuld.transport_h])
def test_fields_keep_shape_order_and_precision(field):
    grid = np.linspace(-3, 3, 24).reshape(4, 6)
    expected = np.array([[field(v, 1.5) for v in row] for row in grid])
    for same in (grid, np.asfortranarray(grid), np.repeat(grid, 2, axis=1)[:, ::2]):
        assert (field(same, 1.5) == expected).all()
    single = field(grid.astype(np.float32), [[1.5]])
    assert single.dtype == np.float32
    exact = field(grid.astype(np.float32).astype(float), 1.5)
    assert (single == exact.astype(np.float32)).all()
    assert isinstance(field(1, 1.5), np.float64)
    assert isinstance(field(np.float32(1), 1.5), np.float32)
    assert np.isnan(field([np.nan, 1.0], 1.5)).tolist() == [True, False]


@pytest.mark.parametrize(
    ("field", "arguments", "message"),
    [
        (fuld.drift_c, (1.0, 2.1), "0 < alpha <= 2, got 2.1"),
        (fuld.drift_c, (1.0, [1.5, np.nan]), "0 < alpha <= 2, got NaN"),
        (fuld.drift_c, (1.0, 1.5, 0.0), "beta must be positive and finite, got 0"),
        (fuld.transport_h, (1.0, 0.05), "0.1 <= alpha <= 2, got 0.05"),
        (fuld.transport_h, (1.0, 1.5, [1.0, -1.0]), "beta must be positive and finite, got -1"),
        (
            fuld.transport_h,
            (np.ones(3), np.ones(2)),
            r"v of shape \(3,\) and alpha of shape \(2,\)",
        ),
        (fuld.flmc_drift, ("x^2 + 3y", 1.0, 1.5), "an operator is missing before `y`"),
        (fuld.flmc_drift, ("x^2 + y^2", 1.0, 1.5), "one variable; 'x\\^2 \\+ y\\^2' has 2"),
        (fuld.flmc_drift, ("x^2", 1.0, 2.5), "0 < alpha <= 2, got 2.5"),
        (fuld.flmc_drift, ("-x^2", 1.0, 1.5), "cannot be normalised"),
        (fuld.flmc_drift, ("x^2", [1.0, np.inf], 1.5), r"x\[1\] is inf; x must be finite"),
        (fuld.flmc_drift, ("x^2", -np.inf, 1.5), r"x is -inf; x must be finite"),
    ],
)
def test_fields_refuse(field, arguments, message):
    with pytest.raises(ValueError, match=message):
        field(*arguments)


@pytest.mark.parametrize("bad", [1j, "1", None, [[1], None]])
def test_fields_refuse_what_is_no_number(bad):
    with pytest.raises(
        (TypeError, ValueError), match=r"^v (must hold real numbers|is not an array)"
    ):
        fuld.drift_c(bad, 1.5)
    with pytest.raises(
        (TypeError, ValueError), match=r"^alpha (must hold real numbers|is not an array)"
    ):
        fuld.drift_c(1.0, bad)


# FLMC's drift and the phase plane.

X = np.linspace(-2.5, 2.5, 41)


def test_flmc_drift_of_nan_is_nan():
    assert np.isnan(fuld.flmc_drift(WELL, [0.5, np.nan], 1.5)).tolist() == [False, True]


def test_flmc_drift_at_alpha_2_is_the_gradient():
    close(fuld.flmc_drift(WELL, X, 2.0, 0.5), -(X**3 - X), rtol=1e-8, atol=1e-8)


def test_flmc_drift_is_what_the_paper_says():
    """b = -D^(alpha-2)(phi f')/phi, by the Riesz derivative on a grid."""
    x = np.linspace(-16, 16, 1025)
    phi = np.exp(-2.0 * (x**4 / 4 - x**2 / 2))
    b = -fuld.riesz(phi * (x**3 - x), x[1] - x[0], -0.5) / np.maximum(phi, 1e-300)
    middle = np.abs(x) <= 2
    ours = fuld.flmc_drift(WELL, x[middle], 1.5, 2.0)
    close(ours * phi[middle], (b * phi)[middle], rtol=1e-8, atol=1e-9)


def test_flmc_drift_knows_wells_beyond_the_points():
    near, far = fuld.flmc_drift(WELL, 0.5, 1.5), fuld.flmc_drift(WELL, [0.5, 3.0], 1.5)[0]
    close(near, far, rtol=1e-9)
    assert fuld.flmc_drift(WELL, X.astype(np.float32), 1.5).dtype == np.float32


def test_interrupts_stop_a_drift_that_takes_long():
    threading.Timer(0.3, _thread.interrupt_main).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fuld.flmc_drift("abs(x)", 1.0, 1.5)  # not smooth: half a minute until it is refused
    assert time.monotonic() - start < 5


def test_conformal_field_is_put_together():
    x, v = X[:, None], V[1:-1]
    field = fuld.conformal_field(WELL, x, v, alpha=1.5, beta=2.0, gamma=0.5)
    everywhere = np.ones((41, 5))
    close(field.transport, everywhere * fuld.transport_h(v, 1.5, 2.0), rtol=1e-14)
    close(field.force, -everywhere * (x**3 - x), atol=1e-14)
    assert (field.friction == -0.5 * v * everywhere).all()
    assert (field.acceleration == field.force + field.friction).all()
    field = fuld.conformal_field(WELL, x, v, 1.5, gamma=0.5, beta=2.0, energy="gaussian")
    assert (field.transport == v * everywhere).all()
    close(field.friction, -0.5 * fuld.drift_c(v, 1.5, 2.0) * everywhere, rtol=1e-14)
    assert isinstance(fuld.conformal_field(WELL, 1.0, 1.0, 1.5, gamma=1.0).force, np.float64)


def test_conformal_field_refuses():
    with pytest.raises(ValueError, match="gamma must be finite and not negative, got -1"):
        fuld.conformal_field(WELL, X, 1.0, 1.5, gamma=-1)
    with pytest.raises(ValueError, match="'stable' or 'gaussian', got 'gauss'"):
        fuld.conformal_field(WELL, X, 1.0, 1.5, gamma=1, energy="gauss")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"x of shape \(41,\) and v of shape \(3,\) do not"):
        fuld.conformal_field(WELL, X, np.ones(3), 1.5, gamma=1)
    with pytest.raises(TypeError, match=r"must be a formula such as .*, got 3"):
        fuld.conformal_field(3, X, 1.0, 1.5, gamma=1)  # type: ignore[arg-type]
