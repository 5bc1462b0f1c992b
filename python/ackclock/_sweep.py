"""Sweeps: grids of scenarios on many processors or machines."""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from . import _native
from ._cells import Cell, Cells, address, complete, summary
from ._run import names
from ._ray import ray_executor
from ._scenario import Scenario, scenario_of
from ._source import Registered, described, mechanisms_in


@dataclass(frozen=True)
class Grid:
    """Scenarios: one for each combination of the values that some keys take, each run with each of
    the strategies and each of the seeds."""

    scenario: Scenario | str | os.PathLike[str] | Mapping[str, Any]
    #: Empty: each flow uses the strategy that the scenario names.
    strategies: str | Sequence[str] = ()
    #: By path such as `link[1].rate`, the values.
    set: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])
    #: Runs of each strategy at each point, and the seed of the first one. Otherwise the scenario's.
    runs: int | None = None
    seed: int | None = None
    #: How many runs make a cell: what a worker does at a time, and what is lost if it is killed.
    runs_per_cell: int = 10

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Grid:
        """From a TOML file with these names as its keys. `scenario` is a table, or a path beside
        the file."""
        path = Path(path)
        try:
            keys = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise _native.Error(f"{path}: {error}") from None
        known = list(cls.__dataclass_fields__)
        for key in keys:
            if key not in known:
                raise _native.Error(f"{path}: {key}: there is no such key; there are {known}")
        if "scenario" not in keys:
            raise _native.Error(f"{path}: the key `scenario` is missing")
        if isinstance(keys["scenario"], str):
            keys["scenario"] = path.parent / keys["scenario"]
        return cls(**keys)

    def cells(self) -> list[Cell]:
        """The cells, point by point."""
        base = scenario_of(self.scenario)
        table = base.to_dict()
        runs = table.get("runs", 1) if self.runs is None else self.runs
        seed = table.get("seed", 1) if self.seed is None else self.seed
        for name, number in [("runs", runs), ("runs_per_cell", self.runs_per_cell)]:
            if number < 1:
                raise _native.Error(f"{name}: {number} is below 1")
        for key, values in self.set.items():
            if isinstance(values, str) or len(values) == 0:
                raise _native.Error(f"{key}: a list of values is expected, and not {values!r}")
        strategies: list[str | None] = [*names(self.strategies)] or [None]
        for strategy in strategies:
            if strategy is not None:
                _native.check_strategy(strategy)
        keys = {key: _column(key) for key in self.set}
        if len({*keys.values()}) < len(keys):
            raise _native.Error(f"the paths {list(keys)} are too much alike")
        made: list[Cell] = []
        for values in itertools.product(*self.set.values()):
            scenario = base
            for key, value in zip(self.set, values, strict=True):
                scenario = scenario.set(key, value)
            at = "".join(
                f"{keys[key]}={quote(str(value), safe='')}/"
                for key, value in zip(self.set, values, strict=True)
            )
            for strategy in strategies:
                mechanisms = mechanisms_in(scenario.text, strategy)
                sources = [described(mechanism) for mechanism in mechanisms]
                for first in range(seed, seed + runs, self.runs_per_cell):
                    count = min(self.runs_per_cell, seed + runs - first)
                    work = _Work(scenario.text, strategy, first, count, mechanisms)
                    name = address(scenario.text, strategy, first, count, sources)
                    file = f"{at}cell-{name}.parquet"
                    made.append(Cell(name, _run, work, (file,), work.by_hand))
        return made


@dataclass(frozen=True)
class _Work:
    """What a worker has to know of a cell."""

    text: str
    strategy: str | None
    seed: int
    runs: int
    #: Those in Python, which a worker has to learn of.
    mechanisms: list[Registered]

    def by_hand(self, out: Path) -> str:
        file = out / "failed" / f"{address(self.text)}.toml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(self.text, encoding="utf-8")
        words = ["ackclock", "run", str(file), f"--seed={self.seed}", f"--runs={self.runs}"]
        if self.strategy is not None:
            words.append(f"--strategy={self.strategy}")
        return shlex.join(words)


def _column(path: str) -> str:
    """What a column is called that holds the values of a key: `link_1_rate` for `link[1].rate`."""
    return re.sub(r"\W+", "_", path).strip("_")


def _run(work: _Work) -> list[bytes]:
    """Runs a cell on a worker."""
    from .mechanism import register

    for name, mechanism, needs_sack, without_sack in work.mechanisms:
        register(name, mechanism, needs_sack=needs_sack, without_sack=without_sack)
    strategies = [] if work.strategy is None else [work.strategy]
    result = _native.run(work.text, "scenario", strategies, work.runs, work.seed, [], 1)
    return [result.flows.to_parquet()]


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
    that was killed goes on where it was. `progress` shows a bar; otherwise on a terminal.
    """
    made = (grid if isinstance(grid, Grid) else Grid.read(grid)).cells()
    return complete(made, Path(out), executor, jobs, progress)


def main(arguments: Sequence[str]) -> int:
    """`ackclock sweep`."""
    parser = argparse.ArgumentParser(
        prog="ackclock sweep", description="Runs a grid of scenarios into Parquet files."
    )
    parser.add_argument("grid", metavar="SWEEP.toml", help="the file of the grid")
    parser.add_argument("--out", metavar="DIR", default="results", help="where results go")
    cluster = parser.add_mutually_exclusive_group()
    cluster.add_argument("--dask", metavar="ADDRESS", help="the scheduler of a Dask cluster")
    cluster.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster, such as ray://HOST:10001")
    cluster.add_argument("--jobs", metavar="N", type=int, help="how many processes without either")
    options = parser.parse_args(arguments)
    try:
        with _cluster(options.dask, options.ray) as executor:
            result = sweep(options.grid, options.out, executor, jobs=options.jobs)
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
