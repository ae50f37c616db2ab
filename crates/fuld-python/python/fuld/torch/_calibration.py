"""The calibration of one parameter, as users read it.

`FULD.calibration` returns one `Calibration` per parameter: the estimated tail index and scale of
the gradient noise, and the settings that the last step used.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Calibration:
    """How the last step of one parameter was calibrated; see `FULD.calibration`.

    Attributes
    ----------
    noise_alpha : float
        The estimated tail index of the gradient noise; 2 is Gaussian.
    noise_scale : float
        The estimated scale of the gradient noise, in units of the gradient: the geometric mean over
        the coordinates. NaN before the fourth gradient.
    alpha : float
        The tail index in use: given, or that of the noise as far as noise explains the gradients.
        At 2 the step is SGD's.
    momentum_knee : float
        The knee κ/√lr, in units of the momentum buffer; infinite before the first nonzero gradient.
    limit : float
        The largest gradient component that enters the momentum: larger ones are clipped to it.
        Infinite if nothing is clipped.
    beyond_knee : float
        The share of coordinates beyond the knee, averaged over about twenty steps.
    """

    noise_alpha: float
    noise_scale: float
    alpha: float
    momentum_knee: float
    limit: float
    beyond_knee: float

    @property
    def is_sgd(self) -> bool:
        """Whether the field has no knee, so that the step is SGD's."""
        return self.alpha == 2 or self.momentum_knee == float("inf")
