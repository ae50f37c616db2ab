"""The folder of a run's draws: its kind of run, and a lock against other runs.

The command line marks and locks its folders with the file `.fuld`. A store has a lock file of its
own: it is a plain Zarr store that other programs read and copy, `.fuld-state` and `.fuld-parts`
already identify it, and the error of a locked store names the process that holds it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from fuld import _native

try:
    import fcntl
except ImportError:  # Windows has no flock, and stores there are not locked
    fcntl = None  # type: ignore[assignment]

#: The checkpoint of a run without an executor.
STATE = ".fuld-state"
#: The folder with the parts of a run with an executor.
PARTS = ".fuld-parts"
#: The file in it with the settings of the run.
SETTINGS = "settings.json"
#: The file in it with the state of all chains after the warm-up.
WARM = "warm-state.bin"
#: The file that is locked while a run uses the store. A run that is killed leaves it unlocked.
LOCK = ".fuld-lock"


class Store:
    """The folder of one run, locked against others until `release`."""

    def __init__(self, path: Path, lock: Any) -> None:  # noqa: ANN401
        self.path = path
        self._lock = lock

    @classmethod
    def claim(cls, given: str | os.PathLike[str], *, resume: bool, executor: bool) -> Store:
        """Lock a folder for a run: new, empty, or with `resume` that of a run of the same kind."""
        # Absolute, since the run continues when the working directory changes.
        path = Path(os.path.abspath(_path(given)))
        if path.exists() and not path.is_dir():
            raise NotADirectoryError(f"store must be a folder, but {path} is a file")
        found = {entry.name for entry in path.iterdir()} - {LOCK} if path.exists() else set()
        if found and not resume and _is_ours(path, found):
            raise FileExistsError(
                f"{path} holds a run already: continue it with resume=True, or name another store"
            )
        if found and not _is_ours(path, found):
            raise FileExistsError(
                f"{path} holds files of other programs, such as {min(found)}: name a new folder"
            )
        begun = "with" if PARTS in found else "without"
        if found and (PARTS in found) != executor:
            raise FileExistsError(
                f"{path} holds a run that was begun {begun} an executor: continue it {begun} one, "
                "or name another store"
            )
        path.mkdir(parents=True, exist_ok=True)
        return cls(path, _locked(path))

    @staticmethod
    def stored_seed(given: str | os.PathLike[str]) -> int | None:
        """Return the seed of the run in a folder; None if there is none."""
        path = Path(_path(given))
        seed = _native.stored_seed(os.fspath(path))
        if seed is not None:
            return seed
        try:
            return int(json.loads((path / PARTS / SETTINGS).read_bytes())["settings"]["seed"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def release(self) -> None:
        """Unlock the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _path(given: object) -> str:
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"store must be the path of a folder, got {given!r}")
    path = os.fspath(given)
    if not isinstance(path, str) or not path:
        raise ValueError(f"store must be the path of a folder, got {path!r}")
    return path


def _is_ours(path: Path, names: set[str]) -> bool:
    if {STATE, PARTS} & names:
        return True
    mark = path / ".zattrs"
    return mark.exists() and b"fuld_run" in mark.read_bytes()


def _locked(path: Path) -> Any:  # noqa: ANN401
    """Lock the folder, or raise an error that names the process that holds the lock."""
    if fcntl is None:
        return None
    file = (path / LOCK).open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        who = file.read().strip()
        file.close()
        raise RuntimeError(
            f"{path} is in use by a run in process {who}: wait for it, or name another store"
        ) from None
    except OSError:  # some network file systems have no locks
        return file
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file
