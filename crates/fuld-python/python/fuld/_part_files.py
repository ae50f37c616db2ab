"""The parts of a run with an executor, kept as files in its store until all are complete.

Each part holds the draws of some chains. When all chains are there, the parts are replaced by the
store of the whole run, which is the same as that of a run without an executor.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuld import _native
from fuld._store import PARTS, SETTINGS, WARM, Store


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
    statistics: NDArray[np.float64] | None = None
    """Statistics of exact sampling (chains, draws, STATISTICS)."""


class PartFiles:
    """A store that is filled part by part, and becomes the store of the whole run.

    Each part is written to a temporary file and renamed; its name holds the range of its chains. It
    has the hash of the run's specification and a checksum: a part that is damaged or of another run
    is run again. A settings file holds the same hash and whether the store is complete.
    """

    def __init__(self, store: Store, planned: _native.PlannedRun, settings: dict[str, Any]) -> None:
        self.release = store.release
        self._store = store.path
        self._planned = planned
        self._folder = store.path / PARTS
        self._run = planned.fingerprint
        self._about = {"run": self._run, "finished": False, "settings": settings}
        if self._settings_file.exists():
            self._check()
        else:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._save_settings()

    @property
    def _settings_file(self) -> Path:
        return self._folder / SETTINGS

    def _save_settings(self) -> None:
        _replace(self._settings_file, json.dumps(self._about).encode())

    def _check(self) -> None:
        """Raise an error with the first difference if the parts belong to another run."""
        try:
            there = json.loads(self._settings_file.read_bytes())
            run, settings = there["run"], dict(there["settings"])
            self._about["finished"] = bool(there["finished"])
        except (ValueError, KeyError, TypeError):
            raise OSError(f"{self._settings_file} is damaged; it was left in place") from None
        if run == self._run:
            return
        # As they come back from a file.
        here = json.loads(json.dumps(self._about["settings"]))
        names = [name for name in {**here, **settings} if here.get(name) != settings.get(name)]
        difference = "another potential"
        if names:
            name = names[0]
            difference = f"stored {name}: {settings.get(name)}, requested {name}: {here.get(name)}"
        raise ValueError(
            f"{self._store} belongs to another run: {difference}; continue with the settings that "
            "it has, or name another store"
        )

    def load(self) -> list[Part]:
        """Return the complete parts, or the whole run if it was finished."""
        if self._about["finished"]:
            x, v, statistics = _native.read_store(os.fspath(self._store))
            diverged = np.flatnonzero(np.isnan(x[:, -1, 0]))
            return [Part(range(len(x)), x, v, diverged.tolist(), statistics)]
        read = [self._read(path) for path in self._folder.glob("*.npz")]
        parts: list[Part] = []
        for part in sorted(filter(None, read), key=lambda part: part.chains.start):
            # Parts of a run that was divided otherwise may overlap.
            if not parts or part.chains.start >= parts[-1].chains.stop:
                parts.append(part)
        return parts

    def _read(self, path: Path) -> Part | None:
        """Return a part of this run; None if it is damaged or of another run."""
        try:
            first, last = (int(chain) for chain in path.stem.split("-"))
            with path.open("rb") as raw, np.load(raw) as file:
                run, checksum = str(file["run"]), str(file["checksum"])
                diverged = file["diverged"].tolist()
                arrays = (file["x"], file.get("v"), diverged, file.get("statistics"))
                part = Part(range(first, last), *arrays)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        same = run == self._run and len(part.x) == len(part.chains)
        return part if same and checksum == _checksum(run, part.chains, _arrays(part)) else None

    def keep(self, part: Part | bytes) -> None:
        """Write a part, or the state of all chains after the warm-up."""
        if self._about["finished"]:
            return
        if isinstance(part, bytes):
            _replace(self._folder / WARM, part)
            return
        arrays = _arrays(part)
        checksum = _checksum(self._run, part.chains, arrays)
        contents: dict[str, Any] = {**arrays, "run": self._run, "checksum": checksum}
        path = self._folder / f"{part.chains.start}-{part.chains.stop}.npz"
        beside = path.with_suffix(".part")
        with beside.open("wb") as file:
            np.savez(file, **contents)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)

    def load_warm_state(self) -> bytes | None:
        """Return the state of all chains after the warm-up; None if it is missing or damaged."""
        try:
            state = (self._folder / WARM).read_bytes()
            _native.adapted_numbers(state)
        except (OSError, ValueError):
            return None
        return state

    def close(self, whole: Part) -> None:
        """Write the whole run as a store and delete the parts."""
        if self._about["finished"]:
            return
        self._planned.write_store(os.fspath(self._store), whole.x, whole.v, whole.statistics)
        self._about["finished"] = True
        self._save_settings()
        for path in self._folder.glob("*.npz"):
            path.unlink(missing_ok=True)


def _arrays(part: Part) -> dict[str, NDArray[Any]]:
    """Return what the file of a part holds."""
    arrays = {"x": part.x, "v": part.v, "statistics": part.statistics}
    given: dict[str, NDArray[Any]] = {k: array for k, array in arrays.items() if array is not None}
    return {**given, "diverged": np.array(part.diverged, np.int64)}


def _checksum(run: str, chains: range, arrays: dict[str, NDArray[Any]]) -> str:
    """Return the SHA-256 hash of a part of a run, as hexadecimal digits."""
    digest = hashlib.sha256(f"{run} {chains.start} {chains.stop}".encode())
    for name, array in sorted(arrays.items()):
        digest.update(f" {name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _replace(path: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    beside = path.with_suffix(".part")
    beside.write_bytes(content)
    beside.replace(path)
