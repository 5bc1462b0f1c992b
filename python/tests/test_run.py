"""Runs: the rows are those of the command, and every library for tables takes them."""

import faulthandler
import json
import math
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pytest

import ackclock
from ackclock._sweep import ABOUT
from ackclock.mechanism import Ack, Detect, Lost, State, register
from scenarios import LOSSY

FIRST = Path(__file__).parents[2] / "scenarios" / "first.toml"


def command(*args: str) -> str:
    """What the command of the wheel prints."""
    called = [sys.executable, "-m", "ackclock", *args]
    return subprocess.run(called, check=True, capture_output=True, text=True).stdout


def without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


def test_flows_are_those_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "lossy.toml"
    file.write_text(ackclock.Scenario(LOSSY).text)
    printed = command(
        "run", str(file), "--strategy", "reno,sack+lt", "--runs", "3", "--format", "json"
    )
    result = ackclock.run(file, "reno,sack+lt", runs=3)
    assert result.flows.rows() == json.loads(printed)
    assert [row["seed"] for row in result.flows.rows()] == [1, 2, 3, 1, 2, 3]


def test_events_are_those_of_the_command(tmp_path: Path) -> None:
    lines = tmp_path / "events.jsonl"
    command("run", str(FIRST), "--strategy", "newreno,sack", "--events", str(lines))
    expected = [without_nulls(json.loads(line)) for line in lines.read_text().splitlines()]
    events = ackclock.run(FIRST, ["newreno", "sack"]).events
    rows = [without_nulls(row) for row in events.rows()]
    for row in rows:
        assert row.pop("seed") == 1
    assert rows == expected


def test_recovery_is_that_of_the_command() -> None:
    printed = json.loads(
        command("run", str(FIRST), "--strategy", "sack,prr", "--recovery", "--format", "json")
    )
    rows = ackclock.run(FIRST, "sack,prr").recovery.rows()
    for row, expected in zip(rows, printed["recovery"], strict=True):
        assert (row.pop("strategy"), row.pop("runs")) == (expected["strategy"], expected["runs"])
        measures = {k: v for k, v in expected["measures"].items() if k != "recovery_time_cdf"}
        assert row == measures


def test_a_strategy_runs_once() -> None:
    with pytest.raises(ackclock.Error, match="^strategies: sack is there twice$"):
        ackclock.run(LOSSY, "sack,reno, sack")


def test_links_add_up_to_those_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "lossy.toml"
    file.write_text(ackclock.Scenario(LOSSY).text)
    printed = command("run", str(file), "--strategy=sack", "--runs=2", "--stats", "--format=json")
    expected = json.loads(printed)["strategies"][0]["links"]
    rows = ackclock.run(file, "sack", runs=2).links.rows()
    ahead = [row for row in rows if row["from"] == "a"]
    assert [row["seed"] for row in ahead] == [1, 2]
    assert sum(row["dropped_loss"] for row in ahead) == expected[0]["dropped_loss"] > 0
    assert sum(row["packets"] for row in ahead) == expected[0]["packets"]


def test_compare_is_the_command() -> None:
    options = ["--drop=14,26,28", "--delay=50ms", "--timestamps", "--format=json"]
    printed = command("compare", "--strategy=newreno,sack", *options)
    result = ackclock.compare("newreno,sack", drop=[14, 26, 28], delay="50ms", timestamps=True)
    assert result.flows.rows() == json.loads(printed)
    two = ackclock.compare(["sack"], drop=[[14], [14, 26]])
    assert [row["drops"] for row in two.flows.rows()] == [1, 2]
    none = ackclock.compare("sack").flows.rows()
    for one in [ackclock.compare("sack", drop=[]), ackclock.compare("sack", drop=[[]])]:
        assert one.flows.rows() == none


@pytest.mark.parametrize("option", ["strategy", "html", "help", "nothing"])
def test_compare_has_no_other_options(option: str) -> None:
    options: Any = {option: "reno"}
    with pytest.raises(TypeError, match=rf"^compare\(\) has no option {option}$"):
        ackclock.compare("sack", **options)


def test_jobs_do_not_change_results() -> None:
    one = ackclock.run(LOSSY, "reno", runs=4, jobs=1)
    assert one.flows.rows() == ackclock.run(LOSSY, "reno", runs=4, jobs=2).flows.rows()


def test_libraries_take_the_tables() -> None:
    events = ackclock.run(FIRST, "sack").events
    rows = events.rows()
    assert polars.DataFrame(events).to_dicts() == rows
    assert pyarrow.table(events).to_pylist() == rows
    frame = pandas.DataFrame.from_arrow(events)
    assert list(frame.columns) == events.columns
    assert frame["snd_una"].tolist() == [row["snd_una"] for row in rows]
    counted = duckdb.sql("select event, count(*) from events group by event")
    kinds = [row["event"] for row in rows]
    assert counted and dict(counted.fetchall()) == {kind: kinds.count(kind) for kind in kinds}
    # A stream can be had as often as it is asked for.
    assert len(pyarrow.table(events)) == len(pyarrow.table(events)) == len(rows)


def test_parquet() -> None:
    flows = ackclock.run(LOSSY, "reno,sack", runs=2).flows
    assert polars.read_parquet(flows.to_parquet()).to_dicts() == flows.rows()


def test_plot(tmp_path: Path) -> None:
    plot = ackclock.run(FIRST, "newreno,sack").plot()
    assert plot.svg.startswith("<svg") and "newreno" in plot.html
    shown = plot._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and shown.count('"') == 4
    plot.save(tmp_path / "plot.html")
    command("run", str(FIRST), "--strategy", "newreno,sack", "--svg", str(tmp_path / "own.svg"))
    with pytest.raises(ValueError, match=r"\.html or \.svg"):
        plot.save(tmp_path / "plot.png")


def test_figure(tmp_path: Path) -> None:
    result = ackclock.compare("reno,sack", drop=[14, 26, 28])
    for ending in ("pdf", "svg", "png", "csv"):
        ours, theirs = tmp_path / f"ours.{ending}", tmp_path / f"theirs.{ending}"
        result.figure(ours, width="120mm", start=1, stop=2.5)
        options = ("--figure", str(theirs), "--width", "120mm", "--from", "1s", "--to", "2.5s")
        command("compare", "--strategy", "reno,sack", "--drop", "14,26,28", *options)
        if ending == "pdf":
            # It lists its resources in any order.
            assert ours.read_bytes().startswith(b"%PDF")
            assert ours.stat().st_size == theirs.stat().st_size
        else:
            assert ours.read_bytes() == theirs.read_bytes()
    with pytest.raises(ValueError, match=r"\.pdf"):
        result.figure(tmp_path / "figure.jpg")
    with pytest.raises(ValueError, match="no interval"):
        result.figure(tmp_path / "figure.pdf", start=2, stop=1)
    with pytest.raises(ValueError, match="no width"):
        result.figure(tmp_path / "figure.pdf", width="1mm")
    for key, time in [("start", math.nan), ("start", -1.0), ("stop", math.inf)]:
        interval: Any = {key: time}
        with pytest.raises(ValueError, match=f"^{key}: .* is no time"):
            result.figure(tmp_path / "figure.pdf", **interval)


def test_tables_go_to_other_processes() -> None:
    result = ackclock.run(FIRST, "sack", runs=2)
    for table in [result.flows, result.links, result.events, result.recovery]:
        copy = pickle.loads(pickle.dumps(table))
        assert len(table) > 0
        assert copy.columns == table.columns
        assert copy.rows() == table.rows()
        assert polars.DataFrame(copy).schema == polars.DataFrame(table).schema


def test_the_help_names_what_the_package_adds() -> None:
    assert command("--help").endswith(f"Of the Python package:\n  sweep  {ABOUT}\n")
    assert command("help", "sweep") == command("sweep", "--help")


def test_table_as_the_command_prints_it() -> None:
    result = ackclock.run(FIRST, "newreno,sack")
    assert str(result) == command("run", str(FIRST), "--strategy", "newreno,sack")


def test_scenario_from_everything(tmp_path: Path) -> None:
    text = FIRST.read_text()
    read = ackclock.Scenario.read(FIRST)
    assert read.text == text
    assert ackclock.Scenario(read.to_dict()) == read
    built = (
        ackclock.Scenario.new("20s")
        .link("a", "b", rate="2mbit", delay="20ms", loss=[{"bernoulli": {"p": 0.02}}])
        .flow("a", "b", source={"segments": 200})
    )
    assert built == ackclock.Scenario(LOSSY)
    slow = built.set("link[0].delay", "40ms")
    assert slow.to_dict()["link"][0]["delay"] == "40ms"
    assert built.to_dict()["link"][0]["delay"] == "20ms"


def test_a_scenario_may_have_all_of_toml(tmp_path: Path) -> None:
    # TOML 1.1, which Python's own parser does not know, after a mark of the order of bytes.
    text = '''\ufeffname = "\\x41\\e"
duration = "8s"
link = [{
    from = "a", to = "b", rate = "1mbit", # two lines
    delay = "20ms",
}]
[[flow]]
from = "a"
to = "b"
source = { segments = 0x1_4, }
'''
    file = tmp_path / "new.toml"
    file.write_text(text, encoding="utf-8")
    scenario = ackclock.Scenario.read(file)
    assert scenario.to_dict() == {
        "name": "A\x1b",
        "duration": "8s",
        "link": [{"from": "a", "to": "b", "rate": "1mbit", "delay": "20ms"}],
        "flow": [{"from": "a", "to": "b", "source": {"segments": 20}}],
    }
    assert list(scenario.to_dict()["link"][0]) == ["from", "to", "rate", "delay"]
    assert repr(scenario) == "<ackclock.Scenario 'A\\x1b'>"
    assert scenario.link("b", "c", rate="1mbit", delay="1ms").to_dict()["link"][1]["to"] == "c"
    (cell,) = ackclock.Grid(scenario, "sack").cells()
    assert cell.work.scenario == scenario
    # What is no TOML at all was not checked either.
    broken = ackclock.Scenario("a =\nb", file="broken", check=False)
    assert repr(broken) == "<ackclock.Scenario 'broken'>"
    with pytest.raises(ackclock.Error, match="^broken:2: ") as raised:
        broken.to_dict()
    assert (raised.value.file, raised.value.line) == ("broken", 2)


def test_a_scenario_never_changes() -> None:
    scenario = ackclock.Scenario(LOSSY)
    changing: Any = scenario
    for name in ["text", "file", "other"]:
        with pytest.raises(AttributeError, match=f"^{name}: a Scenario never changes"):
            setattr(changing, name, "")
        with pytest.raises(AttributeError, match=f"^{name}: a Scenario never changes"):
            delattr(changing, name)
    otherwise = ackclock.Scenario("# The same.\n" + scenario.text, file="other")
    assert scenario == otherwise == pickle.loads(pickle.dumps(scenario))
    assert len({scenario, otherwise, scenario.set("seed", 2)}) == 2


def test_errors_say_where() -> None:
    text = FIRST.read_text().replace('rate = "0.8mbit"', 'rate = "0.8 Mb"')
    with pytest.raises(ackclock.Error) as raised:
        ackclock.Scenario(text, file="mine.toml")
    error = raised.value
    line = text.splitlines().index('rate = "0.8 Mb"') + 1
    assert (error.file, error.line, error.key) == ("mine.toml", line, "link[1].rate")
    assert str(error).startswith(f"mine.toml:{line}: link[1].rate: ")
    with pytest.raises(ackclock.Error, match="did you mean `sack`") as raised:
        ackclock.run(FIRST, "sakc")
    assert raised.value.file is None
    with pytest.raises(ackclock.Error, match="there is no segment 100"):
        ackclock.compare("sack", drop=[100])
    with pytest.raises(ackclock.Error, match="link.7."):
        ackclock.Scenario.read(FIRST).set("link[7].delay", "1ms")
    with pytest.raises(FileNotFoundError):
        ackclock.run("nowhere.toml")
    with pytest.raises(TypeError, match="object"):
        ackclock.Scenario({"duration": object()})


def test_values_that_toml_has_no_room_for() -> None:
    endless: dict[str, Any] = {"duration": "1s"}
    endless["tcp"] = endless
    with pytest.raises(ackclock.Error, match="^tcp: it has more than 100 levels, or") as raised:
        ackclock.Scenario(endless)
    assert raised.value.key == "tcp"
    items: list[Any] = []
    items.append(items)
    with pytest.raises(ackclock.Error, match="^link: it has more than 100 levels, or contains it"):
        ackclock.Scenario(LOSSY).set("link[0].loss", items)
    with pytest.raises(ackclock.Error, match="^seed: 9223372036854775808 is not from -9") as raised:
        ackclock.Scenario(LOSSY).set("seed", 2**63)
    assert raised.value.key == "seed"
    with pytest.raises(ackclock.Error, match=r"^link\[1\].queue.packets: -9223372036854775809 is"):
        ackclock.Scenario({"link": [{}, {"queue": {"packets": -(2**63) - 1}}]})


@pytest.mark.parametrize(
    ("arguments", "key"),
    [({"strategies": "nosuch"}, "strategies"), ({"until": "nosuch=5%"}, "until")],
)
def test_errors_name_the_argument(arguments: dict[str, str], key: str) -> None:
    with pytest.raises(ackclock.Error, match=f"^{key}: ") as raised:
        ackclock.run(FIRST, **arguments)  # type: ignore[arg-type]
    assert raised.value.key == key


def test_a_dictionary_that_is_no_scenario() -> None:
    with pytest.raises(TypeError, match="^duration: a scenario cannot hold a value of type None"):
        ackclock.Scenario({"duration": None})
    with pytest.raises(TypeError, match=r"^tcp\[1\]: a key is a text$"):
        ackclock.Scenario({"tcp": {1: 2}})


def test_every_error_has_all_that_is_documented() -> None:
    error = ackclock.Error("raised in Python")
    assert (error.file, error.line, error.key, error.help) == (None, None, None, None)


def test_errors_have_a_line_of_the_users_text_only() -> None:
    scenario = ackclock.Scenario.read(FIRST)
    with pytest.raises(ackclock.Error) as raised:
        scenario.set("tcp.mss", -1)
    assert str(raised.value).startswith(f"{FIRST}: tcp.mss: ")
    assert (raised.value.line, raised.value.key) == (None, "tcp.mss")
    with pytest.raises(ackclock.Error) as raised:
        ackclock.Scenario({"duration": "-1"})
    assert (raised.value.line, raised.value.key) == (None, "duration")
    unmet = scenario.set("link[1].loss", [{"drop": {"segments": [90_000]}}])
    told = f"{FIRST}: link[1].loss[0].drop: no packet met 90000 of this list"
    with pytest.warns(ackclock.UnmetWarning) as warned:
        ackclock.run(unmet, "sack")
        ackclock.run(pickle.loads(pickle.dumps(unmet)), "sack")
    assert [str(one.message) for one in warned] == [told, told]


LONG: dict[str, Any] = {
    # Hours of work.
    "duration": "10000000s",
    "link": [{"from": "a", "to": "b", "rate": "100mbit", "delay": "5ms"}],
    "flow": [{"from": "a", "to": "b", "source": "bulk"}],
}


@pytest.fixture
def never_hangs() -> Iterator[None]:
    """Ends the process if Ctrl-C does not end a run that takes hours."""
    faulthandler.dump_traceback_later(600, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.mark.usefixtures("never_hangs")
def test_ctrl_c_ends_a_run() -> None:
    main = threading.get_ident()
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ackclock.run(LONG, "reno", runs=4)


@pytest.mark.usefixtures("never_hangs")
def test_ctrl_c_ends_an_experiment(tmp_path: Path) -> None:
    main = threading.get_ident()
    threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    file = tmp_path / "long.toml"
    strategies = [{"name": "reno"}]
    long = {"title": "long", "runs": 4, "strategy": strategies, "scenario": LONG}
    file.write_text(ackclock._native.to_toml(long))
    with pytest.raises(KeyboardInterrupt):
        ackclock.experiment(str(file))


class Looping(Detect):
    def on_ack(self, state: State, ack: Ack) -> Lost | None:
        while True:
            time.sleep(0.001)


@pytest.mark.usefixtures("never_hangs")
def test_ctrl_c_ends_a_mechanism_that_loops() -> None:
    register("looping", Looping)
    main = threading.get_ident()
    threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        ackclock.run(LOSSY, "reno,reno+looping", runs=2)
    # Nothing of it is left behind.
    assert len(ackclock.run(LOSSY, "reno", runs=2).flows) == 2


def test_until_is_that_of_the_command(tmp_path: Path) -> None:
    file = tmp_path / "lossy.toml"
    file.write_text(ackclock.Scenario(LOSSY).text)
    options = ["--strategy=reno,sack", "--until=goodput=3%", "--until=timeouts=50%", "--seed=7"]
    printed = command("run", str(file), *options, "--per-flow", "--format=json")
    aims = ["goodput=3%", "timeouts=50%"]
    with warnings.catch_warnings():
        # Whether they are known is no matter here.
        warnings.simplefilter("ignore", ackclock.UnmetWarning)
        result = ackclock.run(file, "reno,sack", seed=7, until=aims, jobs=2)
    rows = result.flows.rows()
    assert rows == json.loads(printed)
    counts = [sum(row["strategy"] == strategy for row in rows) for strategy in ("reno", "sack")]
    assert all(count >= 50 and count % 2 == 0 for count in counts)


def test_until_says_what_it_did_not_reach() -> None:
    told = r"^until: goodput of sack: ± 8\.8 % after 60 runs, and not ± 0\.0010 %$"
    with pytest.warns(ackclock.UnmetWarning, match=told) as warned:
        result = ackclock.run(LOSSY, "sack", until="goodput=0.001%", runs=60)
    assert len(result.flows) == 60
    assert [str(one.message) for one in warned] == result.unmet
    # It points at who asked.
    assert warned[0].filename == __file__
    with pytest.raises(ackclock.Error, match="until: there is no measure `goodputs`; there are"):
        ackclock.run(LOSSY, "sack", until="goodputs=2%")
    with pytest.raises(ackclock.Error, match="until: `2` is not a percentage"):
        ackclock.run(LOSSY, "sack", until="goodput=2")


def test_what_no_packet_met_is_a_warning(tmp_path: Path) -> None:
    fated = ackclock.Scenario(LOSSY).to_dict()
    fated["link"][0]["fate"] = [
        {"segment": 3, "lose": True},
        {"segment": 5000, "lose": True},
    ]
    fated["link"][0]["loss"].append({"drop": {"segments": [5, 6000]}})
    file = tmp_path / "fates.toml"
    file.write_text(ackclock.Scenario(fated).text)
    called = [sys.executable, "-m", "ackclock", "run", str(file), "--runs=2"]
    said = subprocess.run(called, check=True, capture_output=True, text=True).stderr
    with pytest.warns(ackclock.UnmetWarning) as warned:
        result = ackclock.run(file, runs=2)
    assert said == "".join(f"warning: {one.message}\n" for one in warned)
    fate, drop = result.unmet
    assert fate.endswith("link[0].fate[1]: no packet met this fate in 2 of 2 runs")
    assert drop.endswith(": no packet met 6000 of this list in 2 of 2 runs")
    assert ackclock.run(LOSSY, "sack").unmet == []


def test_numbers_and_lists_of_numpy() -> None:
    scenario = ackclock.Scenario(LOSSY)
    sizes = numpy.arange(100, 300, 100)
    for size in sizes:
        assert scenario.set("flow[0].source.segments", size).to_dict()["flow"][0] == {
            "from": "a",
            "to": "b",
            "source": {"segments": int(size)},
        }
    drops = scenario.set("link[0].loss", [{"drop": {"segments": sizes}}]).to_dict()
    assert drops["link"][0]["loss"] == [{"drop": {"segments": [100, 200]}}]
    # The types ask for Python's own.
    named: Any = numpy.array(["reno", "sack"])
    two: Any = numpy.int64(2)
    rows = ackclock.run(scenario, named, runs=two).flows.rows()
    assert [row["strategy"] for row in rows] == ["reno", "reno", "sack", "sack"]


def test_options_of_compare_may_be_of_numpy() -> None:
    given: Any = {"segments": numpy.int64(30), "mss": numpy.uint16(500)}
    same = ackclock.compare("sack", segments=30, mss=500).flows.rows()
    assert ackclock.compare("sack", **given).flows.rows() == same
    array: Any = {"drop": numpy.array([14, 15])}
    assert ackclock.compare("sack", **array).flows.rows()[0]["drops"] == 2


def test_errors_name_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="'first.toml' is not the text .* Scenario.read reads a"):
        ackclock.Scenario("first.toml")
    for runs in [-1, 0, 100_001, 10**9, 10**30, 1.5, "x"]:
        wrong: Any = {"runs": runs}
        with pytest.raises(ackclock.Error, match="^runs: .* is not ") as told:
            ackclock.run(LOSSY, "sack", **wrong)
        assert (told.value.key, told.value.file, told.value.line) == ("runs", None, None)
    with pytest.raises(ackclock.Error, match="^jobs: 5000 is not from 0 to 1024$"):
        ackclock.run(LOSSY, "sack", jobs=5000)
    with pytest.raises(ackclock.Error, match="^jobs: 100000 is not from 0 to 1024$"):
        ackclock.experiment("lin-kung", jobs=100_000)
    with pytest.raises(ackclock.Error, match="^jobs: -1 is not from 0 to 1024$"):
        ackclock.explain(jobs=-1)
    last = 2**63 - 1
    assert ackclock.run(LOSSY, "sack", seed=last).flows.rows()[0]["seed"] == last
    with pytest.raises(ackclock.Error, match="^seed: 2 runs from 9223372036854775807 on go beyo"):
        ackclock.run(LOSSY, "sack", seed=last, runs=2)
    missing = tmp_path / "missing" / "plot.svg"
    with pytest.raises(FileNotFoundError) as raised:
        ackclock.run(FIRST, "sack").plot().save(missing)
    assert raised.value.filename == str(missing)
    assert str(raised.value) == f"[Errno 2] No such file or directory: '{missing}'"
    with pytest.raises(ackclock.Error, match="link.0..delay: a list of values is expected"):
        ackclock.Grid(LOSSY, "sack", {"link[0].delay": "1ms"}).cells()
    with pytest.raises(ackclock.Error, match="did you mean `sack`"):
        ackclock.Grid(LOSSY, "sakc").cells()
    with pytest.raises(ackclock.Error, match="runs_per_cell: 0 is not from 1 to 100000"):
        ackclock.Grid(LOSSY, "sack", runs_per_cell=0).cells()


def test_errors_of_compare_name_the_argument() -> None:
    for options, key, told in [
        ({"drop": [100]}, "drop", "drop: there is no segment 100; there are segments 0 to 99"),
        ({"drop": 1.5}, "drop", "drop: invalid value '1.5' for drop: "),
        ({"segments": None}, "segments", "segments: None is no value of an option"),
        ({"drop_retransmission": "200:1"}, "drop_retransmission", "drop_retransmission: there is"),
        ({"min_rto": "x"}, "min_rto", "min_rto: invalid value 'x' for min_rto: "),
        ({"duration": "0s"}, "duration", "duration: a run must last longer than 0s"),
        ({"rate": "0mbit"}, "rate", "rate: a rate is at least 1bit"),
        ({"first_rtt": "1s"}, "first_rtt", "first_rtt: invalid value '1s' for first_rtt [possible"),
    ]:
        wrong: Any = options
        with pytest.raises(ackclock.Error) as raised:
            ackclock.compare("sack", **wrong)
        error = raised.value
        assert (error.file, error.line, error.key) == (None, None, key)
        assert str(error).startswith(told), str(error)
    with pytest.raises(ackclock.Error, match="^strategies: `sakc` is neither ") as raised:
        ackclock.compare("sakc")
    assert raised.value.key == "strategies"


def test_drops_of_compare_are_written_in_every_way() -> None:
    def rows(drop: Any) -> list[dict[str, Any]]:
        return ackclock.compare("sack", drop=drop).flows.rows()

    # The types take them too.
    assert ackclock.compare("sack", drop=14).flows.rows() == rows([14])
    several = ackclock.compare("sack", drop=[14, "20-22"]).flows.rows()
    assert several == rows([14, 20, 21, 22]) == rows("14,20-22")
    assert several == rows(numpy.array([14, 20, 21, 22]))
    assert ackclock.compare("sack", drop=["14-20"]).flows.rows() == rows(range(14, 21))
    assert [row["drops"] for row in rows([[14], ["14-16"]])] == [1, 3]


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "bad.bin"
    file.write_bytes(b"duration\xff")
    for read in [ackclock.run, ackclock.Grid.read]:
        with pytest.raises(ackclock.Error, match=f"^{file}: byte 8 is not UTF-8") as raised:
            read(file)
        assert raised.value.file == str(file)


def test_compare_warns_as_the_command_does() -> None:
    called = [sys.executable, "-m", "ackclock", "compare", "--strategy=sack", "--drop=14"]
    called.append("--drop-retransmission=14:2")
    said = subprocess.run(called, check=True, capture_output=True, text=True).stderr
    with pytest.warns(ackclock.UnmetWarning) as warned:
        ackclock.compare("sack", drop=[14], drop_retransmission=["14:2"])
    (one,) = warned
    told = ": no packet met 14:2 of this list"
    assert said == f"warning: compare: --drop, --drop-retransmission{told}\n"
    assert str(one.message).endswith(f": link[1].loss[0].drop{told}")
    assert warned[0].filename == __file__


def test_other_threads_go_on_meanwhile() -> None:
    count = 0
    over = threading.Event()

    def work() -> None:
        nonlocal count
        while not over.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    # This takes some hundred milliseconds; it would be one turn if nobody else could go on.
    ackclock.run(LONG | {"duration": "1000s"}, "reno")
    over.set()
    thread.join()
    assert count > 20


def test_the_command_fails_as_it_does_elsewhere() -> None:
    called = [sys.executable, "-m", "ackclock", "run", "nowhere.toml"]
    failed = subprocess.run(called, capture_output=True, text=True, check=False)
    assert failed.returncode == 3
    assert failed.stderr.startswith("error: nowhere.toml: cannot be read")
    assert failed.stdout == ""
