"""The source of mechanisms in Python, which names cells."""

from __future__ import annotations

import inspect
import marshal
import re
from types import FunctionType
from typing import Any

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


def _source(cls: type[Any]) -> str:
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        # Typed at a prompt: its code says the same.
        methods = [value for value in vars(cls).values() if isinstance(value, FunctionType)]
        return marshal.dumps([method.__code__ for method in methods]).hex()
