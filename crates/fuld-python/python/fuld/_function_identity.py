"""The identity of a Python function: a hash of its code and of everything that it refers to.

A store may only be continued with the function that began it. Two functions that agree at some
points may differ elsewhere, so values are not compared. Instead this module hashes:

- functions: bytecode, constants, default arguments, closure, attributes, and the globals that they
  read,
- bound methods, partials and decorated functions: the function and the data bound to it,
- other objects: their class, and the state that pickle would store,
- classes: metaclass, bases, methods and attributes,
- modules: the members that a function names, as in `helpers.energy`; all members, if a function
  uses the module in another way, as in `getattr(helpers, name)`.

Code of installed packages and of the standard library is identified by its name alone, so that a
store can be continued with another version of them. All else that cannot be read raises
`UnidentifiedError`: locks, open files, context variables, compiled code that is not installed, and
functions that call `globals`, `eval` or `exec`. Bytecode differs between versions of Python, so
that a store begun with one version is refused by another.
"""

from __future__ import annotations

import copyreg
import dataclasses
import functools
import hashlib
import importlib
import sys
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fuld._code_names import CodeNames
from fuld._installed_code import is_importable, is_installed, is_users, member

_PLAIN = (type(None), bool, int, float, complex, str, bytes)
#: Builtins that reach variables which the code does not name.
_REACH_ALL = {"globals", "eval", "exec", "__import__"}
#: Classes of objects that compute the same as the function in `__wrapped__`, by package and name,
#: with their own attributes. Others may be assigned to them, but code compiled by Numba reads none.
_SAME_AS_WRAPPED: dict[tuple[str, str], set[str] | None] = {
    ("functools", "_lru_cache_wrapper"): set(),
    ("jaxlib", "PjitFunction"): {"_fun", "_jit_info"},
    ("numba", "CPUDispatcher"): None,
}
#: Attributes of classes and modules that do not affect what their members compute.
_NOT_MEMBERS = {
    "__annotate__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__builtins__",
    "__cached__",
    "__dataclass_params__",
    "__dict__",
    "__doc__",
    "__file__",
    "__firstlineno__",
    "__loader__",
    "__module__",
    "__name__",
    "__orig_bases__",
    "__package__",
    "__parameters__",
    "__path__",
    "__qualname__",
    "__slotnames__",
    "__spec__",
    "__static_attributes__",
    "__warningregistry__",
    "__weakref__",
    "_abc_impl",
}
#: What only the classes of compiled modules define.
_COMPILED = (
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.WrapperDescriptorType,
)
#: The flag of types that are not static data of a compiled module.
_HEAP_TYPE = 1 << 9


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
        # Members of modules that are being hashed or were; modules with the names read in them.
        self._members: set[tuple[int, str, CodeNames | None]] = set()
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
        elif (kind is np.ndarray or _is_scalar(value)) and not _holds_objects(value):
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
        elif (
            isinstance(value, (dict, types.MappingProxyType))
            and type(value).__module__ == "builtins"
        ):
            self._named("dict", value.items())
        elif isinstance(value, types.ModuleType):
            self._module(value, None)
        elif isinstance(value, type):
            with self._within(value.__qualname__):
                self._class(value)
        # Objects of subclasses have a state of their own.
        elif type(value) in (staticmethod, classmethod):
            self._several(type(value).__name__, (value.__func__, vars(value)))
        elif type(value) is property:
            self._several("property", (value.fget, value.fset, value.fdel))
        elif type(value) is functools.cached_property:
            self._put("cached property")
            self._attributes(value, {"lock"})
        elif type(value) is np.memmap:  # the numbers, wherever the file is
            self._put("memmap")
            self.add(np.array(value))
            self._attributes(value, {"_mmap", "filename", "offset", "mode"})
        elif type(value) is np.vectorize:  # without the functions that it has compiled
            self._put("vectorize")
            self._attributes(value, {"_ufunc"})
        elif type(value) is dataclasses.Field:  # without its annotation
            self._several(
                "field",
                (value.name, value.default, value.default_factory, value.init, value.metadata),
            )
        elif isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            self._put("descriptor", value.__name__.encode())
        elif _package_and_name(type(value)) in _SAME_AS_WRAPPED:
            self._put("wrapped", _full_name(type(value)))
            self.add(value.__wrapped__)
            own = _SAME_AS_WRAPPED[_package_and_name(type(value))]
            if own is not None:
                self._attributes(value, own)
        elif isinstance(value, types.BuiltinFunctionType) and is_installed(value, value.__name__):
            self._global(value, value.__name__)
        else:
            self._state(value)

    def _function(self, function: types.FunctionType) -> None:
        self._put("function")
        own = is_users(function.__globals__.get("__name__"))
        if own:
            self._code(function.__code__)
        else:
            self._put("installed", _full_name(function), function.__code__.co_name.encode())
            if is_importable(function):
                return
        self._attributes(function)
        self.add(function.__defaults__)
        self._named("keywords", _sorted((function.__kwdefaults__ or {}).items()))
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        names = CodeNames(function.__code__)
        for name, cell in cells:
            try:
                content = cell.cell_contents
            except ValueError:  # not yet assigned
                self._put("empty cell")
                continue
            self._variable(name, content, names)
        if own:
            self._globals(function, names)

    def _attributes(self, value: object, without: Iterable[str] = ()) -> None:
        """Add what was assigned to an object, which its class or code need not mention."""
        ignored = {*without, *_NOT_MEMBERS}
        there = getattr(value, "__dict__", {}).items()
        self._named("attributes", _sorted(item for item in there if item[0] not in ignored))

    def _globals(self, function: types.FunctionType, names: CodeNames) -> None:
        """Add the globals that a function reads, and the modules that it imports itself."""
        unknown = sorted((names.globals & _REACH_ALL) - function.__globals__.keys())
        if unknown:
            raise UnidentifiedError(
                self.message(f"calls {unknown[0]}, which reaches variables that it does not name")
            )
        for name in sorted(names.globals & function.__globals__.keys()):
            self._variable(name, function.__globals__[name], names)
        for name, level in sorted(names.imported):
            try:
                module = importlib.import_module(
                    "." * level + name, function.__globals__.get("__package__")
                )
            except ImportError:
                continue  # as it will in the function
            self._variable(name, module, names)

    def _variable(self, name: str, value: object, names: CodeNames | None) -> None:
        """Add a variable of a function: of a module the members that the function may read."""
        self.add(name)
        with self._within(name):
            if isinstance(value, types.ModuleType):
                self._module(value, None if names is None or name in names.bare else names)
            else:
                self.add(value)

    def _module(self, module: types.ModuleType, names: CodeNames | None) -> None:
        """Add the members of a module that are in `names`, or all."""
        self._put("module", module.__name__.encode())
        if not is_users(module.__name__):
            return
        there = vars(module).keys() - _NOT_MEMBERS
        for name in sorted(there if names is None else there & (names.all | {"__getattr__"})):
            value = vars(module)[name]
            key = (id(module), name, names if isinstance(value, types.ModuleType) else None)
            if key not in self._members:
                self._members.add(key)
                self._variable(name, value, names)

    def _class(self, value: type) -> None:
        self._put("class", _full_name(value))
        users = is_users(value.__module__)
        if not users and (not value.__flags__ & _HEAP_TYPE or is_importable(value)):
            return
        members = [item for item in vars(value).items() if item[0] not in _NOT_MEMBERS]
        if users and any(
            isinstance(member, _COMPILED) and member.__objclass__ is value for _, member in members
        ):
            raise UnidentifiedError(self.message("is compiled and not of an installed package"))
        self._several("bases", (type(value), *value.__bases__))
        self._named("members", _sorted(members))

    def _state(self, value: Any) -> None:  # noqa: ANN401
        """Add the class and the state that pickle would store."""
        kind = type(value)
        # A partial stores its attributes only after they were read once.
        getattr(value, "__dict__", None)
        try:
            reduce = copyreg.dispatch_table.get(kind)
            reduced = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception:
            name = _full_name(kind).decode()
            raise UnidentifiedError(
                self.message(f"is an object of {name}, whose state cannot be read")
            ) from None
        if isinstance(reduced, str):
            self._global(value, reduced)
            return
        self._put("object")
        self.add(kind)
        function, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        self.add(function)
        self.add(arguments)
        self.add(state)
        self._several("items", items or ())
        self._named("pairs", pairs or ())
        if reduce is None and _may_omit_attributes(kind):
            self._attributes(value)
            names = copyreg._slotnames(kind)  # type: ignore[attr-defined]
            self._named("slots", ((name, getattr(value, name, None)) for name in names))

    def _global(self, value: object, name: str) -> None:
        """Add an object that pickle would store as a name, if it is of an installed package."""
        self._put("global", _full_name(type(value)), name.encode())
        module = getattr(value, "__module__", None)
        # NumPy's functions do not know their module.
        modules = list(sys.modules) if module is None else [module]
        found = [each for each in modules if not is_users(each) and member(each, name) is value]
        if found:
            self._put("module", min(found, key=lambda each: (len(each), each)).encode())
        elif type(value).__module__ != "typing":  # variables of types compute nothing
            kind = _full_name(type(value)).decode()
            raise UnidentifiedError(
                self.message(f"is an object of {kind} outside installed packages")
            )

    def _code(self, code: types.CodeType) -> None:
        self._put("code", code.co_code)
        self._put("handlers", getattr(code, "co_exceptiontable", b""))
        for part in (code.co_consts, code.co_names, code.co_varnames, code.co_freevars):
            self.add(part)
        self.add(code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        self.add((*counts, code.co_flags))


def _sorted(items: Iterable[tuple[str, object]]) -> list[tuple[str, object]]:
    """Return pairs of a name and a value, ordered by name."""
    return sorted(items, key=lambda item: item[0])


def _is_scalar(value: object) -> bool:
    """Whether a value is a number of NumPy, and not of a subclass with attributes."""
    return isinstance(value, np.generic) and type(value).__module__ == "numpy"


def _package_and_name(kind: type) -> tuple[str, str]:
    return kind.__module__.partition(".")[0], kind.__name__


def _may_omit_attributes(kind: type) -> bool:
    """Whether a class inherits a `__reduce__` that does not know what a subclass adds."""
    methods: list[object] = [kind.__reduce_ex__, kind.__reduce__]
    if methods == [object.__reduce_ex__, object.__reduce__]:
        return False
    written = [method for method in methods if isinstance(method, types.FunctionType)]
    if any(is_users(method.__globals__.get("__name__")) for method in written):
        return False
    return not written or is_users(kind.__module__)


def _full_name(value: Any) -> bytes:  # noqa: ANN401
    return f"{value.__module__}.{value.__qualname__}".encode()


def _holds_objects(value: object) -> bool:
    return bool(np.asarray(value).dtype.hasobject)
