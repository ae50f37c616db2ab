"""The field ∇G_α: exact, and from its table."""

import pickle
from typing import Any, cast

import numpy as np
import pytest
from fuld import FieldTable, SymmetricStable, field_table, grad_g

V = np.concatenate([[0.0], np.logspace(-300, 300, 601), np.linspace(0.01, 30, 1000)])
V = np.concatenate([-V, V])


def test_closed_forms():
    v = np.linspace(-5, 5, 101)
    np.testing.assert_allclose(grad_g(v, 2.0), v, rtol=1e-15)
    np.testing.assert_allclose(grad_g(v, 1.0), 2 * v / (1 + v**2), rtol=1e-15)
    # (1 + alpha)/v far out; the slope alpha^(2/alpha) Gamma(3/alpha)/Gamma(1/alpha) at 0.
    np.testing.assert_allclose(grad_g(1e9, [0.8, 1.5]), np.array([1.8, 2.5]) / 1e9, rtol=1e-6)
    np.testing.assert_allclose(
        grad_g(1e-9, 1.5) / 1e-9, 1.5 ** (4 / 3) / 1.3541179394264, rtol=1e-12
    )


def test_broadcasts_and_keeps_single_precision():
    v, alpha = np.linspace(-2, 2, 5), np.array([[1.2], [1.8]])
    np.testing.assert_array_equal(grad_g(v, alpha), [grad_g(v, a) for a in (1.2, 1.8)])
    assert grad_g(v.astype(np.float32), alpha).dtype == np.float32
    assert type(grad_g(0.5, 1.5)) is np.float64
    with pytest.raises(ValueError, match=r"0 < alpha <= 2, got 2\.1"):
        grad_g(v, 2.1)
    assert np.isfinite(grad_g([1e-20, 1.0], 0.0075)).all()
    for ask in (SymmetricStable.kinetic, lambda alpha: grad_g(v, alpha)):
        with pytest.raises(ValueError, match=r"requires 0\.0075 <= alpha <= 2, got 0\.005"):
            ask(0.005)
    np.testing.assert_array_equal(grad_g(v, 1.3), -SymmetricStable.kinetic(1.3).score(v))


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0, 1.5, 1.99, 2.0])
def test_table_holds_its_error(alpha):
    exact = grad_g(V, alpha)
    np.testing.assert_allclose(field_table(alpha)(V), exact, rtol=1e-12, atol=0)
    single = V[(np.abs(V) < 1e30) & (np.abs(V) > 1e-30)].astype(np.float32)
    np.testing.assert_allclose(
        field_table(alpha, np.float32)(single),
        grad_g(single.astype(float), alpha),
        rtol=2e-7,
        atol=0,
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_table_on_arrays(dtype):
    field = field_table(1.5, dtype)
    assert (field.alpha, field.dtype) == (1.5, np.dtype(dtype))
    v = np.linspace(-3, 3, 24, dtype=dtype).reshape(4, 6)
    exact = np.array([field(dtype(value)) for value in v.flat]).reshape(v.shape)
    for view in (v, np.asfortranarray(v), np.repeat(v, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(field(view), exact, strict=True)
    for out in (np.empty_like(v), np.empty_like(v, order="F"), np.empty((4, 12), dtype)[:, ::2]):
        assert field(v, out=out) is out
        np.testing.assert_array_equal(out, exact)
        assert field(np.asfortranarray(v), out=out) is out
        np.testing.assert_array_equal(out, exact)
    turned = np.arange(24, dtype=dtype).reshape(2, 3, 4).transpose(1, 0, 2)
    np.testing.assert_array_equal(field(turned), field(turned.copy()))
    itself = v.copy()
    field(itself, out=itself)
    np.testing.assert_array_equal(itself, exact)
    shifted = np.concatenate([v.ravel(), v.ravel()[:1]])
    field(shifted[:-1], out=shifted[1:])
    np.testing.assert_array_equal(shifted[1:], exact.ravel())
    assert type(field(0.5)) is dtype
    assert field([0.5, 1.0]).dtype == dtype
    assert field(np.empty((0, 2), dtype)).shape == (0, 2)


def test_table_is_a_value():
    field = field_table(1.5, np.float32)
    twin = pickle.loads(pickle.dumps(field))
    assert isinstance(twin, FieldTable)
    assert twin == field != field_table(1.5)
    assert hash(twin) == hash(field)
    assert twin(0.7) == field(0.7)
    assert repr(field) == "FieldTable(alpha=1.5, dtype=float32)"


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match=r"0\.1 <= alpha <= 2, got 0\.05"):
        field_table(0.05)
    with pytest.raises(ValueError, match="0 < alpha <= 2, got NaN"):
        field_table(np.nan)
    with pytest.raises(TypeError, match=r"one alpha, got an array of shape \(2,\)"):
        field_table(cast(Any, [1.2, 1.5]))
    with pytest.raises(TypeError, match="float32 or float64, got int64"):
        field_table(1.5, np.int64)
    field = field_table(1.5)
    with pytest.raises(
        TypeError, match=r"got v of float32: make one with field_table\(alpha, float32"
    ):
        field(np.zeros(3, np.float32))
    with pytest.raises(ValueError, match=r"shape \(3,\), got float64 and \(2,\)"):
        field(np.zeros(3), out=np.zeros(2))
    with pytest.raises(TypeError, match="out must be an array"):
        field(np.zeros(3), out=cast(Any, [0.0, 0.0, 0.0]))
    frozen = np.zeros(3)
    frozen.setflags(write=False)
    with pytest.raises((ValueError, TypeError), match=r"read-only|writeable"):
        field(np.zeros(3), out=frozen)
