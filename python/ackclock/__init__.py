"""TCP loss recovery: scenarios in, tables and pictures out.

`run` runs a scenario with any number of strategies and seeds, `compare` one connection over one
bottleneck. Results are Arrow tables, and pictures that a notebook shows.
"""

from . import mechanism
from ._archive import explain_archive
from ._cells import Cells, Failure
from ._native import VERSION as __version__
from ._native import Error, Experiments, Explanation, Page, Plot, Result, Table
from ._ray import ray_executor
from ._run import CompareOptions, UnmetWarning, compare, experiment, explain, run
from ._scenario import Scenario
from ._sweep import Grid, sweep
from .mechanism import register

__all__ = [
    "Cells",
    "CompareOptions",
    "Error",
    "Experiments",
    "Explanation",
    "Failure",
    "Grid",
    "Page",
    "Plot",
    "Result",
    "Scenario",
    "Table",
    "UnmetWarning",
    "__version__",
    "compare",
    "experiment",
    "explain",
    "explain_archive",
    "mechanism",
    "ray_executor",
    "register",
    "run",
    "sweep",
]
