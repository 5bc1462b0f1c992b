"""Work in cells: each is done once, whatever is killed, on any executor.

A cell has an address, which is a hash of all that its result depends on. Its result is a few files;
the last one of them says that it is done. Files appear whole or not at all.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import multiprocessing
import os
import queue
import signal
import socket
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from . import _native

#: The most cells that wait in an executor, so that it holds no more of them than it needs.
WINDOW = 1000
#: The most bytes that file systems have for the name of a folder.
LONGEST = 255
#: How often a cell may be lost with the worker that did it until that counts as its failure.
LOSSES = 20


#: What a worker returns: the contents of the cell's files, and what did not happen although it was
#: asked for.
Done = tuple[list[bytes], list[str]]


@dataclass(frozen=True)
class Cell:
    """A piece of work."""

    #: Names the result.
    address: str
    #: What a worker does. It is told `work`.
    do: Callable[[Any], Done]
    work: Any
    #: Below the folder of results. The cell is done once the last one is there.
    files: tuple[str, ...]
    #: How to do it by hand.
    by_hand: Callable[[Path], str]


@dataclass(frozen=True)
class Failure:
    """A cell that failed."""

    #: What went wrong.
    error: str
    #: The command that shows it.
    command: str


@dataclass(repr=False)
class Cells:
    """What there is of a set of cells. Printed, it is how many there are."""

    #: The files of all cells that are done, in the order of the cells.
    files: list[str]
    #: How many cells were there before.
    before: int = 0
    #: How many were done now.
    done: int = 0
    #: Those that failed.
    failures: list[Failure] = field(default_factory=list[Failure])
    #: What did not happen although it was asked for, one sentence each, in all cells that are done.
    unmet: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        cells = self.before + self.done
        parts = [f"{cells} cell{'' if cells == 1 else 's'}, {self.done} of them new"]
        if self.failures:
            parts.append(f"{len(self.failures)} failed")
        if self.unmet:
            parts.append(f"{len(self.unmet)} not as asked for")
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"<ackclock.Cells: {self}>"


_build = ""


def build() -> str:
    """Names what this package does: a hash of its native module and of its Python files, taken
    once. A version is not enough: two builds of it may do different things."""
    global _build
    _build = _build or _hash_of(Path(__file__).parent)
    return _build


def _hash_of(folder: Path) -> str:
    together = hashlib.sha256()
    for file in [Path(_native.__file__), *sorted(folder.glob("*.py"))]:
        together.update(hashlib.sha256(file.read_bytes()).digest())
    return together.hexdigest()


def address(*of: Any) -> str:
    """The address of what depends on these values and on the build of this package."""
    text = json.dumps([build(), *of], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def content(file: str) -> str | None:
    """A hash of what is in a file; none if it cannot be read, which is said where it is used."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return None


def partition(column: str, value: Any, key: str = "", file: str | None = None) -> str:
    """The folder of what has this value. Errors name the key and the file."""
    name = f"{column}={quote(str(value), safe='')}"
    if len(name) > LONGEST:
        told = f"it is too long to name a folder: {len(name)} bytes, of at most {LONGEST}"
        raise _native.error(key, told, file)
    return name


def attempt(do: Callable[[Any], Done], work: Any, expected: str) -> Done | str:
    """Does the work of a cell on a worker, whose build has to be the expected one. An error of the
    cell is its traceback, so that errors of the executor remain apart."""
    try:
        if build() != expected:
            where = f"{Path(__file__).parent} on {socket.gethostname()}"
            raise _native.error("", f"the worker has another build of ackclock: {where}")
        return do(work)
    except Exception:
        return traceback.format_exc()


def complete(
    cells: list[Cell], out: Path, executor: Executor | None, jobs: int | None, show: bool | None
) -> Cells:
    """Does the cells that are not there yet."""
    out.mkdir(parents=True, exist_ok=True)
    with _alone(out):
        for left in out.rglob(".*.part"):
            left.unlink()
        missing = [cell for cell in cells if not (out / cell.files[-1]).exists()]
        result = Cells(files=[], before=len(cells) - len(missing))
        bar = _Bar(len(cells), result, show)
        if missing:
            # Closed at once if this is interrupted.
            with closing(_answers(missing, executor, jobs)) as answers:
                for cell, answer in answers:
                    if isinstance(answer, str):
                        result.failures.append(Failure(answer.strip(), cell.by_hand(out)))
                    else:
                        contents, unmet = answer
                        if unmet:
                            _write(_unmet_file(out, cell), "\n".join(unmet).encode())
                        for name, content in zip(cell.files, contents, strict=True):
                            _write(out / name, content)
                        result.done += 1
                    bar.step()
        bar.close()
        done = [cell for cell in cells if (out / cell.files[-1]).exists()]
        result.files = [str(out / name) for cell in done for name in cell.files]
        if (out / "unmet").exists():
            for file in (_unmet_file(out, cell) for cell in done):
                if file.exists():
                    result.unmet += file.read_text(encoding="utf-8").splitlines()
    return result


def _unmet_file(out: Path, cell: Cell) -> Path:
    return out / "unmet" / f"{cell.address}.txt"


def _answers(
    cells: list[Cell], executor: Executor | None, jobs: int | None
) -> Generator[tuple[Cell, Done | str]]:
    """Each cell with what its worker returned, or with what went wrong."""
    waiting = deque((cell, 0) for cell in cells)
    under_way: dict[Future[Any], tuple[Cell, int]] = {}
    over: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
    own = executor is None
    pool = executor or _processes(jobs)
    try:
        while waiting or under_way:
            try:
                while waiting and len(under_way) < WINDOW:
                    cell, lost = waiting[0]
                    future = pool.submit(attempt, cell.do, cell.work, build())
                    waiting.popleft()
                    under_way[future] = (cell, lost)
                    future.add_done_callback(over.put)
            except BrokenExecutor:
                if not own:
                    raise
                if not under_way:
                    pool.shutdown(wait=False, cancel_futures=True)
                    pool = _processes(jobs)
                    continue
            future = over.get()
            cell, lost = under_way.pop(future)
            error = future.exception()
            if error is None:
                yield cell, future.result()
            elif isinstance(error, BrokenExecutor) and not own:
                raise error
            elif lost == LOSSES:
                yield cell, f"lost {LOSSES} times with its worker: {error!r}"
            else:
                waiting.append((cell, lost + 1))
    finally:
        if own:
            # Nobody waits for what is under way; the interpreter would, at its end. A pool without
            # workers ends what waits in it, and must find nothing cancelled.
            for worker in _workers(pool) if under_way else []:
                worker.terminate()
            pool.shutdown(wait=False)
        else:
            for future in under_way:
                future.cancel()


def _processes(jobs: int | None) -> Executor:
    spawn = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs or os.cpu_count(), spawn, _ignore_interrupts)


def _workers(pool: Executor) -> list[Any]:
    # From Python 3.14 on there is `terminate_workers` for that.
    return [*(getattr(pool, "_processes", None) or {}).values()]


def _ignore_interrupts() -> None:
    """Ctrl-C reaches all processes of a terminal; the one that shares the work out heeds it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _alone(out: Path) -> Generator[None]:
    """Keeps others from the folder."""
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            told = "another process writes its results there"
            raise _native.error("", told, str(out)) from None
        yield


def _write(path: Path, content: bytes) -> None:
    """Writes a file that appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)


class _Bar:
    """How far it is, on a terminal."""

    def __init__(self, cells: int, result: Cells, show: bool | None) -> None:
        self.cells, self.result = cells, result
        self.shown = sys.stderr.isatty() if show is None else show
        self.began = self.last = time.monotonic()

    def step(self) -> None:
        now = time.monotonic()
        if not self.shown or now - self.last < 0.2:
            return
        self.last = now
        worked = self.result.done + len(self.result.failures)
        rate = worked / (now - self.began)
        left = (self.cells - self.result.before - worked) / rate
        failed = f", {len(self.result.failures)} failed" if self.result.failures else ""
        line = f"{self.result.before + worked} of {self.cells} cells{failed}, {rate:.1f}/s"
        print(f"\r\033[K{line}, {_span(left)} left", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _span(seconds: float) -> str:
    minutes, s = divmod(round(seconds), 60)
    h, m = divmod(minutes, 60)
    return f"{h}:{m:02}:{s:02}"


def summary(result: Cells, out: str) -> str:
    """What there is, in words."""
    cells = result.before + result.done
    lines = [f"{cells} cell{'' if cells == 1 else 's'} in {out}, {result.done} of them new"]
    for failure in result.failures:
        lines.append(f"failed: {failure.error.splitlines()[-1]}\n  {failure.command}")
    lines += [f"warning: {sentence}" for sentence in result.unmet]
    return "\n".join(lines)
