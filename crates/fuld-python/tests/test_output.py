"""The return values of fuld.sample."""

import sys
import warnings
from typing import Any

import fuld
import numpy as np
import pytest

from tests.wells import well

FEW: dict[str, Any] = {"chains": 4, "draws": 20}


def test_numpy_is_a_dict_of_arrays():
    one = fuld.sample("x^2/2", **FEW, output="numpy")
    assert {name: array.shape for name, array in one.items()} == {"x": (4, 20)}
    two = fuld.sample("x^2 + y^2", **FEW, output="numpy", velocities=True)
    assert {name: a.shape for name, a in two.items()} == {"x": (4, 20, 2), "v": (4, 20, 2)}


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
    data = fuld.sample("x^2/2", chains=4, draws=200, seed=1)
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
    data = fuld.sample("-x^4" if diverge else "x^2/2", system=system, start=[1.0], seed=seed, **FEW)
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

    with pytest.raises(ImportError, match=rf"{missing} cannot be imported .*pip install 'fuld\["):
        fuld.sample(counted, **FEW, output=output)
    assert not calls
    fuld.sample(counted, **FEW, output="numpy")
