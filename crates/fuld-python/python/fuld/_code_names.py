"""The names in the code of a function: the variables, attributes and modules that it reads."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator

_READ_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_READ_ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}


class CodeNames:
    """The names in a function's code and in the functions and classes defined in it."""

    def __init__(self, code: types.CodeType) -> None:
        #: All names of variables and attributes.
        self.all: set[str] = set()
        self.globals: set[str] = set()
        #: Variables that are used other than by reading an attribute that the code names.
        self.bare: set[str] = set()
        #: Imported modules and their relative level.
        self.imported: set[tuple[str, int]] = set()
        for each in _nested(code):
            self.all.update(each.co_names)
            self._read([i for i in dis.get_instructions(each) if i.opname != "EXTENDED_ARG"])

    def _read(self, instructions: list[dis.Instruction]) -> None:
        aliases: dict[str, str] = {}
        for index, instruction in enumerate(instructions):
            kind, name = instruction.opname, instruction.argval
            if kind in _READ_GLOBAL:
                self.globals.add(name)
            if kind.startswith("LOAD_"):
                # Some instructions load two variables.
                loaded = list(_strings(name))
                if instructions[index + 1].opname in _READ_ATTRIBUTE:
                    loaded = loaded[:-1]
                if kind != "LOAD_CONST":
                    self.bare.update(loaded)
            elif kind in ("IMPORT_NAME", "IMPORT_FROM"):
                following = instructions[index + 1]
                if following.opname.startswith("STORE_"):
                    aliases.update((alias, name) for alias in _strings(following.argval))
                if kind == "IMPORT_NAME":
                    # The level and the names are loaded before.
                    level = instructions[index - 2].argval
                    self.imported.add((name, level if isinstance(level, int) else 0))
        self.bare.update([name for alias, name in aliases.items() if alias in self.bare])


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield code and that of the functions and classes defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


def _strings(value: object) -> Iterator[str]:
    """Yield the strings of a value that is one, or a tuple of values."""
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, str):
            yield each
