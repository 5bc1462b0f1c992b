"""Sweeps: each cell once, whatever is killed."""

import json
import linecache
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars
import pytest

import ackclock
from ackclock import _cells, _native
from ackclock._source import described
from ackclock._sweep import main
from ackclock.mechanism import Ack, Detect, Lost, State, register

# By hand: 10000 cells and 20 kills.
CELLS = int(os.environ.get("ACKCLOCK_CELLS", "400"))
KILLS = int(os.environ.get("ACKCLOCK_KILLS", "8"))

SCENARIO = """
duration = "20s"
[[link]]
from = "a"
to = "b"
rate = "2mbit"
delay = "20ms"
loss = [{ bernoulli = { p = 0.02 } }]
[[flow]]
from = "a"
to = "b"
source = { segments = 100 }
"""

PLAIN = ackclock.Scenario(SCENARIO)

GRID = ackclock.Grid(
    PLAIN,
    "reno,sack",
    {"link[0].delay": ["10ms", "40 ms"], "link[0].loss[0].bernoulli.p": [0.01, 0.03]},
    runs=5,
    runs_per_cell=2,
)


def threads() -> Executor:
    return ThreadPoolExecutor(2)


def rows(files: list[str]) -> list[dict[str, Any]]:
    return [row for file in files for row in polars.read_parquet(file).to_dicts()]


def test_rows_are_those_of_runs(tmp_path: Path) -> None:
    result = ackclock.sweep(GRID, tmp_path, threads())
    assert (result.before, result.done, result.failures) == (0, 24, [])
    expected: list[dict[str, Any]] = []
    for delay in ["10ms", "40 ms"]:
        for p in [0.01, 0.03]:
            scenario = ackclock.Scenario(SCENARIO)
            scenario = scenario.set("link[0].delay", delay)
            scenario = scenario.set("link[0].loss[0].bernoulli.p", p)
            expected += ackclock.run(scenario, "reno,sack", runs=5).flows.rows()
    assert rows(result.files) == expected
    # The values of the keys are columns, by the folders.
    table = polars.read_parquet(result.files, hive_partitioning=True)
    assert table["link_0_delay"].to_list() == ["10ms"] * 20 + ["40 ms"] * 20
    assert table["link_0_loss_0_bernoulli_p"].unique().sort().to_list() == [0.01, 0.03]
    assert [*tmp_path.rglob("*.part")] == []


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    first = ackclock.sweep(GRID, tmp_path, threads())
    gone = Path(first.files[3])
    gone.unlink()
    gone.with_name(f".{gone.name}.part").write_text("half a file")
    stamps = {file: os.stat(file).st_mtime_ns for file in first.files if file != str(gone)}
    again = ackclock.sweep(GRID, tmp_path, threads())
    assert (again.before, again.done, again.files) == (23, 1, first.files)
    assert {file: os.stat(file).st_mtime_ns for file in stamps} == stamps
    assert [*tmp_path.rglob("*.part")] == []


def test_a_cell_is_named_by_what_it_depends_on() -> None:
    def addresses(grid: ackclock.Grid) -> set[str]:
        return {cell.address for cell in grid.cells()}

    all_of_them = addresses(GRID)
    assert len(all_of_them) == 24 == len(GRID.cells())
    fewer = ackclock.Grid(GRID.scenario, "sack", GRID.set, runs=5, runs_per_cell=2)
    assert addresses(fewer) < all_of_them
    later = ackclock.Grid(GRID.scenario, "sack", GRID.set, runs=5, runs_per_cell=2, seed=2)
    assert not addresses(later) & all_of_them
    other = ackclock.Scenario(SCENARIO).set("link[0].rate", "3mbit")
    assert not addresses(ackclock.Grid(other, "sack", GRID.set, 5, None, 2)) & all_of_them


TRACED = """
duration = "1s"
[[link]]
from = "a"
to = "b"
delay = "5ms"
trace = "path.trace"
[[flow]]
from = "a"
to = "b"
"""


def test_a_cell_depends_on_what_is_in_the_traces(tmp_path: Path) -> None:
    file, trace = tmp_path / "traced.toml", tmp_path / "path.trace"
    file.write_text(TRACED)
    trace.write_text("1\n")
    grid = ackclock.Grid(file, "sack", {"link[0].delay": ["5ms", "20ms"]})
    out = tmp_path / "out"
    first = ackclock.sweep(grid, out, threads())
    assert (first.before, first.done) == (0, 2)
    assert ackclock.sweep(grid, out, threads()).before == 2
    trace.write_text("10\n")
    again = ackclock.sweep(grid, out, threads())
    assert (again.before, again.done) == (0, 2)
    assert {row["goodput_bps"] for row in rows(first.files)}.isdisjoint(
        {row["goodput_bps"] for row in rows(again.files)}
    )


def test_a_scenario_knows_where_its_traces_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "traced.toml").write_text(TRACED)
    (tmp_path / "path.trace").write_text("1\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    scenario = ackclock.Scenario.read("traced.toml")
    expected = ackclock.run(scenario.flow("b", "a"), "sack").flows.rows()
    monkeypatch.chdir(tmp_path / "elsewhere")
    later = scenario.set("duration", "1s").flow("b", "a")
    assert later.file == "traced.toml"
    (work,) = [cell.work for cell in ackclock.Grid(later, "sack").cells()]
    copied = pickle.loads(pickle.dumps(work.scenario))
    for at_hand in (later, copied):
        assert ackclock.run(at_hand, "sack").flows.rows() == expected
    # What failed is run by hand from another folder.
    work.by_hand(tmp_path / "elsewhere")
    (written,) = (tmp_path / "elsewhere" / "failed").iterdir()
    assert ackclock.run(written, "sack").flows.rows() == expected


def test_cells_are_told_in_a_line(tmp_path: Path) -> None:
    one = ackclock.sweep(ackclock.Grid(PLAIN, "sack"), tmp_path, threads())
    assert (str(one), repr(one)) == (
        "1 cell, 1 of them new",
        "<ackclock.Cells: 1 cell, 1 of them new>",
    )
    failed = ackclock.Cells(["f"], 2, 1, [ackclock.Failure("error", "command")])
    assert str(failed) == "3 cells, 1 of them new, 1 failed"
    assert _cells.summary(ackclock.Cells([], 1), "so") == "1 cell in so, 0 of them new"


def test_no_strategy_and_no_process_are_no_sweep(tmp_path: Path) -> None:
    with pytest.raises(ackclock.Error, match="^strategies: there is none; without"):
        ackclock.Grid(PLAIN, []).cells()
    with pytest.raises(ackclock.Error, match="^strategies: there is none; without"):
        ackclock.run(PLAIN, ())
    with pytest.raises(ackclock.Error, match="^jobs: 0 is not from 1 to 1024$"):
        ackclock.sweep(ackclock.Grid(PLAIN, "sack"), tmp_path, jobs=0)
    with pytest.raises(ackclock.Error, match="^jobs: 0 is not from 1 to 1024$"):
        ackclock.explain_archive([], tmp_path, jobs=0)


def test_builds_share_no_cells(tmp_path: Path) -> None:
    package = Path(ackclock.__file__).parent
    copy = tmp_path / "ackclock"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    script = "from ackclock import _cells; print(_cells.build(), _cells.address('a cell'))"

    def named() -> tuple[str, str]:
        called = [sys.executable, "-c", script]
        said = subprocess.run(called, check=True, capture_output=True, text=True, cwd=tmp_path)
        build, address = said.stdout.split()
        return build, address

    assert named() == (_cells.build(), _cells.address("a cell"))
    (native,) = copy.glob("_native*.so")
    # What the linker leaves behind the last section changes nothing but the bytes.
    with native.open("ab") as file:
        file.write(b"\0")
    other = named()
    assert other[0] != _cells.build() and other[1] != _cells.address("a cell")
    # A worker that has it refuses.
    before = ackclock.Grid(GRID.scenario, "sack").cells()
    answer = _cells.attempt(before[0].do, before[0].work, other[0])
    assert isinstance(answer, str) and "the worker has another build of ackclock" in answer


class Impatient(Detect):
    """The first duplicate is enough."""

    def on_ack(self, state: State, ack: Ack) -> Lost | None:
        return Lost.head() if ack.duplicate and state.dupacks == 1 else None


class MoreImpatient(Impatient):
    """It does the same, under another name."""


def test_mechanisms_in_python_name_cells() -> None:
    def addresses(scenario: ackclock.Scenario, strategy: str | Sequence[str] | None) -> set[str]:
        return {cell.address for cell in ackclock.Grid(scenario, strategy).cells()}

    scenario = ackclock.Scenario(SCENARIO)
    register("impatient", Impatient)
    # One in the scenario counts as well as one in the strategy.
    own = scenario.set("flow[0].strategy", "reno+impatient")

    def three() -> list[set[str]]:
        named = [(scenario, "reno+impatient"), (own, None), (scenario, "reno")]
        return [addresses(*grid) for grid in named]

    before = three()
    ((cell,),) = [ackclock.Grid(own).cells()]
    assert [name for name, *_ in cell.work.mechanisms] == ["impatient"]
    for change in [
        lambda: register("impatient", MoreImpatient),
        lambda: register("impatient", Impatient, needs_sack=True),
    ]:
        change()
        after = three()
        assert after[0] != before[0] and after[1] != before[1] and after[2] == before[2]
    register("impatient", Impatient)
    assert addresses(scenario, "reno+impatient") == before[0]


def typed(text: str, file: str = "<stdin>", line: int = 1) -> type[Detect]:
    """A class that was typed at a prompt, or into a cell of a notebook."""
    names: dict[str, Any] = {"Detect": Detect, "__name__": "__main__"}
    exec(compile("\n" * (line - 1) + text, file, "exec"), names)
    return names["Typed"]


def told(cls: type[Detect]) -> str:
    return json.dumps(described(("typed", cls, False, None)))


@pytest.mark.parametrize(
    "lines",
    [
        ["threshold = {}"],
        ["threshold = [1, {{2: {}}}]"],
        ["def on_ack(self, s, a): return {}"],
        ["def on_ack(self, s, a, n={}): return n"],
        ["def on_ack(self, s, a, *, n={}): return n"],
        ["def on_ack(self, s, a): return (lambda: {})()"],
        ["on_ack = (lambda n: lambda self, s, a: n)({})"],
        ["@staticmethod", "def of(): return {}"],
        ["@classmethod", "def of(cls): return {}"],
        ["@property", "def of(self): return {}"],
        ["@__import__('functools').cached_property", "def of(self): return {}"],
        ["of = __import__('functools').partialmethod(max, {})"],
        ["of = __import__('fractions').Fraction({})"],
        ["of = type('Of', (), {{}})(); of.n = {}"],
        ["of = type('Of', (), {{}})(); of.of = of; of.n = {}"],
    ],
)
def test_of_what_was_typed_at_a_prompt_everything_counts(lines: list[str]) -> None:
    text = "class Typed(Detect):\n  " + "\n  ".join(lines)
    one, other = text.format(1), text.format(20)
    assert told(typed(one)) != told(typed(other))
    # Where it was typed does not, nor what else there is in memory.
    assert told(typed(one)) == told(typed(one, "<another>", 7))


def test_the_text_of_a_cell_of_a_notebook_counts() -> None:
    def cell(number: int, file: str, line: int) -> type[Detect]:
        text = f"class Typed(Detect):\n  limit = {number}\n  def on_ack(self, s, a): return None\n"
        # As IPython does it.
        lines = ("\n" * (line - 1) + text).splitlines(keepends=True)
        linecache.cache[file] = (len(text), None, lines, file)
        return typed(text, file, line)

    one, same, two = (told(cell(*of)) for of in [(1, "<1>", 1), (1, "<2>", 5), (2, "<3>", 1)])
    assert one == same != two and "limit = 1" in one


def test_each_class_of_one_name_has_its_own_text() -> None:
    def classes() -> Iterator[type[Detect]]:
        class Twice(Detect):  # pyright: ignore[reportRedeclaration]
            limit = 1

            def on_ack(self, state: State, ack: Ack) -> None: ...

        yield Twice

        class Twice(Detect):
            limit = 2

            def on_ack(self, state: State, ack: Ack) -> None: ...

        yield Twice

    one, two = map(told, classes())
    assert "limit = 1" in one and "limit = 2" not in one and "limit = 2" in two


class Broken(Detect):
    def on_ack(self, state: State, ack: Ack) -> Lost | None:
        raise ZeroDivisionError("on purpose")


def test_processes_learn_of_python_mechanisms(tmp_path: Path) -> None:
    register("impatient", Impatient)
    grid = ackclock.Grid(GRID.scenario, "reno,reno+impatient", runs=2)
    result = ackclock.sweep(grid, tmp_path, jobs=1)
    assert result.failures == []
    expected = ackclock.run(GRID.scenario, "reno,reno+impatient", runs=2)
    assert rows(result.files) == expected.flows.rows()


def test_a_process_learns_of_mechanisms_that_name_others_once(tmp_path: Path) -> None:
    register("plain", MoreImpatient)
    register("mine", Impatient, needs_sack=True, without_sack="plain")
    # The cells after the first one find both registered.
    grid = ackclock.Grid(GRID.scenario, "newreno+mine", runs=4, runs_per_cell=1)
    result = ackclock.sweep(grid, tmp_path, jobs=1)
    assert (result.done, result.failures) == (4, [])


def test_a_mechanism_may_have_dots_in_its_name(tmp_path: Path) -> None:
    register("impatient.v2", Impatient)
    grid = ackclock.Grid(GRID.scenario, "newreno+impatient.v2")
    (cell,) = grid.cells()
    assert cell.work.mechanisms == [("impatient.v2", Impatient, False, None)]
    register("impatient.v2", MoreImpatient)
    assert grid.cells()[0].address != cell.address
    result = ackclock.sweep(grid, tmp_path, jobs=1)
    assert (result.done, result.failures) == (1, [])


def test_failures_name_the_command(tmp_path: Path) -> None:
    register("broken", Broken)
    grid = ackclock.Grid(GRID.scenario, "reno,reno+broken", runs=2)
    result = ackclock.sweep(grid, tmp_path, threads())
    assert len(result.files) == 1
    (failure,) = result.failures
    assert failure.error.endswith("ZeroDivisionError: on purpose")
    call, needs = failure.command.split("  # ")
    assert needs == f"in Python, with {Broken.__module__}.Broken registered"
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        eval(call)
    work = ackclock.Grid(GRID.scenario, "reno", runs=2).cells()[0].work
    words = work.by_hand(tmp_path).split()
    assert words[:2] == ["ackclock", "run"]
    assert words[3:] == ["--seed=1", "--runs=2", "--strategy=reno"]
    assert ackclock.Scenario.read(words[2]) == GRID.scenario


@pytest.mark.parametrize(
    ("key", "values", "told"),
    [
        ("seed", [1, 2], "seed: it is no key to sweep; `seed` of the grid says it"),
        ("runs", [1, 2], "runs: it is no key to sweep; `runs` of the grid says it"),
        ("flow[*].strategy", ["reno"], r"flow\[\*\].strategy: the strategies are those of `str"),
        ("flow", [[]], "flow: the results have a column `flow` of their own"),
        ("tcp.min_rto", ["1s", "1s"], "tcp.min_rto: 1s is there twice"),
        ("link[0].rate", ["1mbit"], r"link\[0\].rate: it sets what `link\[\*\]` sets"),
        ("link[0].rate", [], "rate: a list of values is expected, and not \\[\\]"),
    ],
)
def test_a_grid_that_would_count_falsely(key: str, values: list[Any], told: str) -> None:
    other: dict[str, list[Any]] = {"link[*]": [{}]} if "twice" not in told else {}
    with pytest.raises(ackclock.Error, match=f"^{told}" if values else told) as raised:
        ackclock.Grid(GRID.scenario, "sack", {**other, key: values}).cells()
    assert raised.value.key == key


def test_a_strategy_counts_once() -> None:
    with pytest.raises(ackclock.Error, match="^strategies: sack is there twice$"):
        ackclock.Grid(GRID.scenario, "sack,reno,sack").cells()
    # Without `strategies` the flows of a scenario may take several.
    grid = ackclock.Grid(GRID.scenario, set={"flow[0].strategy": ["reno", "sack"]})
    assert [cell.files[0].split("/")[0] for cell in grid.cells()] == [
        "flow_0_strategy=reno",
        "flow_0_strategy=sack",
    ]
    with pytest.raises(ackclock.Error, match="^runs: 1000001 is not from 1 to 1000000$"):
        ackclock.Grid(GRID.scenario, runs=1_000_001).cells()
    with pytest.raises(ackclock.Error, match="^seed: 9223372036854775807 is not from 0 to "):
        ackclock.Grid(GRID.scenario, runs=2, seed=2**63 - 1).cells()


def test_the_file_of_a_grid_may_have_all_of_toml(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    values = 'set = { "link[0].rate" = ["1mbit"], "link[0].delay" = ["10ms"], }'
    file.write_text(f'{values}\n[scenario]\n{SCENARIO.replace("[[", "[[scenario.")}')
    (cell,) = ackclock.Grid.read(file).cells()
    # Its keys are in their order.
    assert cell.files[0].startswith("link_0_rate=1mbit/link_0_delay=10ms/cell-")


def test_a_value_is_set_once_for_all_points_below(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    set_key = _native.set_key

    def counted(text: str, file: str, path: str, value: Any) -> str:
        told.append(f"{path}={value}")
        return set_key(text, file, path, value)

    monkeypatch.setattr(_native, "set_key", counted)
    values: dict[str, list[Any]] = {"link[0].delay": ["1ms", "2ms"], "tcp.mss": [1, 2]}
    cells = ackclock.Grid(GRID.scenario, "sack", values).cells()
    assert [cell.files[0].split("/cell")[0] for cell in cells] == [
        f"link_0_delay={delay}ms/tcp_mss={mss}" for delay in [1, 2] for mss in [1, 2]
    ]
    each = ["tcp.mss=1", "tcp.mss=2"]
    assert told == ["link[0].delay=1ms", *each, "link[0].delay=2ms", *each]


def test_a_scenario_is_no_grid(tmp_path: Path) -> None:
    scenario: Any = GRID.scenario
    told = "^grid: a `Grid` or the file of one is expected$"
    with pytest.raises(ackclock.Error, match=told):
        ackclock.sweep(scenario, tmp_path / "out")


def test_a_value_that_is_too_long_for_a_folder(tmp_path: Path) -> None:
    grid = ackclock.Grid(GRID.scenario, "sack", {"flow[0].name": ["a" * 243, "ä" * 40]})
    assert len(ackclock.sweep(grid, tmp_path / "out", threads()).files) == 2
    long = ackclock.Grid(GRID.scenario, "sack", {"flow[0].name": ["short", "a" * 244]})
    told = r"^flow\[0\]\.name: it is too long to name a folder: 256 bytes, of at most 255$"
    with pytest.raises(ackclock.Error, match=told) as raised:
        ackclock.sweep(long, tmp_path / "none", threads())
    assert raised.value.key == "flow[0].name" and not (tmp_path / "none").exists()


def test_what_no_packet_met_is_kept(tmp_path: Path) -> None:
    scenario = ackclock.Scenario(SCENARIO).set("link[0].loss", [{"drop": {"segments": [5000]}}])
    grid = ackclock.Grid(scenario, "sack", {"link[0].delay": ["1ms", "2ms"]}, runs=2)
    told = "scenario: link[0].loss[0].drop: no packet met 5000 of this list in 2 of 2 runs"
    expected = [f"link_0_delay={delay}/sack, seed 1: {told}" for delay in ["1ms", "2ms"]]
    for _ in range(2):
        with pytest.warns(ackclock.UnmetWarning) as warned:
            result = ackclock.sweep(grid, tmp_path, threads())
        assert result.unmet == expected
        (one,) = warned
        assert str(one.message) == f"{expected[0]} (and 1 more in `unmet`)"
        assert one.filename == __file__
    assert ackclock.sweep(ackclock.Grid(PLAIN, "sack"), tmp_path, threads()).unmet == []


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("runs = 2", 'runs = "x"', ":4: runs: 'x' is not a whole number"),
        ("runs = 2", "runs = = 2", ":4: "),
        ("runs_per_cell", "runs_by_cell", ":5: runs_by_cell: there is no such key; there are "),
        ('["reno", "sack"]', '["sakc"]', ":3: strategies: `sakc` is neither a preset nor a "),
        ('["reno", "sack"]', "3", ":3: strategies: 3 is no list of names"),
        ('["10ms", "40ms"]', '"10ms"', ":7: set.link[0].delay: a list of values is expected"),
        ('["10ms", "40ms"]', '["10"]', ":7: set.link[0].delay: "),
        ('"link[0].delay" = ["10ms", "40ms"]', '"tcp.mss" = 1000', ":7: set.tcp.mss: a list of"),
        ('"link[0].delay" = ["10ms", "40ms"]', '"tcp.mss" = [-1]', ":7: set.tcp.mss: "),
        ('"lossy.toml"', "3", ":2: scenario: a file or a table is expected"),
        ("scenario = ", "# scenario = ", ": scenario: this key is missing"),
        ('"lossy.toml"', '{ duration = "x" }', ":2: scenario.duration: "),
    ],
)
def test_what_is_wrong_with_the_file_of_a_grid(
    was: str, now: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_grid(tmp_path, 2, 1)
    text = file.read_text()
    assert was in text
    file.write_text(text.replace(was, now, 1))
    assert main([str(file), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {file}{told}") and said.count("\n") == 1, said


class Losing(ThreadPoolExecutor):
    """Loses every other cell."""

    count = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        Losing.count += 1
        if Losing.count % 2:
            future: Future[Any] = Future()
            future.set_exception(ConnectionError("the worker is gone"))
            return future
        return super().submit(fn, *args, **kwargs)


def test_what_a_worker_takes_with_it_is_done_again(tmp_path: Path) -> None:
    result = ackclock.sweep(GRID, tmp_path, Losing(2))
    assert (result.done, result.failures) == (24, [])


def test_a_killed_process_is_replaced(tmp_path: Path) -> None:
    grid = ackclock.Grid(GRID.scenario, "sack", runs=40_000, runs_per_cell=8_000)
    called = [sys.executable, "-c", CHILD, str(tmp_path)]
    with subprocess.Popen(called) as child:
        worker = 0
        for _ in range(2):
            worker = child_of(child.pid, other_than=worker)
            time.sleep(0.3)
            os.kill(worker, signal.SIGKILL)
        assert child.wait() == 0
    result = ackclock.sweep(grid, tmp_path, threads())
    assert (result.before, result.done, len(result.files)) == (5, 0, 5)


CHILD = f"""
import sys, ackclock
grid = ackclock.Grid(ackclock.Scenario('''{SCENARIO}'''), "sack", runs=40_000,
                     runs_per_cell=8_000)
if __name__ == "__main__":
    assert ackclock.sweep(grid, sys.argv[1], jobs=1).done == 5
"""


def child_of(pid: int, other_than: int) -> int:
    """A worker of a pool of processes."""
    while True:
        for process in Path("/proc").iterdir():
            try:
                status = (process / "stat").read_text().rsplit(") ", 1)[1].split()
                command = (process / "cmdline").read_text()
            except (OSError, IndexError):
                continue
            worker = status[1] == str(pid) and "spawn_main" in command
            if worker and process.name != str(other_than):
                return int(process.name)
        time.sleep(0.01)


def test_one_at_a_time(tmp_path: Path) -> None:
    class Nested(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            with pytest.raises(ackclock.Error, match=f"^{tmp_path}: another process") as raised:
                ackclock.sweep(GRID, tmp_path, threads())
            assert (raised.value.file, raised.value.key) == (str(tmp_path), None)
            return super().submit(fn, *args, **kwargs)

    ackclock.sweep(ackclock.Grid(GRID.scenario, "sack"), tmp_path, Nested(1))


def write_grid(folder: Path, runs: int, runs_per_cell: int) -> Path:
    (folder / "lossy.toml").write_text(SCENARIO)
    file = folder / "sweep.toml"
    file.write_text(
        f"""
scenario = "lossy.toml"
strategies = ["reno", "sack"]
runs = {runs}
runs_per_cell = {runs_per_cell}
[set]
"link[0].delay" = ["10ms", "40ms"]
"""
    )
    return file


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_grid(tmp_path, 2, 1)
    out = str(tmp_path / "out")
    assert main([str(file), "--out", out, "--jobs", "1"]) == 0
    assert capsys.readouterr().out == f"8 cells in {out}, 8 of them new\n"
    assert main([str(file), "--out", out]) == 0
    assert capsys.readouterr().out == f"8 cells in {out}, 0 of them new\n"
    file.write_text(file.read_text().replace("runs_per_cell", "runs_by_cell"))
    assert main([str(file), "--out", out]) == 2
    assert "sweep.toml:5: runs_by_cell: there is no such key" in capsys.readouterr().err


@pytest.mark.filterwarnings("default")
def test_a_dask_cluster_whose_workers_and_client_are_killed(tmp_path: Path) -> None:
    from distributed import LocalCluster

    file = write_grid(tmp_path, CELLS // 4 * 50, 50)
    undisturbed = ackclock.sweep(file, tmp_path / "undisturbed", threads())
    assert len(undisturbed.files) == CELLS
    out = tmp_path / "out"
    chance = random.Random(1)
    # Its types take it for a coroutine.
    local: Any = LocalCluster
    with local(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        called = [sys.executable, "-m", "ackclock", "sweep", str(file)]
        called += ["--dask", cluster.scheduler_address, "--out", str(out)]
        client = subprocess.Popen(called)
        for kill in range(KILLS):
            # Spread over the sweep, so that each one takes work with it.
            while len([*out.rglob("*.parquet")]) < CELLS * (kill + 1) // (KILLS + 1):
                assert client.poll() is None
                time.sleep(0.02)
            if kill % 2:
                client.kill()
                client.wait()
                client = subprocess.Popen(called)
            else:
                worker = chance.choice([*cluster.workers.values()])
                os.kill(worker.process.process.pid, signal.SIGKILL)
        client.wait()
    assert client.returncode == 0
    found = sorted(str(path.relative_to(out)) for path in out.rglob("*.parquet"))
    there = [os.path.relpath(path, tmp_path / "undisturbed") for path in undisturbed.files]
    assert found == sorted(there) and len(found) == CELLS
    assert rows([str(out / name) for name in there]) == rows(undisturbed.files)


@pytest.mark.parametrize(("option", "name"), [("--ray", "ray"), ("--dask", "distributed")])
def test_without_the_package_of_a_cluster(
    option: str,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    assert main([str(write_grid(tmp_path, 1, 1)), option, "nowhere:1"]) == 2
    assert capsys.readouterr().err == f"error: there is no {name}: pip install {name}\n"


class FirstOnly(Detect):
    def on_ack(self, state: State, ack: Ack) -> Lost | None:
        return Lost.head() if ack.duplicate and state.dupacks == 1 else None


@pytest.mark.filterwarnings("default")
def test_ray(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed (pip install ray)")
    # No module that its workers could import.
    FirstOnly.__module__ = "__main__"
    register("first-only", FirstOnly)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        with ackclock.ray_executor() as executor:
            grid = ackclock.Grid(GRID.scenario, "reno,reno+first-only", runs=8, runs_per_cell=2)
            result = ackclock.sweep(grid, tmp_path / "ray", executor)
            workers = {executor.submit(worker_of_ray).result() for _ in range(20)}
            # What `sweep` takes for a loss, and submits again.
            lost = executor.submit(os._exit, 1).exception(timeout=60)
            assert type(lost).__name__ == "WorkerCrashedError"
        assert 1 <= len(workers) <= 2 and os.getpid() not in workers
        assert (result.done, result.failures) == (8, [])
        expected = ackclock.run(GRID.scenario, "reno,reno+first-only", runs=8)
        assert rows(result.files) == expected.flows.rows()
        # The executor found a cluster, and so left it alone.
        assert ray.is_initialized()
        file, out = write_grid(tmp_path, 4, 1), str(tmp_path / "out")
        address: str = ray.get_runtime_context().gcs_address
        called = [sys.executable, "-m", "ackclock", "sweep", str(file), "--out", out]
        called += ["--ray", address]
        said = subprocess.run(called, check=True, capture_output=True, text=True)
        assert said.stdout == f"16 cells in {out}, 16 of them new\n"
    finally:
        ray.shutdown()


def worker_of_ray() -> int:
    time.sleep(0.05)
    return os.getpid()


def test_ctrl_c_does_not_wait_for_cells_under_way(tmp_path: Path) -> None:
    # Each cell takes some minutes.
    long = PLAIN.set("duration", "100000s").set("flow[0].source.segments", 20_000_000)
    long = long.set("link[0].rate", "1gbit").set("link[0].loss", [])
    (tmp_path / "long.toml").write_text(long.text)
    file = tmp_path / "sweep.toml"
    file.write_text('scenario = "long.toml"\nruns = 4\nruns_per_cell = 1\n')
    called = [sys.executable, "-m", "ackclock", "sweep", str(file), "--out", "out", "--jobs=1"]
    with subprocess.Popen(called, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as child:
        try:
            worker = child_of(child.pid, other_than=0)
            time.sleep(0.5)
            child.send_signal(signal.SIGINT)
            _, said = child.communicate(timeout=60)
        finally:
            child.kill()
    assert (child.returncode, said) == (130, "interrupted; the same command goes on\n")
    assert not Path(f"/proc/{worker}").exists()


def test_ctrl_c_leaves_what_is_done(tmp_path: Path) -> None:
    file = write_grid(tmp_path, 4_000, 500)
    out = tmp_path / "out"
    called = [sys.executable, "-m", "ackclock", "sweep", str(file), "--out", str(out), "--jobs=1"]
    with subprocess.Popen(called, stderr=subprocess.PIPE, text=True) as child:
        while not [*out.rglob("*.parquet")]:
            time.sleep(0.02)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate()
    assert (child.returncode, said) == (130, "interrupted; the same command goes on\n")
    result = ackclock.sweep(file, out, threads())
    assert result.before > 0 and result.before + result.done == len(result.files) == 32
