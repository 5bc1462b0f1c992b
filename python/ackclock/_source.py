"""The source of mechanisms in Python, which names cells."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterable, Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, cast

from . import _native
from ._axes import AXES

#: As the native module has it: name, class, `needs_sack`, `without_sack`.
Registered = tuple[str, type[Any], bool, str | None]


def mechanisms_in(*texts: str | None) -> list[Registered]:
    """The registered mechanisms whose names occur in scenarios or strategies, and those that they
    name in turn."""
    words = {word for text in texts for word in re.findall(r"[\w.-]+", text or "")}
    registered = _native.registered()
    while True:
        found = [one for one in registered if one[0] in words]
        more = {without for *_, without in found if without is not None} - words
        if not more:
            return found
        words |= more


def described(mechanism: Registered) -> list[Any]:
    """What the behaviour of a mechanism depends on: its options, its source and that of the classes
    between it and its axis."""
    name, cls, needs_sack, without_sack = mechanism
    of_axes = {base for axis in AXES for base in axis.__mro__}
    own = [base for base in cls.__mro__ if base not in of_axes]
    return [name, needs_sack, without_sack, *map(_source, own)]


def _source(cls: type[Any]) -> Any:
    """The text of a class, or where there is none all that it consists of.

    The text is found by the methods: a notebook keeps that of its cells, each under a file name of
    its own, which a class does not know; and a file may have several classes of one name."""
    for code in _codes(vars(cls).values()):
        linecache.checkcache(code.co_filename)
        lines = linecache.getlines(code.co_filename)
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError):
            continue
        within = [
            (min([node.lineno, *(one.lineno for one in node.decorator_list)]), node.end_lineno or 0)
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and node.name == cls.__name__
        ]
        around = [(first, last) for first, last in within if first <= code.co_firstlineno <= last]
        if around:
            first, last = max(around)
            return "".join(lines[first - 1 : last])
    told = {key: value for key, value in vars(cls).items() if key not in _NO_PARTS}
    return [cls.__qualname__, _told(dict(sorted(told.items())), [])]


def _codes(values: Iterable[Any]) -> Iterator[CodeType]:
    for value in values:
        inner = getattr(value, "__func__", getattr(value, "fget", value))
        if isinstance(inner, FunctionType):
            yield inner.__code__


#: What every class has, what says only where it stands, and what has no order.
_NO_PARTS = {"__dict__", "__weakref__", "__module__", "__firstlineno__", "__static_attributes__"}


def _told(value: Any, within: list[Any]) -> Any:
    """A value for JSON, without the names of files, lines and addresses in memory. `within` are
    the values that it is a part of."""
    if any(value is one for one in within):
        return "itself"
    inner = [*within, value]

    def each(values: Iterable[Any]) -> list[Any]:
        return [_told(one, inner) for one in values]

    if isinstance(value, CodeType):
        names = [value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars]
        counts = [value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount]
        code = [value.co_code.hex(), value.co_exceptiontable.hex(), value.co_flags]
        return [code, counts, names, each(value.co_consts)]
    if isinstance(value, FunctionType):
        filled = (cell for cell in value.__closure__ or () if cell != CellType())
        cells = [cell.cell_contents for cell in filled]
        return each([value.__code__, value.__defaults__, value.__kwdefaults__, cells])
    if isinstance(value, (staticmethod, classmethod)):
        method = cast(Any, value)
        return [type(method).__name__, *each([method.__func__])]
    if isinstance(value, property):
        return each([value.fget, value.fset, value.fdel])
    if isinstance(value, (type, ModuleType)):
        return value.__name__
    if isinstance(value, (tuple, list)):
        return each(cast(Any, value))
    if isinstance(value, dict):
        return each(cast(Any, value).items())
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, each(cast(Any, value))))
    if type(value).__repr__ is object.__repr__:
        return [type(value).__qualname__, *each([getattr(value, "__dict__", None)])]
    return [type(value).__qualname__, re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))]
