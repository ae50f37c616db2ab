"""What a calibration says of a parameter."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Calibration:
    """How the step of one parameter was calibrated last; see `FULD.calibration`.

    Attributes
    ----------
    noise_alpha : float
        The tail index of the gradients' noise, as it was found; 2 is Gaussian.
    noise_sigma : float
        Its scale, in units of the gradient: the geometric mean of the coordinates' scales. nan
        before there were four gradients.
    alpha : float
        The tail index in use: given, or that of the noise as far as noise explains what is seen.
        At 2 the step is SGD's.
    bend : float
        Where the momentum bends; infinite before a gradient was seen that is not 0.
    limit : float
        Components of the gradient beyond this enter the momentum as this; infinite if all enter as
        they are.
    bent : float
        The share of coordinates that were beyond the bend, on average over some twenty steps.
    """

    noise_alpha: float
    noise_sigma: float
    alpha: float
    bend: float
    limit: float
    bent: float

    @property
    def is_straight(self) -> bool:
        """Whether nothing bends, so that the step is SGD's."""
        return self.alpha == 2 or self.bend == float("inf")
