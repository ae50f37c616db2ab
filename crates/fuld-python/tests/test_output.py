"""The return values of fuld.sample."""

import pickle
import sys
import warnings
from typing import Any

import fuld
import numpy as np
import pytest

from tests.wells import well

FEW: dict[str, Any] = {"chains": 4, "draws": 20}


def test_samples_are_a_mapping_of_arrays():
    one = fuld.sample("x^2/2", **FEW)
    assert isinstance(one, fuld.Samples)
    assert {name: array.shape for name, array in one.items()} == {"x": (4, 20)}
    two = fuld.sample("x^2 + y^2", **FEW, velocities=True, output="numpy")
    assert {name: a.shape for name, a in two.items()} == {"x": (4, 20, 2), "v": (4, 20, 2)}
    assert (two.coordinates, two.chains.tolist(), len(two)) == (["x", "y"], [0, 1, 2, 3], 2)
    with pytest.raises(KeyError, match="'y': there are 'x', 'v'"):
        two["y"]


def test_samples_have_statistics_and_settings():
    samples = fuld.sample("x^2/2", **FEW)
    assert {name: array.shape for name, array in samples.stats.items()} == dict.fromkeys(
        ("lp", "acceptance_rate", "energy", "diverging"), (4, 20)
    )
    assert samples.stats["lp"] == pytest.approx(-(samples["x"] ** 2) / 2)
    assert samples.stats["diverging"].dtype == bool
    settings = samples.settings
    assert (settings["potential"], settings["alpha"], settings["draws"]) == ("x^2/2", 1.8, 20)
    assert 0 < settings["step"] != 0.1
    assert settings["scales"].shape == (1,)
    again = fuld.sample("x^2/2", **FEW, seed=settings["seed"])
    np.testing.assert_array_equal(again["x"], samples["x"])
    # Other integrators have no proposals.
    assert set(fuld.sample("x^2/2", **FEW, integrator="baoab").stats) == {"diverging"}


def test_the_summary_is_that_of_the_program():
    samples = fuld.sample("x^2/2", seed=1)
    table = samples.summary()
    assert table.splitlines()[0].split()[:3] == ["mean", "MCSE", "sd"]
    mean = float(table.splitlines()[1].split()[1])
    assert mean == pytest.approx(samples["x"].mean(), abs=1e-4)
    assert "KS distance" in table
    assert f"adapted: step {samples.settings['step']:.3f}" in table
    assert samples.warnings == []
    text = repr(samples)
    assert text.startswith("x^2/2: fuld, alpha 1.8, beta 1; exact, first step 0.1; seed 1\n\n")
    assert table.strip() in text
    assert text.endswith("x (chain: 64, draw: 1000)")


@pytest.mark.filterwarnings("ignore::fuld.SamplingWarning")
def test_warnings_are_part_of_the_text():
    samples = fuld.sample(well, **FEW)
    assert "fewer than 400 effective draws" in samples.warnings[-1]
    assert repr(samples).endswith(f"\nwarning: {samples.warnings[-1]}")
    assert repr(samples).startswith("well: fuld,")
    assert "no statistics" in repr(fuld.sample(well, chains=1, draws=3))


@pytest.mark.parametrize("looked_at", [False, True])
def test_samples_are_pickled(looked_at):
    samples = fuld.sample("x^2/2", chains=4, draws=500, warmup=100, blocking=False).result()
    text = repr(samples) if looked_at else None
    again = pickle.loads(pickle.dumps(samples))
    np.testing.assert_array_equal(again["x"], samples["x"])
    assert repr(again) == (text or repr(samples))
    assert again.settings["seed"] == samples.settings["seed"]


def test_samples_become_objects_of_others():
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("arviz")
    samples = fuld.sample("x^2 + y^2", **FEW, seed=1)
    data = samples.to("xarray")
    assert isinstance(data, xarray.Dataset)
    xarray.testing.assert_identical(
        data.drop_attrs(), fuld.sample("x^2 + y^2", **FEW, seed=1, output="xarray").drop_attrs()
    )
    np.testing.assert_array_equal(samples.to("arviz").sample_stats.lp, samples.stats["lp"])
    assert samples.to("numpy") is samples
    with pytest.raises(ValueError, match="output must be 'numpy', 'arviz' or 'xarray', got 'csv'"):
        samples.to("csv")


def test_xarray_is_a_dataset():
    xarray = pytest.importorskip("xarray")
    data = fuld.sample("x^2 + y^2", **FEW, output="xarray", alpha=1.7, seed=2**64 - 1)
    assert isinstance(data, xarray.Dataset)
    assert data.x.dims == ("chain", "draw", "coordinate")
    assert data.coordinate.values.tolist() == ["x", "y"]
    about = data.attrs
    assert (about["alpha"], about["system"], about["potential"]) == (1.7, "fuld", "x^2 + y^2")
    assert about["seed"] == 2**64 - 1
    assert about["stopped"] == ""
    named = fuld.sample("double_well", params={"b": 2}, **FEW, output="xarray")
    assert named.attrs["potential"] == "double_well, b = 2"
    assert fuld.sample(well, **FEW, output="xarray").attrs["potential"] == "well"


def test_arviz_sums_it_up():
    arviz = pytest.importorskip("arviz")
    data = fuld.sample("x^2/2", chains=4, draws=200, seed=1, output="arviz")
    assert arviz.summary(data).loc["x", "r_hat"] < 1.2
    assert not data.sample_stats.diverging.any()
    assert data.sample_stats.diverging.dims == ("chain", "draw")


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
@pytest.mark.parametrize("diverge", [False, True])
@pytest.mark.filterwarnings("ignore::fuld.Diverged")
def test_attributes_survive_files(tmp_path, seed, diverge):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    pytest.importorskip("zarr")
    system = "overdamped-langevin" if diverge else "fuld"
    settings: dict[str, Any] = {**FEW, "system": system, "start": [[1.0]] * 4, "seed": seed}
    data = fuld.sample("-x^4" if diverge else "x^2/2", output="arviz", **settings)
    posterior = data["posterior"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what these libraries say of each other
        data.to_netcdf(str(tmp_path / "file.nc"))
        posterior.to_zarr(str(tmp_path / "file.zarr"))
        read = [
            xarray.open_dataset(tmp_path / "file.nc", group="posterior"),
            xarray.open_zarr(tmp_path / "file.zarr"),
        ]
    for again in read:
        np.testing.assert_array_equal(again.x, posterior.x)
        assert again.attrs["alpha" if not diverge else "beta"] in (1.8, 1.0)
        assert int(again.attrs["seed"]) == seed
        diverged = np.atleast_1d(again.attrs["diverged_chains"]).tolist()
        assert diverged == ([0, 1, 2, 3] if diverge else [])
        again.close()


@pytest.mark.parametrize(
    ("missing", "output"), [("arviz", "arviz"), ("xarray", "arviz"), ("xarray", "xarray")]
)
def test_what_is_missing_is_told_before_any_work(monkeypatch, missing, output):
    monkeypatch.setitem(sys.modules, missing, None)  # as if it were not installed
    calls = []

    def counted(x):
        calls.append(0)
        return well(x)

    with pytest.raises(
        ImportError, match=rf"requires {missing}, which cannot .*pip install 'fuld\["
    ):
        fuld.sample(counted, **FEW, output=output)
    assert not calls
    assert "R-hat" in repr(fuld.sample(counted, **FEW))
