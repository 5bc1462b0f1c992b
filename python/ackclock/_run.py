"""Runs."""

from __future__ import annotations

import operator
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from . import _native
from ._native import Experiments, Explanation, Result
from ._scenario import Scenario, scenario_of


#: What the command and TOML have room for.
MOST_RUNS = 100_000
MOST_SEED = 2**63 - 1


class UnmetWarning(UserWarning):
    """Something did not happen in the runs although it was asked for: no packet met a fate or an
    entry of a drop list, or a mean is not known as well as `until` asks."""


def names(listed: str | Sequence[str] | None) -> list[str]:
    """Names as a list, or with commas between them."""
    if isinstance(listed, str):
        return [name.strip() for name in listed.split(",")]
    return [] if listed is None else list(listed)


def once(key: str, values: Iterable[Any]) -> None:
    """A value that is there twice would count twice."""
    before: set[int | float | str] = set()
    for shown in map(str, values):
        same: int | float | str = shown
        for number_of in (int, float):
            try:
                same = number_of(shown)
                break
            except ValueError:
                pass
        if same in before:
            raise _native.error(key, f"{shown} is there twice")
        before.add(same)


def number(key: str, value: Any, least: int, most: int) -> int:
    """The value, if it is a whole number between these."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise _native.error(key, f"{value!r} is not a whole number") from None
    if not least <= whole <= most:
        raise _native.error(key, f"{whole} is not from {least} to {most}")
    return whole


def some(strategies: list[str]) -> list[str]:
    """Strategies that were given: none at all is most likely a mistake."""
    if not strategies:
        told = "there is none; without `strategies` each flow uses that of the scenario"
        raise _native.error("strategies", told)
    return strategies


def threads(jobs: int) -> int:
    """The value of `jobs`, if it makes sense."""
    return number("jobs", jobs, 0, 1024)


def processes(jobs: int | None) -> int | None:
    """The same of processes, where leaving it out means one per processor."""
    return None if jobs is None else number("jobs", jobs, 1, 1024)


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
    chosen = [] if strategies is None else some(names(strategies))
    once("strategies", chosen)
    return _run(scenario_of(scenario), chosen, runs, seed, until, jobs)


def _run(
    scenario: Scenario,
    strategies: list[str],
    runs: int | None = None,
    seed: int | None = None,
    until: str | Sequence[str] = (),
    jobs: int = 0,
) -> Result:
    """As `run`, whose caller is who warnings point at."""
    if runs is not None:
        runs = number("runs", runs, 1, MOST_RUNS)
    if seed is not None:
        seed = number("seed", seed, 0, MOST_SEED)
    text, file, lines = scenario.text, scenario._place, scenario._lines
    jobs, aims = threads(jobs), names(until)
    result = _native.run(text, file, lines, strategies, runs, seed, aims, jobs)
    for sentence in result.unmet:
        warnings.warn(sentence, UnmetWarning, stacklevel=3)
    return result


class CompareOptions(TypedDict, total=False):
    """The options of `ackclock compare`, which have the same names and mean the same."""

    #: Segments whose first transmission is lost; of several connections, a list for each.
    #: `"20-22"` is a range.
    drop: int | str | Sequence[int | str] | Sequence[Sequence[int | str]]
    #: Retransmissions that are lost: `"14:1"` is the first one of segment 14.
    drop_retransmission: str | Sequence[str]
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
    unknown = [key for key in options if key not in CompareOptions.__annotations__]
    if unknown:
        # The command has options of its own, which the result would know nothing of.
        raise TypeError(f"compare() has no option {', '.join(unknown)}")
    chosen = names(strategies)
    arguments = [f"--strategy={','.join(chosen)}", *_arguments(options)]
    try:
        text = _native.compare_scenario(arguments)
    except _native.Error as error:
        raise _of_option(error) from None
    return _run(Scenario(_native.from_toml(text, "compare"), file="compare"), chosen)


def _of_option(error: _native.Error) -> _native.Error:
    """What is wrong with an option of the command, said of the argument of that name."""
    option = r"'?--([a-z-]+)(?: <[^>]*>)?'?"
    found = re.search(option, str(error))
    if error.key is not None or found is None:
        return error
    def argument(option: re.Match[str]) -> str:
        key = option[1].replace("-", "_")
        return "strategies" if key == "strategy" else key

    key = argument(found)
    text = re.sub(option, argument, str(error)).removeprefix("compare: ")
    return _native.error(key, text.removeprefix(f"{key}: "))


def experiment(*names: str | os.PathLike[str], quick: bool = False, jobs: int = 0) -> Experiments:
    """Runs experiments: those of papers, such as `lin-kung` or `lin-kung/figure-5`, and those of
    files, folders and patterns. `quick` takes fewer runs, for a first look."""
    result = _native.experiment([os.fspath(name) for name in names], quick, threads(jobs))
    for sentence in result.unmet:
        warnings.warn(sentence, UnmetWarning, stacklevel=2)
    return result


def explain(
    *captures: str | os.PathLike[str], filter: str | None = None, jobs: int = 0
) -> Explanation:
    """Explains captures and folders of captures. `filter` is an expression of tcpdump. What is
    wrong with a capture is in `problems`; it is an error if there is no connection at all."""
    explained = _native.explain(captures, filter, threads(jobs), None)
    if len(explained.connections) == 0:
        explained.raise_problems()
    return explained


def _arguments(options: Mapping[str, Any]) -> Iterator[str]:
    for key, value in options.items():
        option = "--" + key.replace("_", "-")
        if isinstance(value, bool):
            if value:
                yield option
        elif isinstance(value, (str, int, float)):
            yield f"{option}={value}"
        elif not isinstance(value, Iterable):
            try:
                # Such as a number of numpy.
                yield f"{option}={operator.index(value)}"
            except TypeError:
                told = f"{value!r} is no value of an option"
                raise _native.error(key, told) from None
        else:
            items: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
            single = not items or isinstance(items[0], str) or not isinstance(items[0], Iterable)
            for one in [items] if single else items:
                # The command has no word for nothing.
                each = list(map(str, one))
                if each or len(items) > 1:
                    yield f"{option}={','.join(each)}"
