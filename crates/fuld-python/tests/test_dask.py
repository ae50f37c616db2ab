"""Chains spread over a real dask cluster of several processes."""

import os
import signal
import threading
import time
from typing import Any

import fuld
import numpy as np
import pytest

from tests.test_interrupt import PACKAGE
from tests.test_variables import SCALE, funnel_by_name
from tests.wells import far_well, slow_well, well

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # dask's own

SETTINGS: dict[str, Any] = {
    "draws": 50,
    "chains": 12,
    "seed": 5,
    "dim": 2,
    "integrator": "baoab",
    "output": "numpy",
}


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("integrator", ["baoab", "exact"])
def test_draws_are_the_same(client, tmp_path, integrator):
    executor = client.get_executor()
    settings: dict[str, Any] = {**SETTINGS, "integrator": integrator, "parts": 1}
    here = fuld.sample("double_well", **settings)["x"]
    there = fuld.sample("double_well", executor=executor, store=tmp_path / "s", **settings)["x"]
    np.testing.assert_array_equal(there, here)
    # Also functions that only cloudpickle can send.
    there = fuld.sample(lambda x: well(x), executor=executor, parts=5, **SETTINGS)["x"]
    np.testing.assert_array_equal(there, fuld.sample(well, **SETTINGS)["x"])


def test_models_are_sent_too(client):
    settings: dict[str, Any] = {"logp": funnel_by_name, "variables": SCALE, "chains": 6}
    settings |= {"draws": 20, "warmup": 30, "seed": 1}
    here = fuld.sample(**settings)
    there = fuld.sample(executor=client.get_executor(), parts=3, **settings)
    np.testing.assert_array_equal(there["tau"], here["tau"])
    assert there.coordinates == ["mu", "tau"]


def test_a_worker_that_is_killed_loses_nothing(client):
    settings: dict[str, Any] = {**SETTINGS, "warmup": 100, "thin": 5}  # 350 steps of 2 ms a part
    here = fuld.sample(well, **settings)["x"]
    handle = fuld.sample(slow_well, executor=client.get_executor(), blocking=False, **settings)
    time.sleep(0.5)
    victims = client.run(os.getpid)
    assert not handle.finished
    os.kill(next(iter(victims.values())), signal.SIGKILL)
    np.testing.assert_array_equal(handle.result(timeout=60)["x"], here)
    assert set(client.run(os.getpid).values()) != set(victims.values())


def test_errors_surface(client):
    with pytest.raises(ArithmeticError, match="too far out"):
        fuld.sample(
            far_well, executor=client.get_executor(), start=0.5, **{**SETTINGS, "draws": 3000}
        )


def test_the_client_itself_is_no_executor(client):
    with pytest.raises(TypeError, match=r"got Client: pass client.get_executor\(\)"):
        fuld.sample(well, executor=client, **SETTINGS)


def test_ctrl_c_stops(client):
    settings: dict[str, Any] = {
        **SETTINGS,
        "draws": 100,
        "thin": 5,
        "warmup": 0,
    }  # 500 steps of 2 ms a part
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        fuld.sample(slow_well, executor=client.get_executor(), **settings)


def test_the_code_of_the_documentation(client):
    text = (PACKAGE / "docs" / "executors.md").read_text()
    code = text.split("```python\n")[2].split("```")[0]
    there = code.replace("scheduler:8786", client.scheduler_info()["address"])
    assert there != code
    scope: dict[str, Any] = {"fuld": fuld}
    exec(there, scope)
    assert scope["draws"]["x"].shape == (64, 200, 2)
