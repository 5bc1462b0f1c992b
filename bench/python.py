#!/usr/bin/env python3
"""What the Python package costs over the command, and how fast rows get to polars.

Run it with the Python that has the wheel: `make bench-python`. Each number is the best of a few.
"""
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import polars

import ackclock

SCENARIO = ackclock.Scenario(
    {
        "duration": "1000s",
        "link": [{"from": "a", "to": "b", "rate": "100mbit", "delay": "5ms",
                  "loss": [{"bernoulli": {"p": 0.001}}]}],
        "flow": [{"from": "a", "to": "b", "source": "bulk"}],
    }
)


def best(times, work):
    """The least time of several, and what came out."""
    took = []
    for _ in range(times):
        begin = time.perf_counter()
        result = work()
        took.append(time.perf_counter() - begin)
    return min(took), result


def main():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bulk.toml"
        file.write_text(SCENARIO.text)
        # Both begin with an interpreter that imports the package; what follows is compared.
        command = [sys.executable, "-m", "ackclock", "run", file, "--strategy=sack", "--jobs=1"]
        script = f"import ackclock; print(ackclock.run({str(file)!r}, 'sack', jobs=1))"
        called = [command, [sys.executable, "-c", script]]
        took = [[], []]
        for _ in range(5):
            for which, args in enumerate(called):
                begin = time.perf_counter()
                subprocess.run(args, check=True, capture_output=True)
                took[which].append(time.perf_counter() - begin)
        own, python = map(min, took)
        print(f"run: command {own:.3f} s, Python {python:.3f} s: {100 * (python / own - 1):+.1f} %")

        millions = ackclock.run(SCENARIO.set("duration", "60s"), "sack").events
        took, frame = best(5, lambda: polars.DataFrame(millions))
        print(f"events to polars: {len(frame)} rows of {frame.width} columns in {took:.3f} s")

        def events():
            return polars.DataFrame(ackclock.run(SCENARIO.set("duration", "60s"), "sack").events)

        took, frame = best(3, events)
        print(f"the same with the two runs that they take: {took:.3f} s")

        second = SCENARIO.set("duration", "500s")
        alone, _ = best(3, lambda: ackclock.run(second, "sack", jobs=1))
        grid = ackclock.Grid(second, "sack", runs=10, runs_per_cell=1)
        with ProcessPoolExecutor(1) as pool:
            pool.submit(ackclock.run, SCENARIO.set("duration", "1s"), "sack").exception()
            begin = time.perf_counter()
            assert ackclock.sweep(grid, Path(folder) / "out", pool).done == 10
            swept = (time.perf_counter() - begin) / 10
        print(f"sweep: a run of {alone:.3f} s takes {swept:.3f} s: {100 * (swept / alone - 1):+.1f} %")


if __name__ == "__main__":
    main()
