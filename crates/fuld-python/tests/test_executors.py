"""Chains spread over the executors of the standard library."""

import gc
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import fuld
import numpy as np
import pytest

from tests.test_interrupt import PACKAGE, Script, files
from tests.wells import deadly_well, deep_well, far_well, one_well, slow_well, well

SETTINGS: dict[str, Any] = {
    "draws": 50,
    "chains": 7,
    "seed": 5,
    "dim": 2,
    "integrator": "baoab",
    "output": "numpy",
}


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture
def threads():
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.mark.parametrize("potential", ["double_well", well, one_well])
def test_draws_are_the_same_everywhere(processes, threads, potential):
    here = fuld.sample(potential, velocities=True, **SETTINGS)
    for executor in (processes, threads):
        for parts in (1, 3, 16):
            there = fuld.sample(
                potential, velocities=True, executor=executor, parts=parts, threads=2, **SETTINGS
            )
            np.testing.assert_array_equal(there["x"], here["x"])
            np.testing.assert_array_equal(there["v"], here["v"])


EXACT: dict[str, Any] = {**SETTINGS, "integrator": None, "warmup": 80, "velocities": True}


@pytest.mark.parametrize("settings", [{}, {"adapt": False}, {"gamma": 1.0}, {"warmup": 0}])
@pytest.mark.filterwarnings("ignore::fuld.SamplingWarning")
def test_exact_draws_are_the_same_everywhere(processes, threads, settings):
    settings = {**EXACT, **settings}
    here = fuld.sample(well, **settings)
    assert here.settings["integrator"] == "exact"
    for executor in (processes, threads):
        for parts in (1, 3):
            there = fuld.sample(well, executor=executor, parts=parts, **settings)
            for name in ("x", "v"):
                np.testing.assert_array_equal(there[name], here[name])
            for name, statistic in here.stats.items():
                np.testing.assert_array_equal(there.stats[name], statistic)
            # Without a warm-up the settings stay as they were given.
            if settings["warmup"]:
                assert set(there.settings) == set(here.settings)
                np.testing.assert_array_equal(there.settings["step"], here.settings["step"])


def test_exchanges_between_temperatures_require_one_process(threads):
    with pytest.raises(ValueError, match="temper=3 requires all chains in one process"):
        fuld.sample(well, executor=threads, temper=3, **EXACT)


@pytest.mark.filterwarnings("ignore::fuld.SamplingWarning")
def test_a_store_of_exact_draws(tmp_path, threads, monkeypatch):
    fuld.sample(well, store=tmp_path / "here", **EXACT)
    there = fuld.sample(well, store=tmp_path / "there", executor=threads, **EXACT)
    assert files(tmp_path / "there") == files(tmp_path / "here")
    # The warm-up is not repeated, and neither are parts that are there.
    parts = _interrupted(tmp_path / "s", threads, monkeypatch, parts=7, **EXACT)
    warm = parts / "warm-state.bin"
    kept, untouched = warm.stat().st_mtime_ns, (parts / "5-6.npz").stat().st_mtime_ns
    (parts / "2-3.npz").unlink()
    again = _interrupted(tmp_path / "s", threads, monkeypatch, resume=True, parts=7, **EXACT)
    assert warm.stat().st_mtime_ns == kept
    assert (again / "5-6.npz").stat().st_mtime_ns == untouched
    # A damaged state is made again.
    warm.write_bytes(warm.read_bytes()[:-8])
    (parts / "2-3.npz").unlink()
    settings: dict[str, Any] = {**EXACT, "executor": threads, "resume": True}
    for store in ("s", "there"):
        last = fuld.sample(well, store=tmp_path / store, **settings)
        np.testing.assert_array_equal(last["x"], there["x"])
        np.testing.assert_array_equal(last.stats["energy"], there.stats["energy"])
        assert last.settings["step"] == there.settings["step"]
        assert repr(last) == repr(there)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_processes_that_are_forked():
    fuld.sample(well, **SETTINGS)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        there = fuld.sample(well, executor=pool, **SETTINGS)["x"]
    np.testing.assert_array_equal(there, fuld.sample(well, **SETTINGS)["x"])


def test_a_store_is_that_of_a_run_without_executor(tmp_path, threads):
    settings: dict[str, Any] = {**SETTINGS, "velocities": True}
    fuld.sample(well, store=tmp_path / "here", **settings)
    there = fuld.sample(well, store=tmp_path / "there", executor=threads, **settings)
    assert files(tmp_path / "there") == files(tmp_path / "here")
    for _ in range(2):  # read again, and nothing run
        again = fuld.sample(
            well, store=tmp_path / "there", executor=threads, resume=True, **settings
        )
        np.testing.assert_array_equal(again["x"], there["x"])
        np.testing.assert_array_equal(again["v"], there["v"])


def test_stores_with_and_without_executor_are_not_mixed(tmp_path, threads):
    fuld.sample(well, store=tmp_path / "here", **SETTINGS)
    fuld.sample(well, store=tmp_path / "there", executor=threads, **SETTINGS)
    with pytest.raises(FileExistsError, match="begun without an executor"):
        fuld.sample(well, store=tmp_path / "here", executor=threads, resume=True, **SETTINGS)
    with pytest.raises(FileExistsError, match="begun with an executor"):
        fuld.sample(well, store=tmp_path / "there", resume=True, **SETTINGS)
    with pytest.raises(FileExistsError, match="continue it with resume=True"):
        fuld.sample(well, store=tmp_path / "there", executor=threads, **SETTINGS)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": 6}, "stored seed: 5, requested seed: 6"),
        ({"draws": 51}, "stored draws: 50, requested draws: 51"),
        ({"start": 1.0}, "stored start: None, requested start"),
        ({"velocities": True}, "stored velocities: 0, requested velocities: 1"),
        ({"potential": deep_well}, "stored potential: well, requested potential: deep_well"),
    ],
)
def test_another_run_is_refused_and_the_difference_named(tmp_path, threads, change, says):
    fuld.sample(well, store=tmp_path / "s", executor=threads, **SETTINGS)
    settings: dict[str, Any] = {"potential": well, **SETTINGS, **change}
    with pytest.raises(ValueError, match=says):
        fuld.sample(
            settings.pop("potential"),
            store=tmp_path / "s",
            executor=threads,
            resume=True,
            **settings,
        )


def test_a_process_that_dies_is_told_and_the_rest_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("FULD_TEST_MARK", str(tmp_path / "mark"))
    monkeypatch.setenv("FULD_TEST_PID", str(os.getpid()))
    here = fuld.sample(well, **SETTINGS)["x"]
    context = multiprocessing.get_context("spawn")
    settings: dict[str, Any] = {**SETTINGS, "store": tmp_path / "s", "parts": 7}
    # A first process that lives, to do some parts.
    (tmp_path / "mark").touch()
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        handle = fuld.sample(deadly_well, executor=pool, blocking=False, **settings)
        while len(list((tmp_path / "s").rglob("*.npz"))) < 2:
            time.sleep(0.01)
        handle.abort()
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "s").rglob("*.npz")}
    (tmp_path / "mark").unlink()
    with (
        ProcessPoolExecutor(1, mp_context=context) as pool,
        pytest.raises(RuntimeError, match=r"lost the chains \d to \d .* only what is missing"),
    ):
        fuld.sample(deadly_well, executor=pool, resume=True, **settings)
    for name, at in kept.items():  # the same files
        assert (tmp_path / "s" / ".fuld-parts" / name).stat().st_mtime_ns == at
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        there = fuld.sample(deadly_well, executor=pool, resume=True, **settings)["x"]
    np.testing.assert_array_equal(there, here)


class Flaky(ThreadPoolExecutor):
    """An executor that loses its first tasks."""

    def __init__(self, losses):
        super().__init__(1)
        self.losses = losses

    def submit(self, function, /, *args, **named):
        self.losses -= 1
        return super().submit(_lose if self.losses >= 0 else function, *args, **named)


def _lose(*_):
    raise BrokenExecutor("a worker died")


def test_a_part_that_was_lost_is_run_again():
    with Flaky(3) as pool:
        there = fuld.sample(well, executor=pool, parts=2, **SETTINGS)["x"]
    np.testing.assert_array_equal(there, fuld.sample(well, **SETTINGS)["x"])
    with Flaky(10**9) as pool, pytest.raises(RuntimeError, match=r"lost the chains 0 to 6 .* died"):
        fuld.sample(well, executor=pool, parts=1, **SETTINGS)
    assert pool.losses == 10**9 - 4


def test_what_is_damaged_or_was_written_in_part_is_run_again(tmp_path, threads, same_code):
    settings: dict[str, Any] = {**SETTINGS, "store": tmp_path / "s", "executor": threads}
    settings |= {"draws": 5, "warmup": 20, "thin": 2}
    with fuld.sample(slow_well, name="well", **settings, parts=7, blocking=False) as handle:
        while len(list((tmp_path / "s").rglob("*.npz"))) < 2:
            time.sleep(0.01)
    first = min((tmp_path / "s" / ".fuld-parts").glob("*.npz"))
    first.write_bytes(first.read_bytes()[:100])
    # A store that was begun from all parts, when the process was killed.
    (tmp_path / "s" / "posterior").mkdir()
    again = fuld.sample(well, **settings, resume=True)["x"]
    here = fuld.sample(well, **{**settings, "store": None, "executor": None})["x"]
    np.testing.assert_array_equal(again, here)
    assert handle.peek()["x"].shape[0] >= 2
    about = tmp_path / "s" / ".fuld-parts" / "settings.json"
    assert json.loads(about.read_text())["finished"]
    about.write_text("{}")
    with pytest.raises(OSError, match=r"settings\.json is damaged"):
        fuld.sample(well, **settings, resume=True)


def _interrupted(store, threads, monkeypatch, **settings):
    """Run all parts of a run, stop before they are joined, and return the folder of the parts."""

    def killed(*_):
        raise BrokenExecutor("killed")

    with monkeypatch.context() as patch:
        patch.setattr("fuld._part_files.PartFiles.close", killed)
        with pytest.raises(BrokenExecutor):
            fuld.sample(well, store=store, executor=threads, **settings)
    return store / ".fuld-parts"


def test_parts_of_another_run_and_changed_ones_are_run_again(tmp_path, threads, monkeypatch):
    settings: dict[str, Any] = {**SETTINGS, "parts": 7}
    there = _interrupted(tmp_path / "s", threads, monkeypatch, **settings)
    other = _interrupted(tmp_path / "other", threads, monkeypatch, **{**settings, "seed": 6})
    halves = _interrupted(tmp_path / "halves", threads, monkeypatch, **{**settings, "parts": 2})
    (other / "0-1.npz").replace(there / "0-1.npz")
    # Another part of the same run, and draws that were changed.
    (there / "1-2.npz").write_bytes((there / "2-3.npz").read_bytes())
    with np.load(there / "3-4.npz") as file:
        arrays = dict(file)
    np.savez(there / "3-4.npz", **{**arrays, "x": arrays["x"] + 1})
    # The same chains in parts of another size.
    (halves / "4-7.npz").replace(there / "4-7.npz")
    untouched = (there / "5-6.npz").stat().st_mtime_ns
    again = _interrupted(tmp_path / "s", threads, monkeypatch, resume=True, **settings)
    assert (again / "5-6.npz").stat().st_mtime_ns == untouched
    x = fuld.sample(well, store=tmp_path / "s", executor=threads, resume=True, **settings)["x"]
    np.testing.assert_array_equal(x, fuld.sample(well, **SETTINGS)["x"])


def test_errors_in_workers_surface(processes, threads):
    settings: dict[str, Any] = {**SETTINGS, "draws": 3000, "start": 0.5}
    for executor in (processes, threads):
        with pytest.raises(ArithmeticError, match="too far out") as caught:
            fuld.sample(far_well, executor=executor, **settings)
        if hasattr(caught.value, "__notes__"):
            assert "raised by the potential in step" in caught.value.__notes__[0]


def test_a_function_that_cannot_be_sent_is_refused(processes, threads, tmp_path):
    with pytest.raises(TypeError, match="define the function at the top level of a module"):
        fuld.sample(lambda x: well(x), executor=processes, store=tmp_path / "s", **SETTINGS)
    assert not (tmp_path / "s").exists()
    fuld.sample(lambda x: well(x), executor=threads, **SETTINGS)


def test_an_executor_that_was_shut_down(threads):
    threads.shutdown()
    with pytest.raises(RuntimeError, match="cannot schedule new futures after shutdown"):
        fuld.sample(well, executor=threads, **SETTINGS)


LONG: dict[str, Any] = {**SETTINGS, "draws": 10**6, "chains": 8, "parts": 8, "blocking": False}


def test_the_handle(threads):
    handle = fuld.sample(well, executor=threads, **{**SETTINGS, "blocking": False})
    assert handle.result(timeout=20)["x"].shape == (7, 50, 2)
    assert handle.finished
    assert handle.progress.fraction == 1.0
    assert handle.progress.draws == 50
    with fuld.sample(well, executor=threads, **LONG) as handle:
        assert handle.peek()["x"].shape == (0, 10**6, 2)
        assert not handle.paused
        handle.resume()
        with pytest.raises(NotImplementedError, match="abort it, and continue with resume=True"):
            handle.pause()
        with pytest.raises(TimeoutError):
            handle.result(0.01)
        assert "running: 0 % of" in repr(handle)
    assert handle.result()["x"].shape[0] == 0


def test_an_executor_that_is_shut_down_ends_the_run():
    pool = ThreadPoolExecutor(1)
    handle = fuld.sample(slow_well, executor=pool, blocking=False, **{**SETTINGS, "draws": 5})
    pool.shutdown(wait=False, cancel_futures=True)
    with pytest.raises(RuntimeError, match="the executor lost the chains"):
        handle.result(timeout=20)


@pytest.mark.parametrize("how", ["abort", "drop"])
def test_threads_stop_with_the_run(how):
    began = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        handle = fuld.sample(well, executor=pool, **LONG)
        time.sleep(0.1)
        if how == "abort":
            handle.abort()
        del handle
        gc.collect()
    assert time.monotonic() - began < 3


def test_ctrl_c_returns_the_chains_that_are_done():
    script = Script("""
        from concurrent.futures import ThreadPoolExecutor
        import threading

        done = []
        def late(x):
            if len(done) > 400:
                time.sleep(0.05)
            done.append(0)
            if len(done) == 420:
                print("ready", flush=True)
            return well(x)

        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with ThreadPoolExecutor(1) as pool:
                x = fuld.sample(late, executor=pool, chains=8, parts=8, draws=100, thin=1,
                                warmup=0, integrator="baoab")["x"]
        print(x.shape, warned[0].category.__name__, warned[0].message)
    """)
    out = script.ready().send(signal.SIGINT, 0.1).end()[0]
    assert re.match(r"\(([1-7]), 100\) Interrupted the run was stopped: \1 of 8 chains done", out)


def test_ctrl_c_with_processes_ends_all_of_them():
    script = Script("""
        from concurrent.futures import ProcessPoolExecutor
        import multiprocessing

        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
            print("ready", flush=True)
            try:
                fuld.sample("x^2/2", executor=pool, draws=10**8, chains=16)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
                for process in pool._processes.values():
                    process.kill()
    """)
    assert script.ready().send(signal.SIGINT, 0.7).end()[0] == "interrupted\n"


def test_the_interpreter_ends_in_the_middle_of_a_run():
    script = Script("""
        from concurrent.futures import ThreadPoolExecutor
        pool = ThreadPoolExecutor(2)
        handle = fuld.sample(well, executor=pool, draws=10**7, output="numpy", blocking=False)
        print("ready", flush=True)
        time.sleep(0.1)
    """)
    assert script.ready().end() == ("", "")


def test_the_code_of_the_documentation(tmp_path):
    text = (PACKAGE / "docs" / "executors.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    (tmp_path / "script.py").write_text(code)
    subprocess.run([sys.executable, "script.py"], cwd=tmp_path, check=True)
    assert (tmp_path / "run.zarr" / "posterior" / "x").is_dir()
