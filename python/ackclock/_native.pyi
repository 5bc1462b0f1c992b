from collections.abc import Sequence
from os import PathLike
from typing import Any, final

__all__ = [
    "Ack",
    "Error",
    "Experiments",
    "Explanation",
    "Page",
    "Plot",
    "Result",
    "Segment",
    "State",
    "Table",
    "VERSION",
    "captures",
    "check",
    "compare_scenario",
    "experiment",
    "explain",
    "main",
    "register",
    "registered",
    "run",
    "set_key",
    "to_toml",
]

VERSION: str

class Error(Exception):
    """What is wrong, as the command says it."""

    #: The file, or what else the text came from.
    file: str | None
    #: The line, from 1.
    line: int | None
    #: The key as a path such as `link[0].rate`.
    key: str | None
    #: What would be right, if the message does not say it.
    help: str | None

@final
class Table:
    """Rows in columns: polars, pandas, pyarrow and DuckDB take them without a copy."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries, for who has no library for tables at hand."""
    def to_parquet(self) -> bytes:
        """The rows as the bytes of a Parquet file."""
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Plot:
    """A picture, as a page to look around in and as SVG for print. A notebook shows the page."""

    @property
    def html(self) -> str:
        """A page that needs neither network nor server."""
    @property
    def svg(self) -> str:
        """The same for print."""
    def save(self, path: str | PathLike[str]) -> None:
        """Writes it to a file whose name ends in `.html` or `.svg`."""
    def _repr_html_(self) -> str: ...

@final
class Result:
    """What came out of runs.

    Events and statistics of recovery are had by running again when they are first asked for: the
    same seeds give the same runs.
    """

    @property
    def flows(self) -> Table:
        """One row for each flow of each run, with the keys of the command's JSON."""
    @property
    def links(self) -> Table:
        """One row for each link, direction and run."""
    @property
    def events(self) -> Table:
        """One row for each event of the first run of each strategy, with the keys of the command's
        `--events`."""
    @property
    def recovery(self) -> Table:
        """One row for each strategy: its statistics of recovery over all flows and runs."""
    @property
    def unmet(self) -> list[str]:
        """What did not happen although it was asked for, one sentence each: what `run` warns of."""
    def plot(self) -> Plot:
        """The time-sequence picture of the first run of each strategy."""
    def figure(
        self,
        path: str | PathLike[str],
        width: str = "84mm",
        start: float | None = None,
        stop: float | None = None,
    ) -> None:
        """Writes the picture as a figure for a paper. The name ends in `.pdf`, `.svg` or `.png`, or
        in `.csv` for its data. `start` and `stop` are seconds."""
    def recovery_text(self) -> str:
        """The table of recovery statistics as the command prints it."""

@final
class Experiments:
    """What came out of experiments."""

    @property
    def outcomes(self) -> list[dict[str, Any]]:
        """The outcomes with the keys of the command's JSON."""
    @property
    def samples(self) -> Table:
        """One row for each number that was measured in each run."""
    def write_html(self, folder: str | PathLike[str]) -> None:
        """Writes an index and a page with figures for each experiment into a folder."""
    def _repr_html_(self) -> str: ...

@final
class Explanation:
    """Captures explained: why connections stalled, and what would have avoided it."""

    @property
    def connections(self) -> Table:
        """One row for each connection."""
    @property
    def retransmissions(self) -> Table:
        """One row for each retransmission."""
    @property
    def timeouts(self) -> Table:
        """One row for each timeout."""
    @property
    def stalls(self) -> Table:
        """One row for each stall."""
    @property
    def problems(self) -> list[str]:
        """What is wrong with captures, one line each."""
    def write_html(self, folder: str | PathLike[str], top: int = 20) -> None:
        """Writes an index, and a page with a time-sequence graph for each of at most `top`
        connections that lost time, into a folder. 0 is all."""
    def plot(self, connection: int) -> Page:
        """The page of a connection, by its number."""
    def connection_text(self, connection: int) -> str:
        """A connection in full, as the command prints it."""

@final
class Page:
    """A page that a notebook shows."""

    @property
    def html(self) -> str:
        """It needs neither network nor server."""
    def _repr_html_(self) -> str: ...

@final
class State:
    """The state of a sender, with the field's names. Positions and sizes in bytes, times in
    seconds."""

    @property
    def now(self) -> float:
        """The time of the input at hand."""
    @property
    def mss(self) -> int:
        """SMSS."""
    @property
    def initial_window(self) -> int:
        """IW."""
    @property
    def sack(self) -> bool:
        """SACK was negotiated, and the strategy makes use of it."""
    @property
    def snd_una(self) -> int:
        """First unacknowledged byte."""
    @property
    def snd_nxt(self) -> int:
        """Next byte to send in sequence; set back to `snd_una` by a timeout."""
    @property
    def snd_max(self) -> int:
        """Position after the highest byte ever sent."""
    @property
    def window_edge(self) -> int:
        """Right edge of the offered window."""
    @property
    def written(self) -> int:
        """Position after the last byte the application has written."""
    @property
    def cwnd(self) -> int:
        """Congestion window, inflation included."""
    @property
    def ssthresh(self) -> int:
        """Slow start threshold; 2**64 - 1 while unset."""
    @property
    def srtt(self) -> float:
        """Smoothed round-trip time; zero before the first sample."""
    @property
    def rttvar(self) -> float:
        """RTTVAR; zero before the first sample."""
    @property
    def dupthresh(self) -> int:
        """DupThresh: three, unless detection adapts it."""
    @property
    def dupacks(self) -> int:
        """Duplicate ACKs since `snd_una` last advanced, and those that a probe carried over."""
    @property
    def recover(self) -> int:
        """Recovery point: `snd_max` when the last recovery or timeout happened."""
    @property
    def phase(self) -> str:
        """`open`, `recovery` or `loss`."""
    @property
    def flight(self) -> int:
        """FlightSize: bytes sent and not acknowledged cumulatively."""
    @property
    def window(self) -> int:
        """The smaller of cwnd and the offered window."""
    @property
    def pipe(self) -> int:
        """RFC 6675's estimate of the bytes in the network."""
    @property
    def can_send_sequential(self) -> bool:
        """Whether there is data at `snd_nxt` that the receiver's window allows to send."""
    @property
    def segments(self) -> list[Segment]:
        """The outstanding segments in order of sequence."""

@final
class Segment:
    """An outstanding segment, as the scoreboard has it."""

    @property
    def seq(self) -> int:
        """First byte."""
    @property
    def len(self) -> int:
        """Bytes."""
    @property
    def end(self) -> int:
        """Position after its last byte."""
    @property
    def first_sent(self) -> float:
        """When it was sent first."""
    @property
    def last_sent(self) -> float:
        """When it was sent last."""
    @property
    def transmissions(self) -> int:
        """How often it was sent."""
    @property
    def sacked(self) -> bool:
        """SACKed."""
    @property
    def lost(self) -> bool:
        """Judged lost."""
    @property
    def retransmitted(self) -> bool:
        """On its way again."""

@final
class Ack:
    """What one ACK says, summed up once for all mechanisms."""

    @property
    def ack(self) -> int:
        """Its acknowledgment number as a position."""
    @property
    def newly_acked(self) -> int:
        """Bytes newly acknowledged cumulatively."""
    @property
    def newly_sacked(self) -> int:
        """Bytes newly acknowledged selectively."""
    @property
    def newly_lost(self) -> int:
        """Bytes newly judged lost on this ACK, once detection has run."""
    @property
    def delivered(self) -> int:
        """Segments that it says have arrived."""
    @property
    def duplicate(self) -> bool:
        """It counts as a duplicate."""
    @property
    def prior_dupacks(self) -> int:
        """Duplicates counted before it."""
    @property
    def prior_una(self) -> int:
        """`snd_una` before it."""
    @property
    def prior_flight(self) -> int:
        """Bytes outstanding before it."""
    @property
    def flight_size(self) -> int:
        """FlightSize before it, as a loss would halve it."""
    @property
    def dsack(self) -> tuple[int, int] | None:
        """The range that a D-SACK block reported."""
    @property
    def rtt(self) -> float | None:
        """The round trip that it measured."""
    @property
    def ts_echo(self) -> int | None:
        """The timestamp that it echoed."""
    @property
    def retransmission_lost(self) -> bool:
        """A retransmission was detected as lost on this ACK."""

def register(
    axis: str,
    name: str,
    class_: type[Any],
    methods: set[str],
    summary: str,
    needs_sack: bool,
    without_sack: str | None,
) -> None: ...
def registered() -> list[tuple[str, type[Any], bool, str | None]]: ...
def main(args: Sequence[str]) -> int: ...
def run(
    text: str,
    file: str,
    strategies: Sequence[str],
    runs: int | None,
    seed: int | None,
    until: Sequence[str],
    jobs: int,
) -> Result: ...
def experiment(names: Sequence[str], quick: bool, jobs: int) -> Experiments: ...
def explain(
    captures: Sequence[str | PathLike[str]], filter: str | None, jobs: int, called: str | None
) -> Explanation: ...
def captures(path: str | PathLike[str]) -> list[str]: ...
def check(text: str, file: str) -> None: ...
def to_toml(table: dict[str, Any]) -> str: ...
def set_key(text: str, file: str, path: str, value: Any) -> str: ...
def compare_scenario(args: Sequence[str]) -> str: ...
