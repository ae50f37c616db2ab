"""The draws of fuld.sample: those of Rust, those of the target, and always the same."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import fuld
import numpy as np
import pytest

from tests.wells import one_well, well

#: fuld sample "x^4/4 - x^2/2" --chains 3 --draws 4 --seed 7 --alpha 1.5 --integrator baoab
PINNED = [
    [0.7355257395054154, 0.8013136559353836, 1.6490522840447817, 0.7594333829655692],
    [0.9020039127914004, 0.8374012133370955, 0.47346423322838066, 0.2707813543695445],
    [-1.128272245783602, -1.8154228574135118, -0.9347466275377182, -1.1007203253871123],
]


def draws(potential, **settings):
    settings = {"chains": 8, "draws": 50, "seed": 3, **settings}
    return fuld.sample(potential, output="numpy", **settings)["x"]


def test_draws_are_those_of_rust():
    settings: dict[str, Any] = {"chains": 3, "draws": 4, "seed": 7, "alpha": 1.5}
    x = fuld.sample("x^4/4 - x^2/2", integrator="baoab", output="numpy", **settings)["x"]
    np.testing.assert_array_equal(x, PINNED)


def kolmogorov(x, f):
    """Distance between draws and the law of density exp(-f), times the root of their number."""
    grid = np.linspace(-6, 6, 24_001)
    cdf = np.cumsum(np.exp(-f(grid)))
    exact = np.interp(np.sort(x), grid, cdf / cdf[-1])
    steps = np.arange(len(x) + 1) / len(x)
    return max(np.max(steps[1:] - exact), np.max(exact - steps[:-1])) * len(x) ** 0.5


@pytest.mark.parametrize("potential", ["x^4/4 - x^2/2", well], ids=["formula", "function"])
def test_the_law_is_right(potential):
    # One draw of each chain: independent, so that a distance above 2.2 has probability 1.3e-4.
    x = draws(potential, chains=16_000, draws=1, warmup=500, alpha=1.6)[:, 0]
    assert kolmogorov(x, lambda x: x**4 / 4 - x**2 / 2) < 2.2
    # It sees a well that is a fifth too deep.
    assert kolmogorov(x, lambda x: x**4 / 4 - 0.6 * x**2) > 2.2


def test_second_moment_in_two_dimensions_with_another_beta():
    # 2000 independent draws: 5 standard errors of a variance are 0.16 of it, a false alarm in 1e6.
    # f = x'Ax/2 with A = [[2, 1.2], [1.2, 2]]: the covariance is A^-1/beta.
    x = draws("x^2 + 1.2*x*y + y^2", chains=2000, draws=1, warmup=400, beta=2.0, step=0.02)[:, 0]
    exact = np.linalg.inv([[2.0, 1.2], [1.2, 2.0]]) / 2.0
    assert np.cov(x.T) == pytest.approx(exact, abs=0.16 * exact[0, 0])
    narrow = draws("x^2/2", chains=2000, draws=1, warmup=400, beta=4.0, step=0.02)[:, 0]
    assert narrow.var() == pytest.approx(0.25, rel=0.16)


def test_cores_do_not_matter_and_seeds_do():
    one = draws("double_well", dim=3, threads=1)
    np.testing.assert_array_equal(one, draws("double_well", dim=3, threads=5))
    np.testing.assert_array_equal(one, draws("double_well", dim=3))
    assert not np.array_equal(one, draws("double_well", dim=3, seed=4))


def test_a_function_draws_what_the_formula_does():
    formula = draws("double_well", dim=2, integrator="baoab")
    # Powers are computed in another order, which shows in the last bits, and grows.
    for function in (well, one_well):
        x = draws(function, dim=2, integrator="baoab")
        np.testing.assert_allclose(x, formula, rtol=1e-6)


def test_chains_are_the_same_however_many_there_are():
    # The chains of "exact" adapt together.
    few, many = (draws(well, chains=chains, integrator="baoab") for chains in (3, 8))
    np.testing.assert_array_equal(few, many[:3])


def test_start_is_a_point_or_a_number():
    still: dict[str, Any] = {"system": "momentum", "draws": 1, "warmup": 0, "thin": 1, "step": 1e-9}
    assert draws("x^2 + y^2", start=[1, 2], **still)[0, 0] == pytest.approx([1, 2])
    assert draws("x^2 + y^2", start=3, **still)[0, 0] == pytest.approx([3, 3])
    assert draws(well, start=[1, 2, 3], **still).shape == (8, 1, 3)
    assert draws("x", spread=0, **still)[:, 0] == pytest.approx(0, abs=1e-6)


def test_velocities_come_on_request():
    both = fuld.sample("x^2/2", chains=2, draws=5, velocities=True, seed=0, output="numpy")
    assert both["v"].shape == both["x"].shape == (2, 5)
    np.testing.assert_array_equal(both["x"], draws("x^2/2", chains=2, draws=5, seed=0))


@pytest.mark.parametrize("system", [name for name in fuld.systems() if name != "flmc"])
def test_systems_take_a_function(system):
    few: dict[str, Any] = {"system": system, "chains": 4, "draws": 3, "warmup": 10, "thin": 2}
    np.testing.assert_allclose(draws(well, **few), draws("double_well", **few), rtol=1e-6)


def test_a_drift_that_would_take_minutes_is_refused():
    with pytest.raises(ValueError, match="a function of Python is too slow: write f as a formula"):
        draws(well, system="flmc")


def test_a_chain_that_leaves_is_marked_from_then_on():
    with pytest.warns(fuld.Diverged, match="3 of 3 chains left for infinity"):
        x = fuld.sample("-x^4", system="overdamped-langevin", chains=3, draws=5, start=1.0)
    assert x.stats["diverging"][:, -1].all()
    assert list(x.to("xarray").attrs["diverged_chains"]) == [0, 1, 2]


def test_each_chain_may_have_its_own_start():
    still: dict[str, Any] = {"system": "momentum", "draws": 1, "warmup": 0, "thin": 1, "step": 1e-9}
    starts = np.arange(6.0).reshape(3, 2) - 2.5
    for potential in ("x^2 + y^2", well):
        x = draws(potential, start=starts, chains=3, **still)
        assert x[:, 0] == pytest.approx(starts)
    # As many chains as coordinates.
    x = draws(well, start=starts[:2].tolist(), chains=2, **still)
    assert x[:, 0] == pytest.approx(starts[:2])
    with pytest.raises(ValueError, match="chains would start where f is not finite"):
        draws("x - log(x)", start=[[1.0], [-1.0]], chains=2)


@pytest.mark.parametrize("executor", [False, True])
def test_a_run_with_its_own_starts_continues(tmp_path, executor):
    settings: dict[str, Any] = {"chains": 3, "start": [[0.5], [1.0], [1.5]], "integrator": "baoab"}
    whole = draws(well, **settings)
    with ThreadPoolExecutor() as pool:
        settings |= {"store": tmp_path / "s", "executor": pool if executor else None, "parts": 2}
        np.testing.assert_array_equal(draws(well, **settings), whole)
        np.testing.assert_array_equal(draws(well, resume=True, **settings), whole)
        settings["start"] = [[0.5], [1.0], [1.6]]
        with pytest.raises(ValueError, match="belongs to another run: stored start"):
            draws(well, resume=True, **settings)


def seed_of(**settings):
    data = fuld.sample("x^2/2", chains=2, draws=5, output="xarray", **settings)
    return data.attrs["seed"]


def test_seeds_are_random_and_reported():
    # Two random seeds are equal with a chance of 2**-32.
    data = fuld.sample("x^2/2", chains=2, draws=5, output="xarray")
    again = fuld.sample("x^2/2", chains=2, draws=5, seed=data.attrs["seed"], output="xarray")
    np.testing.assert_array_equal(data.x, again.x)
    assert seed_of() != data.attrs["seed"]


def test_a_generator_is_a_seed():
    one, other = (seed_of(seed=np.random.default_rng(seed)) for seed in (1, 2))
    assert one == seed_of(seed=np.random.default_rng(1))
    assert one != other
    rng = np.random.default_rng(1)
    assert seed_of(seed=rng) != seed_of(seed=rng)


@pytest.mark.parametrize("executor", [False, True])
def test_a_store_keeps_its_seed(tmp_path, executor):
    with ThreadPoolExecutor() as pool:
        settings = {"store": tmp_path / "s", "executor": pool if executor else None}
        first = seed_of(**settings)
        assert seed_of(resume=True, **settings) == first
        with pytest.raises(ValueError, match=f"stored seed: {first}, requested seed: {first + 1}"):
            seed_of(seed=first + 1, resume=True, **settings)
