"""Sweeps: grids of scenarios on many processors or machines."""

from __future__ import annotations

import argparse
import functools
import os
import re
import shlex
import sys
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence, Sized
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _native
from ._cells import Cell, Cells, Done, address, complete, content, partition, summary
from ._ray import ray_executor
from ._run import MOST_RUNS, MOST_SEED, UnmetWarning, names, number, once, processes, some
from ._scenario import Scenario, read_text, scenario_of
from ._source import Registered, described, mechanisms_in

#: What the command says of it.
ABOUT = "Runs a grid of scenarios into Parquet files."


@dataclass(frozen=True)
class Grid:
    """Scenarios: one for each combination of the values that some keys take, each run with each of
    the strategies and each of the seeds."""

    scenario: Scenario | str | os.PathLike[str] | Mapping[str, Any]
    #: Left out: each flow uses the strategy that the scenario names.
    strategies: str | Sequence[str] | None = None
    #: By path such as `link[1].rate`, the values.
    set: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])
    #: Runs of each strategy at each point, and the seed of the first one. Otherwise the scenario's.
    runs: int | None = None
    seed: int | None = None
    #: How many runs make a cell: what a worker does at a time, and what is lost if it is killed.
    runs_per_cell: int = 10
    #: The file of the grid and its text, which errors name.
    _read: tuple[str, str] | None = field(default=None, repr=False, compare=False, kw_only=True)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Grid:
        """From a TOML file with these names as its keys. `scenario` is a table, or a path beside
        the file."""
        path, text = Path(path), read_text(path)
        keys = _native.from_toml(text, str(path))
        known = [key for key in cls.__dataclass_fields__ if key != "_read"]
        for key in keys:
            if key not in known:
                told = f"there is no such key; there are {', '.join(known)}"
                raise _native.error(key, told, str(path), text)
        if "scenario" not in keys:
            raise _native.error("scenario", "this key is missing", str(path))
        if not isinstance(keys["scenario"], (str, dict)):
            raise _native.error("scenario", "a file or a table is expected", str(path), text)
        if isinstance(keys["scenario"], str):
            keys["scenario"] = path.parent / keys["scenario"]
        return cls(**keys, _read=(str(path), text))

    def _wrong(self, key: str, message: str) -> _native.Error:
        return _native.error(key, message, *(self._read or ()))

    @contextmanager
    def _at(self, key: str | None = None, within: str = "") -> Generator[None]:
        """What is wrong with a key is said of the grid's file, if there is one."""
        try:
            yield
        except _native.Error as error:
            if self._read is None:
                raise
            own = error.key or ""
            message = str(error).removeprefix(f"{error.file}: ").removeprefix(f"{own}: ")
            at = key or within + own
            if not at.endswith(own):
                message = f"{own}: {message}"
            raise self._wrong(at, message) from None

    def cells(self) -> list[Cell]:
        """The cells, point by point."""
        base = self._base()
        table = base.to_dict()
        with self._at():
            runs = table.get("runs", 1) if self.runs is None else self.runs
            runs = number("runs", runs, 1, 10 * MOST_RUNS)
            seed = table.get("seed", 1) if self.seed is None else self.seed
            seed = number("seed", seed, 0, MOST_SEED - runs + 1)
            runs_per_cell = number("runs_per_cell", self.runs_per_cell, 1, MOST_RUNS)
        strategies = self._strategies()
        keys = self._columns()
        if not self.set:
            # What is set is checked as it is set.
            _native.check(base.text, base._place, False)
        made: list[Cell] = []
        # Many points have the same of both.
        content_of, source_of = functools.cache(content), functools.cache(described)
        for scenario, at in self._points(base, "", [*keys.items()]):
            traces = [content_of(file) for _, file in scenario._traces()]
            for strategy in strategies:
                mechanisms = mechanisms_in(scenario.text, strategy)
                sources = [source_of(mechanism) for mechanism in mechanisms]
                for first in range(seed, seed + runs, runs_per_cell):
                    count = min(runs_per_cell, seed + runs - first)
                    told = f"{at}{strategy or ''}, seed {first}"
                    work = _Work(scenario, told, strategy, first, count, mechanisms)
                    name = address(scenario.text, strategy, first, count, sources, traces)
                    file = f"{at}cell-{name}.parquet"
                    made.append(Cell(name, _run, work, (file,), work.by_hand))
        return made

    def _points(
        self, scenario: Scenario, at: str, keys: list[tuple[str, str]]
    ) -> Iterator[tuple[Scenario, str]]:
        """The scenario of each point, with its folder. A value is set once for all points below."""
        if not keys:
            yield scenario, at
            return
        (key, column), *others = keys
        for value in self.set[key]:
            with self._at(self._key(key)):
                changed = scenario.set(key, value)
                below = at + partition(column, value, key) + "/"
            yield from self._points(changed, below, others)

    def _base(self) -> Scenario:
        if self._read is None or not isinstance(self.scenario, Mapping):
            return scenario_of(self.scenario)
        with self._at(within="scenario."):
            return Scenario(self.scenario, file=self._read[0])

    def _strategies(self) -> list[str | None]:
        given: Any = self.strategies
        if given is None:
            return [None]
        strategies = names(given) if hasattr(given, "__iter__") else [given]
        if not all(isinstance(name, str) for name in strategies):
            raise self._wrong("strategies", f"{given!r} is no list of names")
        with self._at("strategies"):
            for strategy in some(strategies):
                _native.check_strategy(strategy)
            once("strategies", strategies)
        return [*strategies]

    def _columns(self) -> dict[str, str]:
        """The keys of `set`, with the names of their columns."""
        given: Any = self.set
        if not isinstance(given, Mapping):
            raise self._wrong("set", f"{given!r} is no table of lists")
        columns: dict[str, str] = {}
        for key, values in self.set.items():
            at, column = self._key(key), _column(key)
            listed: Any = values
            if isinstance(listed, (str, Mapping)) or not _some(listed):
                raise self._wrong(at, f"a list of values is expected, and not {listed!r}")
            with self._at():
                once(at, values)
            if key in ("seed", "runs"):
                raise self._wrong(at, f"it is no key to sweep; `{key}` of the grid says it")
            if self.strategies and re.fullmatch(r"flow\[.+\]\.strategy", key):
                raise self._wrong(at, "the strategies are those of `strategies`; give one of both")
            if column in _native.flow_columns():
                raise self._wrong(at, f"the results have a column `{column}` of their own")
            for other, name in columns.items():
                if name == column or _native.overlap(key, other):
                    raise self._wrong(at, f"it sets what `{other}` sets, or has its column")
            columns[key] = column
        return columns

    def _key(self, key: str) -> str:
        return key if self._read is None else f"set.{key}"


@dataclass(frozen=True)
class _Work:
    """What a worker has to know of a cell."""

    scenario: Scenario
    #: The point of the grid, the strategy and the first seed, in words.
    where: str
    strategy: str | None
    seed: int
    runs: int
    #: Those in Python, which a worker has to learn of.
    mechanisms: list[Registered]

    def by_hand(self, out: Path) -> str:
        text = self.scenario.text
        # The file is elsewhere, and its traces are not beside it.
        for link, trace in self.scenario._traces():
            text = _native.set_key(text, self.scenario.file, f"link[{link}].trace", trace)
        file = out / "failed" / f"{address(text)}.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        if self.mechanisms:
            return self._in_python(file)
        words = ["ackclock", "run", str(file), f"--seed={self.seed}", f"--runs={self.runs}"]
        if self.strategy is not None:
            words.append(f"--strategy={self.strategy}")
        return shlex.join(words)

    def _in_python(self, file: Path) -> str:
        """The command knows no mechanisms in Python."""
        classes = [f"{cls.__module__}.{cls.__qualname__}" for _, cls, *_ in self.mechanisms]
        call = f"ackclock.run({str(file)!r}, {self.strategy!r}, runs={self.runs}, seed={self.seed})"
        return f"{call}  # in Python, with {', '.join(classes)} registered"


def _column(path: str) -> str:
    """What a column is called that holds the values of a key: `link_1_rate` for `link[1].rate`."""
    return re.sub(r"\W+", "_", path).strip("_")


def _some(values: Any) -> bool:
    """Whether it is a list, or an array, with something in it."""
    return isinstance(values, Sized) and len(values) > 0


def _run(work: _Work) -> Done:
    """Runs a cell on a worker."""
    from .mechanism import register

    before = _native.registered()
    for one in work.mechanisms:
        if one not in before:
            name, mechanism, needs_sack, without_sack = one
            register(name, mechanism, needs_sack=needs_sack, without_sack=without_sack)
    strategies = [] if work.strategy is None else [work.strategy]
    text, file = work.scenario.text, work.scenario._place
    result = _native.run(text, file, False, strategies, work.runs, work.seed, [], 1)
    return [result.flows.to_parquet()], [f"{work.where}: {told}" for told in result.unmet]


def sweep(
    grid: Grid | str | os.PathLike[str],
    out: str | os.PathLike[str] = "results",
    executor: Executor | None = None,
    *,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Cells:
    """Runs a grid, or the file of one, into a folder of Parquet files with hive partitions.

    `executor` is any of `concurrent.futures`, such as that of a Dask client
    (`client.get_executor()`) or `ray_executor()`; without one there are `jobs` processes, one per
    processor unless given. Cells that are in the folder already are left alone, so that a sweep
    that was killed goes on where it was. `progress` shows a bar; otherwise on a terminal. What was
    asked for and did not happen is in `unmet` of what it returns, and an `UnmetWarning`.
    """
    result = _sweep(grid, out, executor, jobs, progress)
    if result.unmet:
        more = f" (and {len(result.unmet) - 1} more in `unmet`)" if len(result.unmet) > 1 else ""
        warnings.warn(result.unmet[0] + more, UnmetWarning, stacklevel=2)
    return result


def _sweep(
    grid: Grid | str | os.PathLike[str],
    out: str | os.PathLike[str],
    executor: Executor | None,
    jobs: int | None,
    progress: bool | None,
) -> Cells:
    if not isinstance(grid, (Grid, str, os.PathLike)):  # pyright: ignore
        raise _native.error("grid", "a `Grid` or the file of one is expected")
    made = (grid if isinstance(grid, Grid) else Grid.read(grid)).cells()
    return complete(made, Path(out), executor, processes(jobs), progress)


def main(arguments: Sequence[str]) -> int:
    """`ackclock sweep`."""
    parser = argparse.ArgumentParser(prog="ackclock sweep", description=ABOUT)
    parser.add_argument("grid", metavar="SWEEP.toml", help="the file of the grid")
    parser.add_argument("--out", metavar="DIR", default="results", help="where results go")
    cluster = parser.add_mutually_exclusive_group()
    cluster.add_argument("--dask", metavar="ADDRESS", help="the scheduler of a Dask cluster")
    cluster.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster, such as ray://HOST:10001")
    cluster.add_argument("--jobs", metavar="N", type=int, help="how many processes without either")
    options = parser.parse_args(arguments)
    try:
        with _cluster(options.dask, options.ray) as executor:
            result = _sweep(options.grid, options.out, executor, options.jobs, None)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        return 130
    except ModuleNotFoundError as error:
        print(f"error: there is no {error.name}: pip install {error.name}", file=sys.stderr)
        return 2
    except (_native.Error, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 3 if isinstance(error, OSError) else 2
    print(summary(result, options.out))
    return 1 if result.failures else 0


@contextmanager
def _cluster(dask: str | None, ray: str | None) -> Generator[Executor | None]:
    """The executor of a cluster, or none."""
    if dask is not None:
        import distributed

        # It has types for a part only.
        client: Any
        with distributed.Client(dask) as client:
            yield client.get_executor()
    elif ray is not None:
        with ray_executor(ray) as executor:
            yield executor
    else:
        yield None
