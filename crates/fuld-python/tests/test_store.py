"""Draws in a folder."""

import json
import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import fuld
import numpy as np
import pytest

from tests.test_interrupt import Script, files
from tests.wells import well

SETTINGS: dict[str, Any] = {
    "draws": 300,
    "chains": 4,
    "seed": 5,
    "thin": 2,
    "warmup": 10,
    "output": "numpy",
}


@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "path"])
def test_a_store_holds_the_draws(tmp_path, kind):
    store = kind(tmp_path / "deep" / "store")
    settings: dict[str, Any] = {**SETTINGS, "velocities": True, "dim": 3}
    kept = fuld.sample("double_well", store=store, **settings)
    memory = fuld.sample("double_well", **settings)
    for name in ("x", "v"):
        np.testing.assert_array_equal(kept[name], memory[name])


def test_xarray_and_arviz_open_it(tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    arviz = pytest.importorskip("arviz")
    x = fuld.sample(well, store=tmp_path / "s", dim=2, **SETTINGS)["x"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Zarr's versions
        opened = xarray.open_zarr(str(tmp_path / "s"), group="posterior")
        np.testing.assert_array_equal(opened.x.values, x)
        assert opened.x.dims == ("chain", "draw", "coordinate")
        tree = xarray.open_datatree(str(tmp_path / "s"), engine="zarr")
        np.testing.assert_array_equal(tree["posterior"].x.values, x)
        # ArviZ 0.23 refuses to open Zarr 3 itself, and names this way; later ones take the tree.
        kind = getattr(arviz, "InferenceData", None)
        data = tree if kind is None else kind.from_datatree(tree)
        assert arviz.summary(data).shape[0] == 2


def test_a_store_is_not_overwritten(tmp_path):
    fuld.sample(well, store=tmp_path / "s", **SETTINGS)
    before = files(tmp_path / "s")
    with pytest.raises(FileExistsError, match="holds a run already: continue it with resume=True"):
        fuld.sample(well, store=tmp_path / "s", **SETTINGS)
    (tmp_path / "s" / ".fuld-state").unlink()
    for resume in (False, True):
        with pytest.raises(FileExistsError, match=r"holds a run already|already contains draws"):
            fuld.sample(well, store=tmp_path / "s", resume=resume, **SETTINGS)
    assert files(tmp_path / "s") == before


def test_a_finished_run_is_read_again(tmp_path):
    calls = tmp_path / "calls"

    def counted(x):
        with calls.open("a") as file:
            file.write(".")
        return well(x)

    x = fuld.sample(counted, store=tmp_path / "s", resume=True, **SETTINGS)["x"]
    calls.unlink()
    again = fuld.sample(counted, store=tmp_path / "s", resume=True, **SETTINGS)["x"]
    np.testing.assert_array_equal(again, x)
    assert len(calls.read_text()) < 10  # the check of its shapes


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": 6}, "stored seed: 5, requested seed: 6"),
        ({"chains": 5}, "stored chains: 4, requested chains: 5"),
        ({"draws": 301}, "stored draws: 300, requested draws: 301"),
        ({"start": 1.0}, r"stored start\.point: null, requested start\.point: \[1\.0\]"),
        ({"alpha": 1.7}, r"stored system\.alpha: 1\.8, requested system\.alpha: 1\.7"),
        ({"potential": lambda x: (x[:, 0] ** 2, 2 * x)}, "potential"),
    ],
)
def test_another_run_is_refused_and_the_difference_named(tmp_path, change, says):
    fuld.sample(well, store=tmp_path / "s", **SETTINGS)
    before = files(tmp_path / "s")
    settings: dict[str, Any] = {"potential": well, **SETTINGS, **change}
    with pytest.raises(ValueError, match=says):
        fuld.sample(settings.pop("potential"), store=tmp_path / "s", resume=True, **settings)
    assert files(tmp_path / "s") == before


@pytest.mark.parametrize("content", [b"", b"something else", None])
def test_a_damaged_state_is_refused(tmp_path, content):
    fuld.sample(well, store=tmp_path / "s", **SETTINGS)
    state = tmp_path / "s" / ".fuld-state"
    state.write_bytes(state.read_bytes()[:-40] if content is None else content)
    with pytest.raises(OSError, match=r"fuld-state (is damaged|is not a checkpoint)"):
        fuld.sample(well, store=tmp_path / "s", resume=True, **SETTINGS)


def test_damaged_stores_are_refused(tmp_path):
    fuld.sample(well, store=tmp_path / "s", **SETTINGS)
    (tmp_path / "s" / "posterior" / "x" / "0.0").unlink()
    with pytest.raises(OSError, match=r"posterior/x/0\.0 is damaged: .* delete the store"):
        fuld.sample(well, store=tmp_path / "s", resume=True, **SETTINGS)
    (tmp_path / "s" / "posterior" / "x" / "0.0").write_bytes(b"short")
    with pytest.raises(OSError, match="has 5 bytes"):
        fuld.sample(well, store=tmp_path / "s", resume=True, **SETTINGS)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="s: "):
        fuld.sample(well, store=tmp_path / "s", **SETTINGS)


def test_a_store_that_is_a_file(tmp_path):
    (tmp_path / "s").write_text("mine")
    with pytest.raises(NotADirectoryError, match=r"store must be a folder, but .*/s is a file"):
        fuld.sample(well, store=tmp_path / "s", **SETTINGS)
    assert (tmp_path / "s").read_text() == "mine"


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("name", ["notes.txt", ".zgroup", ".zattrs"])
def test_a_folder_of_others_is_left_alone(tmp_path, name, resume):
    (tmp_path / name).write_text("mine")
    for executor in (None, ThreadPoolExecutor(1)):
        with pytest.raises(FileExistsError, match=f"files of other programs, such as {name}"):
            fuld.sample(well, store=tmp_path, resume=resume, executor=executor, **SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_the_working_directory_may_change(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    settings: dict[str, Any] = {**SETTINGS, "draws": 10**7}
    with fuld.sample("x^2/2", store="s", blocking=False, **settings) as handle:
        monkeypatch.chdir(tmp_path / "elsewhere")
        while handle.peek()["x"].shape[1] == 0:
            assert not handle.finished
        x = handle.abort()["x"]
    assert not (tmp_path / "elsewhere" / "s").exists()
    again = fuld.sample("x^2/2", **{**settings, "draws": x.shape[1]})["x"]
    np.testing.assert_array_equal(x, again)


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(1)])
def test_two_runs_do_not_share_a_store(tmp_path, executor):
    long: dict[str, Any] = {**SETTINGS, "draws": 10**6, "store": tmp_path / "s"}
    with fuld.sample("x^2/2", blocking=False, executor=executor, **long) as handle:
        with pytest.raises(RuntimeError, match=f"in use by a run in process {os.getpid()}"):
            fuld.sample("x^2/2", resume=True, executor=executor, **long)
        handle.abort()
        # Once it has ended, another may go on, also while the handle lives.
        with fuld.sample(
            "x^2/2", resume=True, blocking=False, executor=executor, **long
        ) as another:
            assert not another.finished


@pytest.mark.parametrize("executor", ["None", "ThreadPoolExecutor(2)"])
def test_a_disk_that_is_full(tmp_path, executor):
    # As far as a process can tell: no file may be longer than this.
    script = Script(f"""
        import resource
        from concurrent.futures import ThreadPoolExecutor
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        settings = {{**{SETTINGS}, "draws": 40_000, "integrator": "baoab"}}
        try:
            fuld.sample("x^2/2", store={str(tmp_path / "s")!r}, executor={executor}, **settings)
        except OSError as error:
            print(error)
    """)
    assert "File too large" in script.end()[0]
    # With room, it goes on.
    settings: dict[str, Any] = {**SETTINGS, "draws": 40_000, "integrator": "baoab"}
    with ThreadPoolExecutor(2) as pool:
        pool_or_none = None if executor == "None" else pool
        kept = fuld.sample(
            "x^2/2", store=tmp_path / "s", resume=True, executor=pool_or_none, **settings
        )
    np.testing.assert_array_equal(kept["x"], fuld.sample("x^2/2", **settings)["x"])


def test_the_run_can_be_watched_in_its_store(tmp_path):
    with fuld.sample(
        "x^2/2", store=tmp_path / "s", **{**SETTINGS, "draws": 10**7}, blocking=False
    ) as handle:
        while (seen := handle.peek()["x"].shape[1]) == 0:
            assert not handle.finished
        shape = json.loads((tmp_path / "s/posterior/x/.zarray").read_text())["shape"]
        assert shape[1] >= seen
    made = handle.result()["x"]
    again = fuld.sample("x^2/2", **{**SETTINGS, "draws": made.shape[1]})["x"]
    np.testing.assert_array_equal(made, again)
