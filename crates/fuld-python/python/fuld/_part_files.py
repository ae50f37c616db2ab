"""The parts of a run with an executor, kept as files in its store until all are complete.

Each part holds the draws of some chains. When all chains are there, the parts are replaced by the
store of the whole run, which is the same as that of a run without an executor.
"""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuld import _native
from fuld._store import PARTS, Store


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


class PartFiles:
    """A store that is filled part by part, and becomes the store of the whole run.

    Each part is written to a temporary file and renamed; its name holds the range of its chains. A
    settings file holds the hash of the run's specification and whether the store is complete.
    """

    def __init__(self, store: Store, plan: _native.Plan, settings: dict[str, Any]) -> None:
        self.release = store.release
        self._store = store.path
        self._plan = plan
        self._folder = store.path / PARTS
        self._about = {"run": plan.fingerprint, "finished": False, "settings": settings}
        if self._settings_file.exists():
            self._check()
        else:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._save_settings()

    @property
    def _settings_file(self) -> Path:
        return self._folder / "settings.json"

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
        if run == self._about["run"]:
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
            x, v = _native.read_store(os.fspath(self._store))
            diverged = np.flatnonzero(np.isnan(x[:, -1, 0]))
            return [Part(range(len(x)), x, v, diverged.tolist())]
        return [part for path in sorted(self._folder.glob("*.npz")) if (part := _read(path))]

    def keep(self, part: Part) -> None:
        """Write a part."""
        if self._about["finished"]:
            return
        arrays: dict[str, Any] = {"x": part.x, "diverged": np.array(part.diverged, np.int64)}
        if part.v is not None:
            arrays["v"] = part.v
        path = self._folder / f"{part.chains.start}-{part.chains.stop}.npz"
        beside = path.with_suffix(".part")
        with beside.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)

    def close(self, whole: Part) -> None:
        """Write the whole run as a store and delete the parts."""
        if self._about["finished"]:
            return
        self._plan.write_store(os.fspath(self._store), whole.x, whole.v)
        self._about["finished"] = True
        self._save_settings()
        for path in self._folder.glob("*.npz"):
            path.unlink(missing_ok=True)


def _read(path: Path) -> Part | None:
    try:
        first, last = (int(chain) for chain in path.stem.split("-"))
        with path.open("rb") as raw, np.load(raw) as file:
            part = Part(range(first, last), file["x"], file.get("v"), file["diverged"].tolist())
            return part if len(part.x) == len(part.chains) else None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None  # damaged: its chains are run again


def _replace(path: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    beside = path.with_suffix(".part")
    beside.write_bytes(content)
    beside.replace(path)
