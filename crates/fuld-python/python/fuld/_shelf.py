"""Where parts of a spread run are kept until all are there."""

from __future__ import annotations

import os
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuld import _native


@dataclass(frozen=True)
class Part:
    """Some chains of a run."""

    chains: range
    """Their numbers in the whole run."""
    x: NDArray[np.float64]
    """Positions (chains, draws, dim)."""
    v: NDArray[np.float64] | None
    """Velocities, if they were kept."""
    diverged: list[int]
    """Numbers of those that diverged."""


class Shelf:
    """A store that is filled part by part, and becomes the store of the whole run.

    A part is a file, written beside its place and renamed into it; its name says of which run it is
    and which chains it holds.
    """

    def __init__(self, store: Path, plan: _native.Plan, resume: bool) -> None:
        self._store = store
        self._plan = plan
        self._folder = store / ".fuld-parts"
        if not resume and ((store / "posterior").exists() or self._folder.exists()):
            raise FileExistsError(
                f"{store} holds a run already: go on with resume=True, or name another store"
            )
        if (store / ".fuld-state").exists():
            raise FileExistsError(
                f"{store} holds a run that was begun without an executor: go on without one"
            )
        self._folder.mkdir(parents=True, exist_ok=True)

    def load(self) -> list[Part]:
        """Read the parts that are there, or all of them if the run was finished."""
        if (self._store / "posterior").exists():
            x, v = self._plan.read_store(os.fspath(self._store))
            diverged = np.flatnonzero(np.isnan(x[:, -1, 0]))
            return [Part(range(len(x)), x, v, diverged.tolist())]
        return [part for path in sorted(self._folder.glob("*.npz")) if (part := self._read(path))]

    def _read(self, path: Path) -> Part | None:
        run, first, last = path.stem.split("-")
        if run != self._plan.fingerprint:
            raise ValueError(
                f"{self._store} holds chains of a run with other settings: go on with those "
                "that it began with, or name another store"
            )
        try:
            with np.load(path) as file:
                v = file.get("v")
                return Part(range(int(first), int(last)), file["x"], v, file["diverged"].tolist())
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return None  # damaged: these chains are run again

    def keep(self, part: Part) -> None:
        """Write a part."""
        name = f"{self._plan.fingerprint}-{part.chains.start}-{part.chains.stop}"
        arrays: dict[str, Any] = {"x": part.x, "diverged": np.array(part.diverged, np.int64)}
        if part.v is not None:
            arrays["v"] = part.v
        beside = self._folder / f"{name}.part"
        with beside.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._folder / f"{name}.npz")

    def close(self, x: NDArray[np.float64], v: NDArray[np.float64] | None) -> None:
        """Write the whole run as a store, and put the parts away."""
        self._plan.write_store(os.fspath(self._store), x, v)
        shutil.rmtree(self._folder, ignore_errors=True)
