"""Handwritten digits for the examples: a set that is in this repository, or MNIST from a folder.

Sets, split and standardisation are those of `fuld train`.
"""

from __future__ import annotations

import gzip
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

# 8 x 8 pixels from 0 to 16 (Alpaydin and Kaynak, UCI, CC BY 4.0): for each image its label, then
# its pixels.
DIGITS = Path(__file__).parents[2] / "fuld-train" / "src" / "data" / "digits" / "digits.bin"
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Images:
    """Images, one in each row, and what they show."""

    name: str
    train: Tensor
    train_labels: Tensor
    test: Tensor
    test_labels: Tensor


class MissingError(Exception):
    """The files are missing or damaged."""


def load(folder: Path | None) -> Images:
    """MNIST from the folder, or the built-in digits."""
    return digits() if folder is None else mnist(folder)


def digits() -> Images:
    """1,442 images to train on, and every fifth of each class, 355, to test on."""
    if not DIGITS.exists():
        raise MissingError(
            f"{DIGITS} is not there: run the example inside the repository, or give --data FOLDER"
        )
    records = np.fromfile(DIGITS, dtype=np.uint8).reshape(-1, 65)
    labels = records[:, 0]
    # Which of its class an image is, from 0.
    rank = np.array([np.sum(labels[:i] == label) for i, label in enumerate(labels)])
    test = rank % 5 == 4
    return _images(
        "digits",
        (records[~test, 1:], labels[~test], records[test, 1:], labels[test]),
        (16, 0.30513582, 0.37615756),
    )


def mnist(folder: Path) -> Images:
    """MNIST from its publisher's four files, compressed or not."""
    return _images(
        "MNIST",
        (
            _idx(folder, "train-images-idx3-ubyte").reshape(-1, 784),
            _idx(folder, "train-labels-idx1-ubyte"),
            _idx(folder, "t10k-images-idx3-ubyte").reshape(-1, 784),
            _idx(folder, "t10k-labels-idx1-ubyte"),
        ),
        (255, 0.1307, 0.3081),
    )


def _images(
    name: str, arrays: tuple[Bytes, Bytes, Bytes, Bytes], standard: tuple[float, float, float]
) -> Images:
    peak, mean, deviation = standard

    def pixels(array: Bytes) -> Tensor:
        return (torch.from_numpy(array).float() / peak - mean) / deviation

    train, train_labels, test, test_labels = arrays
    return Images(
        name,
        pixels(train),
        torch.from_numpy(train_labels).long(),
        pixels(test),
        torch.from_numpy(test_labels).long(),
    )


def _idx(folder: Path, name: str) -> Bytes:
    plain, packed = folder / name, folder / f"{name}.gz"
    if plain.exists():
        data = plain.read_bytes()
    elif packed.exists():
        data = gzip.decompress(packed.read_bytes())
    else:
        raise MissingError(
            f"neither {name} nor {name}.gz is in {folder}: `fuld data fetch mnist --dir {folder}` "
            "fetches MNIST; without --data the built-in digits are taken"
        )
    # Two zeros, 8 for bytes, the number of axes, and the length of each in four bytes.
    head = 4 + 4 * data[3] if len(data) > 3 else 4
    shape = [int.from_bytes(data[at : at + 4], "big") for at in range(4, head, 4)]
    if data[:3] != b"\0\0\x08" or len(data) != head + math.prod(shape):
        raise MissingError(f"{name} in {folder} is not a complete idx file: fetch it again")
    return np.frombuffer(data, dtype=np.uint8, offset=head).reshape(shape).copy()
