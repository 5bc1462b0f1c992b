#!/usr/bin/env python3
"""What the Python package costs over the command, and how fast rows get to polars.

Run it with the Python that has the wheel: `make bench-python`. Times are of the CPU.
"""
import functools
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import polars

import ackclock

SCENARIO = ackclock.Scenario(
    {
        "duration": "3000s",
        "link": [{"from": "a", "to": "b", "rate": "100mbit", "delay": "5ms",
                  "loss": [{"bernoulli": {"p": 0.001}}]}],
        "flow": [{"from": "a", "to": "b", "source": "bulk"}],
    }
)


def best(times, work):
    """The least CPU time of several, and what came out. Whatever else runs counts less this way."""
    took = []
    for _ in range(times):
        begin = cpu()
        result = work()
        took.append(cpu() - begin)
    return min(took), result


def cpu():
    """Seconds of CPU of this process and of those that it has waited for."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(one)[:2]) for one in who)


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
                run = functools.partial(subprocess.run, args, check=True, capture_output=True)
                took[which].append(best(1, run)[0])
        own, python = map(min, took)
        print(f"run: command {own:.3f} s, Python {python:.3f} s: {100 * (python / own - 1):+.1f} %")

        millions = ackclock.run(SCENARIO.set("duration", "150s"), "sack").events
        took, frame = best(5, lambda: polars.DataFrame(millions))
        print(f"events to polars: {len(frame)} rows of {frame.width} columns in {took:.3f} s")

        def events():
            return polars.DataFrame(ackclock.run(SCENARIO.set("duration", "150s"), "sack").events)

        took, frame = best(3, events)
        print(f"the same with the two runs that they take: {took:.3f} s")

        # Ten cells, of the processes as well.
        alone, _ = best(1, lambda: ackclock.run(SCENARIO, "sack", runs=10, jobs=1))
        grid = ackclock.Grid(SCENARIO, "sack", runs=10, runs_per_cell=1)
        begin = cpu()
        with ProcessPoolExecutor(1) as pool:
            assert ackclock.sweep(grid, Path(folder) / "out", pool).done == 10
        swept = cpu() - begin
        print(f"sweep: ten runs of {alone / 10:.3f} s: {100 * (swept / alone - 1):+.1f} %")


if __name__ == "__main__":
    main()
