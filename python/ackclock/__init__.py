"""TCP loss recovery: scenarios in, tables and pictures out.

`run` runs a scenario with any number of strategies and seeds, `compare` one connection over one
bottleneck. Results are Arrow tables, and pictures that a notebook shows.
"""

from . import mechanism
from ._native import VERSION as __version__
from ._native import Error, Plot, Result, Table
from ._run import CompareOptions, compare, run
from ._scenario import Scenario
from .mechanism import register

__all__ = [
    "CompareOptions",
    "Error",
    "Plot",
    "Result",
    "Scenario",
    "Table",
    "__version__",
    "compare",
    "mechanism",
    "register",
    "run",
]
