"""The calibration state of a parameter, as a tensor in the optimizer's state.

The tensor is float32 and on the CPU, whatever the parameter is: its sums need the precision, and
the Rust crate reads and writes it there.

Each process calibrates its own shard of a sharded parameter. A checkpoint holds one tensor for all
processes, whose number may differ when it is loaded. So the tensor is as long as that of the whole
parameter, and all processes continue from the state of one of them.
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
from fuld.torch._local_tensors import real_shard

KEY = "calibration"


@lru_cache(maxsize=1024)
def size(length: int) -> int:
    """Return how many numbers the state of a tensor with `length` coordinates has."""
    return len(_native.calibration_start(length))


def calibration_state(param: Tensor, state: Tensor | None) -> Tensor:
    """Return the state of a parameter, to be written to; a new one if there is none."""
    if state is None:
        return _padded(param, _native.calibration_start(real_shard(param).numel()))
    if state.numel() != size(_whole(param)):
        raise _refusal(param, f"{state.numel()} numbers instead of {size(_whole(param))}")
    if state.dtype == torch.float32 and state.device.type == "cpu" and state.is_contiguous():
        return state
    return state.detach().to("cpu", torch.float32).contiguous()


def numbers(state: Tensor, length: int) -> NDArray[np.float32]:
    """Return the numbers of the state of `length` coordinates, in the tensor's own memory."""
    found: NDArray[np.float32] = state.numpy()
    return found[: size(length)]


def estimate(param: Tensor, state: Tensor) -> Calibration:
    """Return the estimates of a state."""
    length = real_shard(param).numel()
    state = calibration_state(param, state)
    return Calibration(*_native.calibration_estimate(numbers(state, length), length))


def check_loaded(param: Tensor, state: dict[str, Any]) -> None:
    """Raise an error if the state of a checkpoint does not belong to this parameter."""
    if not isinstance(state.get(KEY), Tensor):
        return
    buffer = state.get("momentum_buffer")
    if isinstance(buffer, Tensor) and buffer.shape != param.shape:
        raise RuntimeError(
            f"a parameter of shape {tuple(param.shape)} has a momentum_buffer of shape "
            f"{tuple(buffer.shape)}: is the checkpoint that of another model?"
        )
    _loaded(param, state[KEY])


def _loaded(param: Tensor, state: Tensor) -> Tensor:
    """Return a copy of the state of a checkpoint, for what this process has of a parameter."""
    state = state.detach().to("cpu", torch.float32, copy=True).contiguous()
    length, whole = real_shard(param).numel(), _whole(param)
    if state.numel() != size(whole):
        raise _refusal(param, f"{state.numel()} numbers instead of {size(whole)}")
    try:
        of = _native.calibration_length(state.numpy())
    except ValueError as error:
        raise _refusal(param, str(error)) from None
    if of > whole:
        raise _refusal(param, f"the length {of} of another tensor instead of {whole}")
    if of == length and not hasattr(param, "placements"):
        return state
    # That of a shard, perhaps of another process, which sampled gradients at other positions.
    return _padded(param, _native.calibration_moved(state.numpy(), length))


def _refusal(param: Tensor, what: str) -> RuntimeError:
    return RuntimeError(
        f"a parameter of shape {tuple(param.shape)} has a calibration state that does not fit: "
        f"{what}. Is the checkpoint that of another model? Delete 'calibration' from its state to "
        "start a new calibration"
    )


class Uncast:
    """A state that passes through torch's loading, which would cast a tensor."""

    def __init__(self, state: Tensor) -> None:
        self._state = state

    def of(self, param: Tensor) -> Tensor:
        """Return a copy for the parameter that the state was loaded for."""
        return _loaded(param, self._state)


def uncast(state: dict[Any, Any]) -> dict[Any, Any]:
    """Return the state of a checkpoint with its calibrations protected from torch's casts."""
    return {
        k: {**of, KEY: Uncast(of[KEY])}
        if isinstance(of, dict) and isinstance(of.get(KEY), Tensor)
        else of
        for k, of in state.items()
    }


def release(state: dict[Any, Any]) -> None:
    """Replace the protected calibrations by tensors."""
    for param, of in state.items():
        if isinstance(of.get(KEY), Uncast):
            of[KEY] = of[KEY].of(param)


def _whole(param: Tensor) -> int:
    """Return the coordinates of a parameter, over all processes."""
    return param.numel() * (2 if param.is_complex() else 1)


def _padded(param: Tensor, state: NDArray[np.float32]) -> Tensor:
    found = torch.zeros(size(_whole(param)))
    found[: len(state)] = torch.from_numpy(state)
    return found
