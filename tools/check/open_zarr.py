"""Opens a store of draws with ArviZ and prints what it sees, as JSON: python open_zarr.py STORE"""

import json
import sys
import warnings

import arviz as az
import xarray as xr

with warnings.catch_warnings():
    warnings.simplefilter("error", RuntimeWarning)
    data = az.InferenceData.from_datatree(xr.open_datatree(sys.argv[1], engine="zarr"))
posterior = data.posterior
summary = az.summary(data, round_to="none")
print(
    json.dumps(
        {
            "dims": {name: list(posterior[name].dims) for name in posterior.data_vars},
            "shape": {name: list(posterior[name].shape) for name in posterior.data_vars},
            "chain": posterior["chain"].values.tolist(),
            "last_draw": int(posterior["draw"].values[-1]),
            "values": {
                name: posterior[name].values[-1, -1].ravel().tolist()
                for name in posterior.data_vars
            },
            "rhat": summary["r_hat"].tolist(),
        }
    )
)
