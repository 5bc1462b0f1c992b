"""Archives of captures, explained on many processors or machines."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import urllib.request
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from . import _native
from ._cells import Cell, Cells, Done, address, complete, partition
from ._run import processes

#: The tables of a capture; the last one says that it is done.
TABLES = ("retransmissions", "timeouts", "stalls", "connections")


@dataclass(frozen=True)
class _Capture:
    """What a worker has to know of a capture."""

    name: str
    filter: str | None

    def by_hand(self, _out: Path) -> str:
        words = ["ackclock", "explain", self.name]
        return shlex.join(words if self.filter is None else [*words, "--filter", self.filter])


def explain_archive(
    captures: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str] = "explained",
    executor: Executor | None = None,
    *,
    filter: str | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Cells:
    """Explains a folder of captures, or captures by path and URL, into Parquet files.

    The tables `connections`, `retransmissions`, `timeouts` and `stalls` are folders, with a
    partition `file=` for each capture. Connections are numbered anew in each of them. `executor`,
    `jobs` and `progress` are as for `sweep`; workers read the paths themselves. A file that has not
    changed, and a URL, is explained once, also if it is given twice: under its first name.
    """
    if isinstance(captures, (str, os.PathLike)):
        captures = [captures]
    found: list[str] = []
    for path in captures:
        capture = os.fspath(path)
        found += [capture] if _is_url(capture) else _native.captures(capture)
    made: list[Cell] = []
    before: set[str] = set()
    for name in found:
        stat = None if _is_url(name) else os.stat(name)
        same = name if stat is None else os.path.realpath(name)
        if same in before:
            continue
        before.add(same)
        state = stat and [stat.st_size, stat.st_mtime_ns]
        one = address(name, state, filter)
        folder = partition("file", name, file=name)
        files = tuple(f"{table}/{folder}/{one}.parquet" for table in TABLES)
        work = _Capture(name, filter)
        made.append(Cell(one, _explain, work, files, work.by_hand))
    return complete(made, Path(out), executor, processes(jobs), progress)


def _is_url(name: str) -> bool:
    return urlsplit(name).scheme in ("http", "https", "ftp", "file")


def _explain(work: _Capture) -> Done:
    """Explains a capture on a worker."""
    with tempfile.TemporaryDirectory() as folder:
        path = work.name
        if _is_url(path):
            path = os.path.join(folder, os.path.basename(urlsplit(path).path) or "capture")
            with urllib.request.urlopen(work.name) as source, open(path, "wb") as copy:
                shutil.copyfileobj(source, copy)
        explained = _native.explain([path], work.filter, 1, work.name)
    explained.raise_problems()
    return [getattr(explained, table).to_parquet() for table in TABLES], []
