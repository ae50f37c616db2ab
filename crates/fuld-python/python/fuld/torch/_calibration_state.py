"""What is known for the calibration of a parameter, as a tensor in the optimizer's state.

It is of float32 and on the CPU, whatever the parameter is: the sums in it need the digits, and
they are read and written there.

Of a sharded parameter each process calibrates what it has. Checkpoints keep one tensor for all
processes, of which there may be another number when it is loaded; so it is as long as that of the
whole parameter, and what one process has found is where all go on.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fuld import _native
from fuld.torch._calibration import Calibration
from fuld.torch._plain import plain_tensor

KEY = "calibration"


@lru_cache(maxsize=1024)
def size(length: int) -> int:
    """How many numbers hold what is known of so many coordinates."""
    return len(_native.calibration_start(length))


def calibration_of(param: Tensor, known: Tensor | None) -> Tensor:
    """What is known of a parameter, to be written to; a beginning if there is nothing."""
    if known is None:
        return _padded(param, _native.calibration_start(plain_tensor(param).numel()))
    if known.numel() != size(_whole(param)):
        raise RuntimeError(
            f"a parameter of shape {tuple(param.shape)} has a calibration of {known.numel()} "
            f"numbers instead of {size(_whole(param))}: is the checkpoint that of another model? "
            "Without its 'calibration' a new one begins"
        )
    if known.dtype == torch.float32 and known.device.type == "cpu" and known.is_contiguous():
        return known
    return known.detach().to("cpu", torch.float32).contiguous()


def numbers(known: Tensor, length: int) -> NDArray[np.float32]:
    """What is known of so many coordinates, in the tensor's own memory."""
    found: NDArray[np.float32] = known.numpy()
    return found[: size(length)]


def reading(param: Tensor, known: Tensor) -> Calibration:
    """What it says."""
    length = plain_tensor(param).numel()
    known = calibration_of(param, known)
    return Calibration(*_native.calibration_reading(numbers(known, length), length))


class Held:
    """What is known, on its way through torch's loading, which would cast a tensor."""

    def __init__(self, known: Tensor) -> None:
        self._known = known

    def of(self, param: Tensor) -> Tensor:
        """A copy, of the parameter that it has reached."""
        known = self._known.detach().to("cpu", torch.float32, copy=True).contiguous()
        length = plain_tensor(param).numel()
        if not hasattr(param, "placements") or known.numel() != size(_whole(param)):
            return known
        # Another process may have seen these gradients, at other places.
        return _padded(param, _native.calibration_moved(known.numpy(), length))


def held(state: dict[Any, Any]) -> dict[Any, Any]:
    """The state of a checkpoint, with what torch is not to cast."""
    return {
        k: {**of, KEY: Held(of[KEY])}
        if isinstance(of, dict) and isinstance(of.get(KEY), Tensor)
        else of
        for k, of in state.items()
    }


def release(state: dict[Any, Any]) -> None:
    """Puts what was held into its place."""
    for param, of in state.items():
        if isinstance(of.get(KEY), Held):
            of[KEY] = of[KEY].of(param)


def _whole(param: Tensor) -> int:
    """Coordinates of a parameter, in all processes together."""
    return param.numel() * (2 if param.is_complex() else 1)


def _padded(param: Tensor, known: NDArray[np.float32]) -> Tensor:
    found = torch.zeros(size(_whole(param)))
    found[: len(known)] = torch.from_numpy(known)
    return found
