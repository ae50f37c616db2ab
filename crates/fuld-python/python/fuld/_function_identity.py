"""The identity of a Python function: a hash of its code and of everything that it refers to.

A store may only be continued with the function that began it. Two functions that agree at some
points may differ elsewhere, so values are not compared. Instead this module hashes:

- functions: bytecode, constants, default arguments, closure, and the globals that they read,
- bound methods, partials and decorated functions: the function and the data bound to it,
- other objects: their class, and the state that pickle would store,
- classes: bases, methods and attributes,
- modules: the members that a function names, as in `helpers.energy`.

Code of installed packages and of the standard library is identified by its name alone, so that a
store can be continued with another version of them. Names that are computed at run time, as by
`getattr`, are not seen. An object whose state cannot be read, such as a lock or an open file,
raises `UnidentifiedError`. Bytecode differs between versions of Python, so that a store begun with
one version is refused by another.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import hashlib
import importlib
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_READ_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}


class UnidentifiedError(TypeError):
    """A function refers to an object whose state cannot be read."""


def code_hash(function: object) -> str:
    """Return the SHA-256 hash of a function and of what it refers to, as 64 hexadecimal digits.

    Raises
    ------
    UnidentifiedError
        If the function refers to an object whose state cannot be read.
    """
    hasher = _Hasher()
    try:
        hasher.add(function)
    except RecursionError:
        raise UnidentifiedError(hasher.message("is nested too deeply")) from None
    return hasher.digest.hexdigest()


class _Hasher:
    """Feeds objects to a digest, each with its kind and length, so that encodings are unique."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        # Objects that are being hashed or were: functions may refer to each other.
        self._visited: dict[int, tuple[int, object]] = {}
        # Members of modules that are being hashed or were.
        self._members: set[tuple[int, str]] = set()
        # The names that lead to the present object, for errors.
        self._path: list[str] = []

    def message(self, problem: str) -> str:
        """Return the text of an error about the present object."""
        where = " > ".join(self._path) or "the potential"
        return (
            f"{where} {problem}, so that the function cannot be identified when "
            "the store is continued: keep its data in numbers, text, arrays or objects that can be "
            "pickled, or sample without store="
        )

    def add(self, value: object) -> None:
        """Add an object of any kind."""
        kind = type(value)
        if kind in _PLAIN:
            self._put(kind.__name__, repr(value).encode())
        elif (kind is np.ndarray or isinstance(value, np.generic)) and not _holds_objects(value):
            array = np.asarray(value)
            self._put("array", f"{array.dtype.str} {array.shape}".encode(), array.tobytes())
        elif isinstance(value, types.CodeType):
            self._code(value)
        elif kind in (tuple, list):
            self._several(kind.__name__, value)  # type: ignore[arg-type]
        elif kind in (set, frozenset):
            self._several(kind.__name__, sorted(code_hash(item) for item in value))  # type: ignore[attr-defined]
        elif id(value) in self._visited:
            self._put("visited", str(self._visited[id(value)][0]).encode())
        else:
            self._visited[id(value)] = (len(self._visited), value)
            self._object(value)

    def _put(self, kind: str, *parts: bytes) -> None:
        for part in (kind.encode(), *parts):
            self.digest.update(len(part).to_bytes(8, "little"))
            self.digest.update(part)

    def _several(self, kind: str, values: Iterable[object]) -> None:
        values = list(values)
        self._put(kind, str(len(values)).encode())
        for value in values:
            self.add(value)

    def _named(self, kind: str, items: Iterable[tuple[object, object]]) -> None:
        """Add pairs of a name and a value."""
        items = list(items)
        self._put(kind, str(len(items)).encode())
        for name, value in items:
            self.add(name)
            with self._within(name):
                self.add(value)

    @contextmanager
    def _within(self, name: object) -> Iterator[None]:
        self._path.append(name if isinstance(name, str) else repr(name))
        yield
        # Not after an error, whose message is still to be made.
        self._path.pop()

    def _object(self, value: Any) -> None:  # noqa: ANN401
        if isinstance(value, types.FunctionType):
            with self._within(value.__qualname__):
                self._function(value)
        elif isinstance(value, types.MethodType):
            self._several("method", (value.__func__, value.__self__))
        elif isinstance(value, functools.partial):
            self._several("partial", (value.func, value.args, sorted(value.keywords.items())))
        elif (
            isinstance(value, (dict, types.MappingProxyType))
            and type(value).__module__ == "builtins"
        ):
            self._named("dict", value.items())
        elif isinstance(value, types.ModuleType):
            self._module(value, vars(value).keys())
        elif isinstance(value, type):
            with self._within(value.__qualname__):
                self._class(value)
        elif isinstance(value, (staticmethod, classmethod)):
            self._several(type(value).__name__, (value.__func__,))
        elif isinstance(value, property):
            self._several("property", (value.fget, value.fset, value.fdel))
        elif isinstance(value, functools.cached_property):
            self._several("cached property", (value.func,))
        elif isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            self._put("descriptor", value.__name__.encode())
        elif callable(getattr(value, "__wrapped__", None)):
            # A function that was decorated or compiled.
            self._put("wrapped", _full_name(type(value)))
            self.add(value.__wrapped__)
        else:
            self._state(value)

    def _function(self, function: types.FunctionType) -> None:
        self._put("function")
        own = _is_users(function.__globals__.get("__name__"))
        if own:
            self._code(function.__code__)
        else:
            self._put("installed", _full_name(function), function.__code__.co_name.encode())
            if _is_importable(function):
                return
        self.add(function.__defaults__)
        self.add(sorted((function.__kwdefaults__ or {}).items()))
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        names = set(_names(function.__code__))
        for name, cell in cells:
            try:
                content = cell.cell_contents
            except ValueError:  # not yet assigned
                self._put("empty cell")
                continue
            self._variable(name, content, names)
        if own:
            self._globals(function, names)

    def _globals(self, function: types.FunctionType, names: set[str]) -> None:
        """Add the globals that a function reads, and the modules that it imports itself."""
        read, imported = _globals_read(function.__code__)
        for name in sorted(read & function.__globals__.keys()):
            self._variable(name, function.__globals__[name], names)
        for name, level in sorted(imported):
            try:
                module = importlib.import_module(
                    "." * level + name, function.__globals__.get("__package__")
                )
            except ImportError:
                continue  # as it will in the function
            self._variable(name, module, names)

    def _variable(self, name: str, value: object, names: set[str]) -> None:
        """Add a variable of a function. Of a module only the members in `names` are added."""
        self.add(name)
        with self._within(name):
            if isinstance(value, types.ModuleType):
                self._module(value, names)
            else:
                self.add(value)

    def _module(self, module: types.ModuleType, names: Iterable[str]) -> None:
        self._put("module", module.__name__.encode())
        if not _is_users(module.__name__):
            return
        names = set(names)
        for name in sorted(names & vars(module).keys()):
            key = (id(module), name)
            if not name.startswith("__") and key not in self._members:
                self._members.add(key)
                self._variable(name, vars(module)[name], names)

    def _class(self, value: type) -> None:
        self._put("class", _full_name(value))
        if not _is_users(value.__module__):
            return
        self._several("bases", (type(value), *value.__bases__))
        self._named("members", sorted(item for item in vars(value).items() if _is_member(item)))

    def _state(self, value: Any) -> None:  # noqa: ANN401
        """Add the class and the state that pickle would store."""
        kind = type(value)
        try:
            reduce = copyreg.dispatch_table.get(kind)
            reduced = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception:
            name = _full_name(kind).decode()
            raise UnidentifiedError(
                self.message(f"is an object of {name}, whose state cannot be read")
            ) from None
        self._put("object", _full_name(kind))
        if isinstance(reduced, str):
            self._put("global", str(getattr(value, "__module__", "")).encode(), reduced.encode())
            return
        function, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        self.add(function)
        self.add(arguments)
        self.add(state)
        self._several("items", items or ())
        self._named("pairs", pairs or ())

    def _code(self, code: types.CodeType) -> None:
        self._put("code", code.co_code)
        for part in (code.co_consts, code.co_names, code.co_varnames, code.co_freevars):
            self.add(part)
        self.add((code.co_argcount, code.co_kwonlyargcount, code.co_flags))


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield code and that of the functions and classes defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


def _names(code: types.CodeType) -> Iterator[str]:
    """Yield all names of variables and attributes in code."""
    for each in _nested(code):
        yield from each.co_names


def _globals_read(code: types.CodeType) -> tuple[set[str], set[tuple[str, int]]]:
    """Return the globals that code reads, and the modules it imports with their relative level."""
    read: set[str] = set()
    imported: set[tuple[str, int]] = set()
    for each in _nested(code):
        level = 0
        before: list[object] = []
        for instruction in dis.get_instructions(each):
            if instruction.opname in _READ_GLOBAL:
                read.add(instruction.argval)
            elif instruction.opname == "IMPORT_NAME":
                # The level and the names are loaded before.
                level = before[-2] if isinstance(before[-2], int) else 0
                imported.add((instruction.argval, level))
            before.append(instruction.argval)
    return read, imported


def _is_member(item: tuple[str, object]) -> bool:
    """Whether an attribute of a class is part of it: special ones only if they are functions."""
    name, value = item
    special = name.startswith("__") and name.endswith("__")
    return name != "_abc_impl" and (
        not special or (isinstance(value, types.FunctionType) and "annotat" not in name)
    )


def _is_importable(function: types.FunctionType) -> bool:
    """Whether the name of a function in its module determines it."""
    return getattr(sys.modules.get(function.__module__), function.__name__, None) is function


def _full_name(value: Any) -> bytes:  # noqa: ANN401
    return f"{value.__module__}.{value.__qualname__}".encode()


def _holds_objects(value: object) -> bool:
    return bool(np.asarray(value).dtype.hasobject)


@functools.cache
def _library() -> Path:
    return Path(sysconfig.get_path("stdlib")).resolve()


def _is_users(name: str | None) -> bool:
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
