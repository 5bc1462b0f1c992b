"""Runs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from . import _native
from ._native import Experiments, Explanation, Result
from ._scenario import Scenario, scenario_of


class UnmetWarning(UserWarning):
    """Something did not happen in the runs although it was asked for: no packet met a fate or an
    entry of a drop list, or a mean is not known as well as `until` asks."""


def names(listed: str | Sequence[str] | None) -> list[str]:
    """Names as a list, or with commas between them."""
    if isinstance(listed, str):
        return [name.strip() for name in listed.split(",")]
    return [] if listed is None else list(listed)


def run(
    scenario: Scenario | str | os.PathLike[str] | Mapping[str, Any],
    strategies: str | Sequence[str] | None = None,
    *,
    runs: int | None = None,
    seed: int | None = None,
    until: str | Sequence[str] = (),
    jobs: int = 0,
) -> Result:
    """Runs a scenario, or the file or the dictionary of one.

    Each of `strategies` gets runs of its own, in which all flows use it; without them each flow
    uses the strategy that the scenario names. Each of `runs` has a seed of its own, from `seed` on.
    `until`, such as `"goodput=2%"`, has each strategy run until the half-width of the 95 %
    confidence interval is at most so much of the mean; `runs` is the most then, 1000 unless given.
    `jobs` is how many run at the same time, 0 one per processor; the results do not depend on it.
    What was asked for and did not happen is a warning, an `UnmetWarning`.
    """
    return _run(scenario_of(scenario), names(strategies), runs, seed, until, jobs)


def _run(
    scenario: Scenario,
    strategies: list[str],
    runs: int | None = None,
    seed: int | None = None,
    until: str | Sequence[str] = (),
    jobs: int = 0,
) -> Result:
    """As `run`, whose caller is who warnings point at."""
    for name, number in [("runs", runs), ("seed", seed), ("jobs", jobs)]:
        if number is not None and number < 0:
            raise ValueError(f"{name}: {number} is below 0")
    text, file, aims = scenario.text, scenario.file, names(until)
    result = _native.run(text, file, strategies, runs, seed, aims, jobs)
    for sentence in result.unmet:
        warnings.warn(sentence, UnmetWarning, stacklevel=3)
    return result


class CompareOptions(TypedDict, total=False):
    """The options of `ackclock compare`, which have the same names and mean the same."""

    #: Segments whose first transmission is lost; of several connections, a list for each.
    drop: Sequence[int] | Sequence[Sequence[int]]
    #: Retransmissions that are lost: `"14:1"` is the first one of segment 14.
    drop_retransmission: Sequence[str]
    segments: int
    mss: int
    rate: str
    delay: str
    queue: int
    rwnd: int
    min_rto: str
    initial_window: int
    delayed_ack: str
    max_burst: int
    first_rtt: str
    handshake: bool
    timestamps: bool
    duration: str


def compare(strategies: str | Sequence[str], **options: Unpack[CompareOptions]) -> Result:
    """Runs one connection over one bottleneck with each strategy."""
    chosen = names(strategies)
    arguments = [f"--strategy={','.join(chosen)}", *_arguments(options)]
    text = _native.compare_scenario(arguments)
    return _run(Scenario(text, file="compare"), chosen)


def experiment(*names: str, quick: bool = False, jobs: int = 0) -> Experiments:
    """Runs experiments: those of papers, such as `lin-kung` or `lin-kung/figure-5`, and those of
    files, folders and patterns. `quick` takes fewer runs, for a first look."""
    return _native.experiment(names, quick, jobs)


def explain(
    *captures: str | os.PathLike[str], filter: str | None = None, jobs: int = 0
) -> Explanation:
    """Explains captures and folders of captures. `filter` is an expression of tcpdump."""
    return _native.explain(captures, filter, jobs, None)


def _arguments(options: Mapping[str, Any]) -> Iterator[str]:
    for key, value in options.items():
        option = "--" + key.replace("_", "-")
        if isinstance(value, bool):
            if value:
                yield option
        elif isinstance(value, (str, int, float)):
            yield f"{option}={value}"
        else:
            items = list(value)
            lists = items if items and not isinstance(items[0], (str, int)) else [items]
            for one in lists:
                yield f"{option}={','.join(map(str, one))}"
