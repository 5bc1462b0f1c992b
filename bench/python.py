#!/usr/bin/env python3
"""What the Python package and a cluster cost over the command, and how fast rows get to polars.

Run it with the Python that has the wheel: `make bench-python`. Times are of the CPU, unless they
are said to be of the clock.
"""
import functools
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import polars
import psutil
from distributed import Client, LocalCluster

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


def cluster(folder, file):
    """Cells of one run each by a Dask cluster of two processes, and the same runs by the command
    with two threads, by turns. The cluster is there before, and so are its imports."""
    cells, turns = 20, 5
    ratios = {"clock": [], "CPU": []}
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
        workers = [psutil.Process(worker.process.process.pid) for worker in local.workers.values()]

        def spent():
            of_workers = [sum(worker.cpu_times()[:2]) for worker in workers]
            return time.monotonic(), cpu() + sum(of_workers)

        def took(work):
            (clock, busy), _, (clock_after, busy_after) = spent(), work(), spent()
            return clock_after - clock, busy_after - busy

        with Client(local) as client:
            executor = client.get_executor()
            # Cells with next to nothing to do: what remains is what a cell costs.
            tiny = SCENARIO.set("duration", "10ms")
            for name, seed in [("warm", 1), ("tiny", 1001)]:
                grid = ackclock.Grid(tiny, "sack", runs=200, seed=seed, runs_per_cell=1)
                clock, busy = took(lambda: ackclock.sweep(grid, Path(folder) / name, executor))
            each = f"{5 * busy:.1f} ms of CPU each, {5 * clock:.1f} ms of clock"
            print(f"Dask, 200 empty cells: {each}")
            for turn in range(turns):
                seed = 1 + turn * cells
                grid = ackclock.Grid(SCENARIO, "sack", runs=cells, seed=seed, runs_per_cell=1)
                command = [sys.executable, "-m", "ackclock", "run", file, "--strategy=sack"]
                command += [f"--runs={cells}", f"--seed={seed}", "--jobs=2", "--per-flow"]
                alone = took(lambda: subprocess.run(command, check=True, capture_output=True))
                swept = took(lambda: ackclock.sweep(grid, Path(folder) / "dask", executor))
                for ratio, plain, dask in zip(ratios.values(), alone, swept):
                    ratio.append(dask / plain)
                a_cell = alone[1] / cells
    for kind, ratio in ratios.items():
        each = ", ".join(f"{100 * (one - 1):+.1f}" for one in ratio)
        median = 100 * (statistics.median(ratio) - 1)
        print(f"Dask, cells of {a_cell:.2f} s, two processes: {median:+.1f} % of {kind} ({each})")


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
        cluster(folder, file)


if __name__ == "__main__":
    main()
