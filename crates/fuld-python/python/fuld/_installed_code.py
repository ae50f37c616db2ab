"""Which code is installed, so that its name identifies it, and which is the user's own."""

from __future__ import annotations

import functools
import sys
import sysconfig
from pathlib import Path
from typing import Any


def is_users(name: str | None) -> bool:
    """Whether a module is neither installed nor part of Python."""
    module = sys.modules.get(name or "")
    if module is None or name == "__main__":
        return True
    if name == "fuld" or module.__name__.startswith("fuld."):
        return False
    file = getattr(module, "__file__", None)
    if file is None:
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        return origin not in ("built-in", "frozen")
    path = Path(file).resolve()
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    return not installed and not path.is_relative_to(_library())


def is_installed(value: Any, name: str) -> bool:  # noqa: ANN401
    """Whether an object is the member with this name of an installed module."""
    return not is_users(value.__module__) and member(value.__module__, name) is value


def is_importable(value: Any) -> bool:  # noqa: ANN401
    """Whether the name of a function or class in its module determines it."""
    return member(value.__module__, value.__qualname__) is value


def member(module: str, name: str) -> object:
    """Return the object with a name like `Class.method` in a module; None if there is none."""
    found: object = sys.modules.get(module)
    for part in name.split("."):
        # Not by getattr, which would load lazy modules and run code.
        found = getattr(found, "__dict__", {}).get(part)
        found = getattr(found, "__func__", found) if isinstance(found, staticmethod) else found
    return found


@functools.cache
def _library() -> Path:
    return Path(sysconfig.get_path("stdlib")).resolve()
