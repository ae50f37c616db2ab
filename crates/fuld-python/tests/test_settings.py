"""Settings that are wrong are refused in one sentence that names the value."""

import subprocess
import sys
from typing import Any

import fuld
import numpy as np
import pytest

from tests.wells import well

NAN = float("nan")


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({"alpha": 2.1}, ValueError, "alpha must satisfy 0 < alpha <= 2, got 2.1"),
        ({"alpha": 0}, ValueError, "alpha must satisfy 0 < alpha <= 2, got 0"),
        ({"alpha": NAN}, ValueError, "alpha .* got NaN"),
        ({"alpha": "1.5"}, TypeError, "alpha must be a number, got '1.5'"),
        ({"alpha": [1.5, 1.6]}, TypeError, r"alpha must be a number, got \[1.5, 1.6\]"),
        ({"beta": NAN}, ValueError, "beta must be positive and finite, got NaN"),
        ({"beta": -1}, ValueError, "beta must be positive and finite, got -1"),
        ({"gamma": NAN}, ValueError, "gamma must be finite and not negative, got NaN"),
        ({"step": 0}, ValueError, "step size must be positive and finite, got 0"),
        ({"step": NAN}, ValueError, "step size must be positive and finite, got NaN"),
        ({"step": "small"}, TypeError, "step must be a number, got 'small'"),
        ({"half_life": 3}, ValueError, "`half_life` requires `step_power`"),
        ({"chains": 0}, ValueError, "chains must be at least 1 .* got 0"),
        ({"chains": -4}, ValueError, "chains must be at least 1 .* got -4"),
        ({"chains": 10**12}, ValueError, "1000000000000 chains .* exceed 1e11 numbers"),
        ({"chains": 2**64}, ValueError, r"chains must be .* below 2\*\*64"),
        ({"chains": "four"}, TypeError, "chains must be a whole number, got 'four'"),
        ({"draws": 2.5}, TypeError, "draws must be a whole number, got 2.5"),
        ({"draws": -1}, ValueError, "draws must be at least 1"),
        ({"draws": 2**50}, ValueError, "exceed 1e11 numbers"),
        ({"warmup": -1}, ValueError, "warmup must be at least 0"),
        ({"warmup": 10**19}, ValueError, "exceed 1e18 iterations"),
        ({"thin": 0}, ValueError, "thin must be at least 1"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
        ({"seed": 0.5}, TypeError, "seed must be a whole number, a .*Generator, .* got float"),
        ({"seed": True}, TypeError, "seed must be a whole number, a .*Generator, .* got bool"),
        ({"seed": np.random.RandomState(1)}, TypeError, "seed must be .* got RandomState"),
        ({"threads": 0}, ValueError, "threads must be at least 1 .* got 0"),
        ({"threads": -1}, ValueError, "threads must be at least 1 .* got -1"),
        ({"threads": 1.5}, TypeError, "threads must be a whole number, got 1.5"),
        ({"parts": 0}, ValueError, "parts must be at least 1"),
        ({"dim": 0}, ValueError, "dim must be at least 1"),
        ({"dim": -1}, ValueError, "dim must be at least 1"),
        ({"dim": 2**62}, ValueError, "dim.* 4611686018427387904"),
        ({"dim": 2.0}, TypeError, "dim must be a whole number"),
        (
            {"start": [1, 2]},
            ValueError,
            r"one number, a point of shape \(1,\), or .* of shape \(64, 1\); got shape \(2,\)",
        ),
        ({"start": []}, ValueError, r"a point of shape \(dim,\), or .* got shape \(0,\)"),
        ({"start": NAN}, ValueError, "start must be finite numbers, got NaN"),
        ({"start": "here"}, TypeError, r"start must be one number, .* got 'here'"),
        ({"start": [[1.0]]}, ValueError, r"of shape \(64, 1\); got shape \(1, 1\)"),
        ({"start": [[[1.0]]]}, ValueError, r"of shape \(64, dim\); got shape \(1, 1, 1\)"),
        ({"start": [[NAN]], "chains": 1}, ValueError, "must be finite numbers, got NaN"),
        ({"spread": -1}, ValueError, "must be finite and not negative, got -1"),
        ({"spread": "wide"}, TypeError, "spread must be a number, got 'wide'"),
        ({"velocities": "yes"}, TypeError, "velocities must be True or False, got 'yes'"),
        ({"system": "fuldd"}, ValueError, "did you mean `fuld`"),
        ({"system": 3}, TypeError, "system must be a name, got 3"),
        ({"integrator": "baobab"}, ValueError, "did you mean `baoab`"),
        ({"integrator": "tamed-euler"}, ValueError, "does not suit"),
        ({"system": "flmc", "velocities": True}, ValueError, "flmc has no velocities"),
        ({"output": "pandas"}, ValueError, "output must be .* got 'pandas'"),
        ({"resume": True}, ValueError, "resume=True requires store="),
        ({"executor": 4}, TypeError, "must be a concurrent.futures.Executor, .* got int"),
        ({"store": 3}, TypeError, "store must be the path of a folder, got 3"),
        ({"store": ""}, ValueError, "store must be the path of a folder, got ''"),
        ({"blocking": "no"}, TypeError, "blocking must be True or False, got 'no'"),
        ({"progress": None}, TypeError, "progress must be True or False, got None"),
        ({"output": ["numpy"]}, ValueError, "output must be .* got ..numpy.."),
    ],
)
@pytest.mark.parametrize("potential", ["x^2/2", well], ids=["formula", "function"])
def test_refused(potential, settings, error, says):
    with pytest.raises(error, match=says):
        fuld.sample(potential, **{"dim": 1, "output": "numpy", **settings})


@pytest.mark.parametrize(
    ("potential", "settings", "error", "says"),
    [
        ("double_wel", {}, ValueError, "did you mean `double_well`"),
        (
            "harmonic",
            {"dim": 10**12},
            ValueError,
            "dim must be at most 16777216, got 1000000000000",
        ),
        (well, {"dim": 10**12}, ValueError, "dim must be at most 16777216, got 1000000000000"),
        ("x^2 +", {}, ValueError, "this formula cannot be read"),
        ("", {}, ValueError, "the formula is empty"),
        ("x^2 + y^2", {"dim": 1}, ValueError, "dimension must be between 2 and"),
        (
            "x^2",
            {"params": {"a": 1}},
            ValueError,
            "parameters like `a` are for potentials with names",
        ),
        ("double_well", {"params": {"q": 1}}, ValueError, "has no parameter `q`; it has a, b"),
        ("double_well", {"params": {"a": "x"}}, TypeError, r"params\['a'\] must be a number"),
        ("double_well", {"params": {"a": NAN}}, ValueError, "parameter a .* got NaN"),
        ("double_well", {"params": [1]}, TypeError, r"params must be a dict like .* got \[1\]"),
        (well, {"params": {"a": 1}}, ValueError, "a function has its own"),
        ("x - log(x)", {"start": -1}, ValueError, "64 of 64 chains would start where f is not"),
        ("x^2", {"vectorized": True}, ValueError, "are for functions"),
        (well, {"vectorized": "yes"}, TypeError, "vectorized must be True or False"),
        (3, {}, TypeError, "potential must be a formula .* got int"),
        (None, {}, TypeError, "nothing to sample from: give a potential like"),
    ],
)
def test_refused_potentials(potential, settings, error, says):
    with pytest.raises(error, match=says):
        fuld.sample(potential, output="numpy", **settings)


def test_numbers_of_numpy_are_numbers():
    settings: dict[str, Any] = {
        "alpha": np.float32(1.5),
        "chains": np.int64(2),
        "draws": np.uint8(3),
        "start": np.float64(1),
        "velocities": np.bool_(True),
    }
    assert fuld.sample("x^2/2", **settings, output="numpy")["v"].shape == (2, 3)


def test_more_cores_than_chains_are_no_harm():
    assert fuld.sample("x", chains=2, draws=2, threads=10**9, output="numpy")["x"].shape == (2, 2)


def test_what_there_is_to_choose_from():
    assert "fuld" in fuld.systems()
    assert fuld.potentials()["double_well"][1] == {"a": 1.0, "b": 1.0}


# In a process of its own, which may have no more than 3 GB.
LITTLE_MEMORY = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, 3 * 10**9))
import fuld
try:
    {}
except MemoryError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (
            "fuld.sample('x^2/2', chains=4, draws=10**8, threads=1, output='numpy')",
            "the draws do not fit",
        ),
        (
            "fuld.sample('harmonic', dim=10**5, chains=2000, draws=1, start=0, output='numpy')",
            "overflow memory",
        ),
        (
            "with fuld.sample('x^2/2', chains=4, draws=5 * 10**7, threads=1, blocking=False, "
            "integrator='baoab', output='numpy') as run: print('looked', run.peek()['x'].shape[0])",
            "looked 4",
        ),
    ],
    ids=["draws", "state", "peek"],
)
def test_memory_that_is_short_is_told(act, says):
    script = [sys.executable, "-c", LITTLE_MEMORY.format(act)]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done
    assert says in done.stdout
