"""The folder of a run's draws: which kind of run it belongs to, and a lock against other runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # there are none on Windows, and no locks either
    fcntl = None  # type: ignore[assignment]

#: What a run without an executor leaves in its store to go on from.
STATE = ".fuld-state"
#: The folder for the parts of a run with one.
PARTS = ".fuld-parts"
#: The file that is locked while a run uses the store. A run that is killed leaves it unlocked.
LOCK = ".fuld-lock"


class Store:
    """A folder that a run may use, locked against others until `release`."""

    def __init__(self, path: Path, lock: Any) -> None:  # noqa: ANN401
        self.path = path
        self._lock = lock

    @classmethod
    def claim(cls, given: str | os.PathLike[str], *, resume: bool, executor: bool) -> Store:
        """Take a folder for a run: a new or an empty one, or with `resume` one of the same kind."""
        # Absolute, since the run goes on when the working directory has changed.
        path = Path(os.path.abspath(_path(given)))
        if path.exists() and not path.is_dir():
            raise NotADirectoryError(f"store must be a folder, but {path} is a file")
        there = {entry.name for entry in path.iterdir()} - {LOCK} if path.exists() else set()
        if there and not resume and _is_ours(path, there):
            raise FileExistsError(
                f"{path} holds a run already: go on with resume=True, or name another store"
            )
        if there and not _is_ours(path, there):
            raise FileExistsError(
                f"{path} holds files that are not of a run, such as {min(there)}: name a new folder"
            )
        begun = "with" if PARTS in there else "without"
        if there and (PARTS in there) != executor:
            raise FileExistsError(
                f"{path} holds a run that was begun {begun} an executor: go on {begun} one, or "
                "name another store"
            )
        path.mkdir(parents=True, exist_ok=True)
        return cls(path, _locked(path))

    def release(self) -> None:
        """Let others use it."""
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
    """Lock the folder, or say who has."""
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
