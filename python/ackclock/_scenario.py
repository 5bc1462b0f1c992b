"""Scenarios."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, cast

from . import _native


class Scenario:
    """A network, what goes through it, and for how long.

    It is a scenario file (the guide's page of scenario keys has them all), from its text or from
    a dictionary of the same shape. It never changes: `set`, `link` and `flow` return another one.
    """

    __slots__ = ("_lines", "_path", "file", "text")

    #: What errors name.
    file: str
    #: The scenario as TOML.
    text: str
    #: Whether the text is the user's own, so that its lines mean something.
    _lines: bool
    #: Where its file is, if it has one. The working directory may change.
    _path: str | None

    def __init__(
        self, source: str | Mapping[str, Any], *, file: str = "scenario", check: bool = True
    ) -> None:
        """From the text of a scenario file, or from a dictionary. With `check=False` what is wrong
        shows when it runs."""
        if isinstance(source, os.PathLike) or (isinstance(source, str) and "=" not in source):
            raise TypeError(f"{source!r} is not the text of a scenario; Scenario.read reads a file")
        text = source if isinstance(source, str) else _native.to_toml(dict(source))
        self._hold(text, file, text is source, None)
        if check:
            _native.check(self.text, self.file, self._lines)

    def _hold(self, text: str, file: str, lines: bool, path: str | None) -> None:
        put = super().__setattr__
        put("text", text)
        put("file", file)
        put("_lines", lines)
        put("_path", path)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{name}: a Scenario never changes; its `set` returns another one")

    def __delattr__(self, name: str) -> NoReturn:
        self.__setattr__(name, None)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Scenario:
        """From a file."""
        text, file = read_text(path), os.fspath(path)
        _native.check(text, file, True)
        return _restored(text, file, True, os.path.abspath(file))

    @property
    def _place(self) -> str:
        """What traces are beside: its file, by its whole path once the name does not lead there."""
        path = self._path
        # A worker on another machine may have the same files below another folder.
        moved = path is not None and os.path.abspath(self.file) != path and os.path.exists(path)
        return path if moved and path is not None else self.file

    def _traces(self) -> list[tuple[int, str]]:
        """The files of its traces, each with the number of its link."""
        # Most have none, and a key may be written with escapes.
        if "trace" not in self.text and "\\" not in self.text:
            return []
        links: Any = self.to_dict().get("link", ())
        folder = os.path.dirname(os.path.abspath(self._place))
        return [
            (i, os.path.join(folder, link["trace"]))
            for i, link in enumerate(links)
            if isinstance(link.get("trace"), str)
        ]

    @classmethod
    def new(cls, duration: str, **keys: Any) -> Scenario:
        """One that lasts so long, with nothing in it yet: `link` and `flow` add to it."""
        return cls({"duration": duration, **keys}, check=False)

    def to_dict(self) -> dict[str, Any]:
        """The scenario as a dictionary."""
        return _native.from_toml(self.text, self.file)

    def set(self, path: str, value: Any) -> Scenario:
        """The same with another value at a path such as `link[1].delay` or `flow[*].strategy`."""
        text = _native.set_key(self.text, self.file, path, value)
        _native.check(text, self._place, False)
        return _restored(text, self.file, False, self._path)

    def link(self, from_: str, to: str, **keys: Any) -> Scenario:
        """The same with one more link."""
        return self._with("link", {"from": from_, "to": to, **keys})

    def flow(self, from_: str, to: str, **keys: Any) -> Scenario:
        """The same with one more connection."""
        return self._with("flow", {"from": from_, "to": to, **keys})

    def _with(self, array: str, entry: dict[str, Any]) -> Scenario:
        table = self.to_dict()
        table.setdefault(array, []).append(entry)
        return _restored(_native.to_toml(table), self.file, False, self._path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        # The text may differ where the dictionaries are the same.
        return hash(_hashable(self.to_dict()))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        try:
            name = self.to_dict().get("name") or self.file
        except _native.Error:
            # It was not checked.
            name = self.file
        return f"<ackclock.Scenario {name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.text, self.file, self._lines, self._path)


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        items = cast(dict[str, Any], value).items()
        return frozenset((key, _hashable(item)) for key, item in items)
    if isinstance(value, list):
        return tuple(map(_hashable, cast(list[Any], value)))
    return value


def _restored(text: str, file: str, lines: bool, path: str | None) -> Scenario:
    """A scenario that was checked before."""
    scenario = Scenario.__new__(Scenario)
    scenario._hold(text, file, lines, path)
    return scenario


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file of TOML."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        text = f"byte {error.start} is not UTF-8: this is no file of TOML"
        raise _native.error("", text, os.fspath(path)) from None


def scenario_of(source: Scenario | str | os.PathLike[str] | Mapping[str, Any]) -> Scenario:
    """A scenario, the path of its file, or its dictionary."""
    if isinstance(source, Scenario):
        return source
    if isinstance(source, Mapping):
        return Scenario(source)
    return Scenario.read(source)
