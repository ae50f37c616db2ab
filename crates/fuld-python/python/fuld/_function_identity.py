"""The identity of a Python function: a hash of its code and of everything that it refers to.

A store may only be continued with the function that began it. Two functions that agree at some
points may differ elsewhere, so values are not compared. Instead this module hashes the bytecode,
constants, names and default arguments of a function, and does the same for the functions, arrays
and numbers that it refers to in its closure and among the globals of its module.

Objects without an own representation are hashed by their pickle, and otherwise by their type: a
change inside an object that cannot be pickled is not seen. Bytecode differs between versions of
Python, so that a store begun with one version is refused by another.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import types
from collections.abc import Iterable
from typing import Any

import numpy as np


def code_hash(function: object) -> str:
    """Return the SHA-256 hash of a function and of what it refers to, as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    _Hasher(digest).add(function)
    return digest.hexdigest()


class _Hasher:
    """Feeds objects to a digest, each with its kind and length, so that encodings are unique."""

    def __init__(self, digest: Any) -> None:  # noqa: ANN401
        self._digest = digest
        # Objects that are being hashed or were: functions may refer to each other.
        self._seen: dict[int, tuple[int, object]] = {}

    def add(self, value: object) -> None:
        """Add an object of any kind."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            self._put(type(value).__name__, repr(value).encode())
        elif isinstance(value, (np.ndarray, np.generic)) and not np.asarray(value).dtype.hasobject:
            array = np.asarray(value)
            self._put("array", f"{array.dtype.str} {array.shape}".encode(), array.tobytes())
        elif isinstance(value, types.ModuleType):
            self._put("module", value.__name__.encode())
        elif isinstance(value, types.CodeType):
            self._code(value)
        elif isinstance(value, (tuple, list)):
            self._several(type(value).__name__, value)
        elif isinstance(value, (set, frozenset)):
            hashes = sorted(code_hash(item) for item in value)
            self._several(type(value).__name__, hashes)
        elif id(value) in self._seen:
            self._put("seen", str(self._seen[id(value)][0]).encode())
        else:
            self._seen[id(value)] = (len(self._seen), value)
            self._object(value)

    def _put(self, kind: str, *parts: bytes) -> None:
        for part in (kind.encode(), *parts):
            self._digest.update(len(part).to_bytes(8, "little"))
            self._digest.update(part)

    def _several(self, kind: str, values: Iterable[object]) -> None:
        values = list(values)
        self._put(kind, str(len(values)).encode())
        for value in values:
            self.add(value)

    def _object(self, value: object) -> None:
        if isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.MethodType):
            self._several("method", (value.__func__, value.__self__))
        elif isinstance(value, functools.partial):
            keywords = sorted(value.keywords.items())
            self._several("partial", (value.func, value.args, keywords))
        elif isinstance(value, dict):
            self._several("dict", [item for pair in value.items() for item in pair])
        elif callable(getattr(value, "__wrapped__", None)):
            # A function that was decorated or compiled.
            self._put("wrapped", _type_name(value))
            self.add(value.__wrapped__)  # type: ignore[attr-defined]
        elif isinstance(value, type):
            self._put("class", f"{value.__module__}.{value.__qualname__}".encode())
        elif isinstance(call := getattr(type(value), "__call__", None), types.FunctionType):  # noqa: B004
            self._several("callable", (call, _attributes(value)))
        else:
            self._put("object", _type_name(value), _pickled(value))

    def _function(self, function: types.FunctionType) -> None:
        self._put("function")
        self._code(function.__code__)
        self.add(function.__defaults__)
        self.add(sorted((function.__kwdefaults__ or {}).items()))
        for cell in function.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:  # not yet assigned
                self._put("empty cell")
        for name in sorted(_global_names(function.__code__)):
            if name in function.__globals__:
                self.add(name)
                self.add(function.__globals__[name])

    def _code(self, code: types.CodeType) -> None:
        self._put("code", code.co_code)
        for part in (code.co_consts, code.co_names, code.co_varnames, code.co_freevars):
            self.add(part)
        self.add((code.co_argcount, code.co_kwonlyargcount, code.co_flags))


def _global_names(code: types.CodeType) -> set[str]:
    """Return the names that code and the functions defined in it may look up in their module."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names


def _type_name(value: object) -> bytes:
    return f"{type(value).__module__}.{type(value).__qualname__}".encode()


def _attributes(value: object) -> list[tuple[str, object]]:
    return sorted(getattr(value, "__dict__", {}).items())


def _pickled(value: object) -> bytes:
    try:
        return pickle.dumps(value, protocol=5)
    except Exception:
        return b""
