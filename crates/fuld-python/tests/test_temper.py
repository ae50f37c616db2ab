"""Parallel tempering from Python: two modes that chains do not leave without it."""

from __future__ import annotations

import warnings
from typing import Any

import fuld
import numpy as np
import pytest

#: Modes at 8 and -8, the second three times as heavy.
TWO_MODES = "-logsumexp(-(x-8)^2/2, log(3)-(x+8)^2/2)"


def test_weights_are_right_and_the_temperatures_are_reported() -> None:
    # The share of a mode has a standard deviation of 0.5 % or less: false positives below 1e-4.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        samples = fuld.sample(TWO_MODES, temper=5, seed=1, progress=False)
    assert abs((samples["x"] < 0).mean() - 0.75) < 0.02
    settings = samples.settings
    assert settings["temper"] == 5
    temperatures, rates = settings["inverse_temperatures"], settings["exchange_rates"]
    assert temperatures[0] == 1
    assert np.all(np.diff(temperatures) < 0)
    assert np.all(np.abs(rates - 0.5) < 0.1)
    assert "5 temperatures" in samples.summary()
    assert samples.to("arviz") is not None


def test_without_tempering_there_is_a_warning_that_recommends_it() -> None:
    with pytest.warns(fuld.SamplingWarning, match="temper if there are several modes"):
        fuld.sample(TWO_MODES, seed=1, progress=False)


def test_exchanges_that_never_happen_are_warned_about() -> None:
    with pytest.warns(fuld.SamplingWarning, match="of the exchanges between temperatures"):
        # Without a warm-up they stay a factor of two apart, too much in a thousand dimensions.
        fuld.sample(
            "harmonic", dim=1000, temper=2, warmup=0, chains=4, draws=100, seed=1, progress=False
        )


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"temper": 0}, "temper must be at least 1"),
        ({"temper": 1000}, "temper must be from 1 to 255, got 1000"),
        ({"temper": 3, "adapt": False}, "3 temperatures require adaptation"),
        ({"temper": 3, "integrator": "baoab"}, "`temper` requires the integrator exact, got baoab"),
    ],
)
def test_settings_that_cannot_be_tempered_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        fuld.sample("x^2", **settings)
