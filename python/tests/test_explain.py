"""Captures and experiments."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars
import pytest

import ackclock

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "tests" / "kernel.pcap.gz"
TABLES = ["connections", "retransmissions", "timeouts", "stalls"]


def command(*args: str) -> str:
    called = [sys.executable, "-m", "ackclock", *args]
    return subprocess.run(called, check=True, capture_output=True, text=True).stdout


def test_tables_are_those_of_the_command(tmp_path: Path) -> None:
    text = command("explain", str(CAPTURE), "--parquet", str(tmp_path))
    explained = ackclock.explain(CAPTURE)
    assert str(explained) == text
    assert explained.problems == []
    for name in TABLES:
        expected = polars.read_parquet(tmp_path / f"{name}.parquet")
        table = polars.DataFrame(getattr(explained, name))
        assert len(table) > 0
        assert table.equals(expected), name


def test_a_connection(tmp_path: Path) -> None:
    explained = ackclock.explain(CAPTURE)
    number = explained.stalls.rows()[0]["connection"]
    shown = command("explain", str(CAPTURE), "--connection", str(number))
    assert explained.connection_text(number) == shown
    assert explained.plot(number)._repr_html_().startswith("<iframe srcdoc=")
    for none in [100000, -1, 2**64]:
        for method in [explained.plot, explained.connection_text]:
            with pytest.raises(IndexError, match=f"no connection {none}$"):
                method(none)
    explained.write_html(tmp_path, top=1)
    assert len([*tmp_path.glob("*.html")]) == 2


def test_an_archive(tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    folder.mkdir()
    for name in ["one.pcap.gz", "two.pcap.gz"]:
        (folder / name).write_bytes(CAPTURE.read_bytes())
    (folder / "notes.txt").write_text("no capture")
    # A real capture that ends in the middle.
    broken = tmp_path / "broken.pcap"
    subprocess.run(f"zcat {CAPTURE} | head -c 50001 > {broken}", shell=True, check=True)
    url = CAPTURE.as_uri()
    result = ackclock.explain_archive(
        [folder, broken, url], tmp_path / "out", ThreadPoolExecutor(2)
    )
    assert (result.before, result.done) == (0, 3)
    (failure,) = result.failures
    assert failure.command == f"ackclock explain {broken}"
    expected = ackclock.explain(CAPTURE)
    for name in TABLES:
        files = [file for file in result.files if f"/{name}/" in file]
        table = polars.read_parquet(files, hive_partitioning=True)
        assert len(table) == 3 * len(getattr(expected, name))
        assert set(table["file"]) == {*map(str, folder.glob("*.gz")), url}
    again = ackclock.explain_archive([folder, url], tmp_path / "out", ThreadPoolExecutor(2))
    assert (again.before, again.done, len(again.files)) == (3, 0, 12)
    os.utime(folder / "one.pcap.gz", (1, 1))
    assert ackclock.explain_archive(folder, tmp_path / "out", ThreadPoolExecutor(1)).done == 1


def test_a_capture_that_is_given_twice_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.pcap.gz").write_bytes(CAPTURE.read_bytes())
    Path("link.pcap.gz").symlink_to("k.pcap.gz")
    url = CAPTURE.as_uri()
    given = ["./k.pcap.gz", ".", "k.pcap.gz", tmp_path / "k.pcap.gz", url, url]
    result = ackclock.explain_archive(given, "out", ThreadPoolExecutor(1))
    assert (result.done, result.failures) == (2, [])
    files = [file for file in result.files if "/connections/" in file]
    table = polars.read_parquet(files, hive_partitioning=True)
    assert len(files) == 2 and len(table) == 2 * len(ackclock.explain(CAPTURE).connections)
    assert set(table["file"]) == {"./k.pcap.gz", url}


def test_a_path_that_is_too_long_for_a_folder(tmp_path: Path) -> None:
    long = tmp_path / ("a" * 100) / ("b" * 100) / "kernel.pcap.gz"
    long.parent.mkdir(parents=True)
    long.write_bytes(CAPTURE.read_bytes())
    with pytest.raises(ackclock.Error, match=f"^{long}: it is too long to name ") as raised:
        ackclock.explain_archive([CAPTURE, long], tmp_path / "out")
    assert raised.value.file == str(long) and not (tmp_path / "out").exists()


def test_errors_name_the_argument(tmp_path: Path) -> None:
    with pytest.raises(ackclock.Error, match="^filter: filter `bogus x` on frames of ") as raised:
        ackclock.explain(CAPTURE, filter="bogus x")
    assert raised.value.key == "filter"
    explained = ackclock.explain(CAPTURE)
    for top in [-1, 2**70]:
        with pytest.raises(ackclock.Error) as raised:
            explained.write_html(tmp_path, top=top)
        told = f"top: {top} is no number of connections from 0 on"
        assert (str(raised.value), raised.value.key) == (told, "top")


def test_an_experiment_is_that_of_the_command(tmp_path: Path) -> None:
    name = "lin-kung/figure-5"
    args = ["papers", "run", name, "--quick"]
    result = ackclock.experiment(name, quick=True)
    assert result.outcomes == json.loads(command(*args, "--format", "json"))
    assert str(result) == command(*args)
    command(*args, "--parquet", str(tmp_path / "samples.parquet"))
    expected = polars.read_parquet(tmp_path / "samples.parquet")
    assert len(expected) > 0 and polars.DataFrame(result.samples).equals(expected)
    assert result._repr_html_().startswith("<iframe srcdoc=")
    result.write_html(tmp_path / "pages")
    assert (tmp_path / "pages" / "index.html").exists()


def test_experiments_of_files() -> None:
    result = ackclock.experiment(str(ROOT / "examples" / "experiment.toml"), quick=True)
    assert len(result.outcomes) == 1
    with pytest.raises(ackclock.Error, match="there is no .*`nowhere.toml`"):
        ackclock.experiment("nowhere.toml")
    with pytest.raises(ackclock.Error, match="give the name of a paper"):
        ackclock.experiment()


def test_experiments_say_what_no_packet_met(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "experiment.toml").read_text()
    file = tmp_path / "unmet.toml"
    file.write_text(text.replace('loss = [{', "loss = [{ drop = { segments = [5000] } }, {"))
    text = file.read_text().replace("loss[0].bernoulli", "loss[1].bernoulli")
    file.write_text(text)
    called = [sys.executable, "-m", "ackclock", "experiment", str(file), "--quick"]
    said = subprocess.run(called, check=False, capture_output=True, text=True).stderr
    with pytest.warns(ackclock.UnmetWarning) as warned:
        result = ackclock.experiment(str(file), quick=True)
    assert len(result.unmet) > 1
    assert said == "".join(f"warning: {sentence}\n" for sentence in result.unmet)
    assert [str(one.message) for one in warned] == result.unmet
    assert warned[0].filename == __file__


def test_captures_that_yield_nothing(tmp_path: Path) -> None:
    with pytest.raises(ackclock.Error, match="^nope: cannot be read") as raised:
        ackclock.explain("nope")
    assert raised.value.file == "nope"
    damaged = tmp_path / "damaged.pcap"
    damaged.write_bytes(b"\xd4\xc3\xb2\xa1\x02\x00")
    with pytest.raises(ackclock.Error, match=f"^{damaged}: ") as raised:
        ackclock.explain(damaged)
    assert raised.value.file == str(damaged)
    other = tmp_path / "other.pcap"
    other.write_bytes(b"\x7fELF")
    with pytest.raises(ackclock.Error, match=f"^{damaged}: .*; {other}: ") as raised:
        ackclock.explain(damaged, other)
    assert raised.value.file is None
