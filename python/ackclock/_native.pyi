from collections.abc import Sequence
from os import PathLike
from typing import Any, final

__all__ = [
    "Ack",
    "Error",
    "Experiments",
    "Explanation",
    "Law",
    "Notice",
    "Outgoing",
    "Page",
    "Plot",
    "Result",
    "Segment",
    "State",
    "Table",
    "VERSION",
    "captures",
    "check",
    "check_strategy",
    "compare_scenario",
    "error",
    "experiment",
    "explain",
    "flow_columns",
    "from_parquet",
    "from_toml",
    "main",
    "overlap",
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
    def __reduce__(self) -> tuple[Any, ...]: ...
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
    same seeds give the same runs. A mechanism in Python has to be deterministic; that a run came
    out otherwise is an error.
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
    def unmet(self) -> list[str]:
        """What did not happen although it was asked for, one sentence each: what `experiment` warns
        of."""
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
    def raise_problems(self) -> None:
        """Raises what is wrong with captures, if anything is; the error names the file, if it is
        one."""
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
    def closed(self) -> bool:
        """The application has no more to write."""
    @property
    def fin(self) -> bool:
        """The last byte written is a FIN."""
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
    def timed_out(self) -> int | None:
        """The first unacknowledged byte when the retransmission timer last expired."""
    @property
    def min_rto(self) -> float:
        """The least retransmission timeout."""
    @property
    def dupthresh(self) -> int:
        """DupThresh: three, unless detection adapts it."""
    @property
    def dupacks(self) -> int:
        """Duplicate ACKs since `snd_una` last advanced, and those that a probe carried over."""
    @property
    def assumed_dupacks(self) -> int:
        """Of those, the ones that were counted without an ACK at the end of a recovery."""
    @property
    def emulated(self) -> int:
        """Without SACK, outstanding segments that duplicates are taken for (`Detect.emulate`)."""
    @property
    def limited(self) -> int:
        """Bytes sent beyond cwnd since duplicates began; they are not part of FlightSize."""
    @property
    def recover(self) -> int:
        """Recovery point: `snd_max` when the last recovery or timeout happened."""
    @property
    def phase(self) -> str:
        """`open`, `recovery` or `loss`."""
    @property
    def max_window(self) -> int:
        """The largest window the receiver ever offered."""
    @property
    def nagle(self) -> bool:
        """Nagle's algorithm is on."""
    @property
    def tick_phase(self) -> float:
        """Phase of coarse timers."""
    @property
    def recovering(self) -> bool:
        """A loss is being repaired, by recovery or after a timeout."""
    @property
    def received_dupacks(self) -> int:
        """Duplicate ACKs that were received."""
    @property
    def departed(self) -> int:
        """Bytes that have left the network when a recovery begins."""
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
    def packets_in_flight(self) -> int:
        """Segments in the network, as Linux counts."""
    @property
    def can_send_sequential(self) -> bool:
        """Whether there is data at `snd_nxt` that the receiver's window allows to send."""
    @property
    def sequential_len(self) -> int | None:
        """Bytes of the segment that comes next in sequence, as far as data, the receiver's window
        and Nagle's algorithm allow one; cwnd is not looked at."""
    @property
    def new_len(self) -> int | None:
        """Bytes of the next segment of new data, as `sequential_len` has it."""
    @property
    def unsent_len(self) -> int | None:
        """The same, whatever Nagle's algorithm says."""
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
    @property
    def waits(self) -> bool:
        """Judged lost, and no retransmission of it is on its way."""
    @property
    def on_its_way(self) -> bool:
        """A transmission of it is on its way, as far as anyone knows."""
    @property
    def sent_before(self) -> int:
        """The position from which on everything was sent after its last transmission."""

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
    def sacked_before(self) -> int:
        """Of those, bytes that had been selectively acknowledged before."""
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
    def lost(self) -> int:
        """Segments newly judged lost on this ACK, also those whose retransmission was lost too."""
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
    def dsack_segments(self) -> int:
        """Segments of that range; 0 if more duplicates were reported than retransmissions."""
    @property
    def dsack_of_probe(self) -> bool:
        """It reports the tail loss probe that is on its way."""
    @property
    def dsack_again(self) -> int:
        """Segments of that range that were outstanding and had been retransmitted."""
    @property
    def original(self) -> tuple[int, int] | None:
        """Begin and end of the first segment that it newly reports and that was sent once."""
    @property
    def sacked_to(self) -> int:
        """The highest position that a SACK block of this ACK covered, 0 without one."""
    @property
    def rtt(self) -> float | None:
        """The round trip that it measured."""
    @property
    def rtt_latest(self) -> float | None:
        """The round trip of the segment sent last among those that it newly acknowledged and that
        were sent once."""
    @property
    def ts_echo(self) -> int | None:
        """The timestamp that it echoed."""
    @property
    def retransmission_acked(self) -> float | None:
        """When the last of those segments was sent that it newly acknowledged and that had been
        sent more than once."""
    @property
    def last_sent(self) -> float | None:
        """When the segment that ends at its acknowledgment number was last sent."""
    @property
    def unchanged(self) -> bool:
        """Acknowledgment number and window are those before it, and it carries no data."""
    @property
    def retransmission_lost(self) -> bool:
        """A retransmission was detected as lost on this ACK."""

@final
class Notice:
    """The network lost a transmission."""

    @property
    def seq(self) -> int:
        """First byte of the segment."""
    @property
    def number(self) -> int:
        """Which transmission of the segment; 1 is the first."""
    @property
    def at_once(self) -> bool:
        """This is the moment of the loss, and not that at which its ACK would have come."""

@final
class Outgoing:
    """A segment with data that is being sent."""

    @property
    def seq(self) -> int:
        """Position of its first byte."""
    @property
    def len(self) -> int:
        """Its bytes."""
    @property
    def first(self) -> bool:
        """It is new data, which no transmission before it carried."""
    @property
    def cause(self) -> str:
        """Why it is sent."""
    @property
    def in_flight(self) -> int:
        """Bytes that count against cwnd, with it."""

@final
class Law:
    """The window law of a connection, during the call that it is passed to. Its answers are those
    of `Window`, in bytes."""

    def initial(self, mss: int) -> int:
        """The initial window where the scenario names none."""
    def on_ack(self, state: State, ack: Ack) -> int:
        """The new cwnd after an ACK."""
    def on_loss(self, state: State, flight: int) -> int:
        """The new ssthresh after a loss with so many bytes outstanding."""
    def on_timeout(self, state: State, flight: int, repeated: bool) -> int:
        """The new ssthresh on a timeout; `repeated` if the segment timed out before."""

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
    lines: bool,
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
def check(text: str, file: str, lines: bool) -> None: ...
def error(
    key: str, message: str, file: str | None = None, text: str | None = None
) -> Error: ...
def flow_columns() -> list[str]: ...
def check_strategy(name: str) -> None: ...
def to_toml(table: dict[str, Any]) -> str: ...
def overlap(one: str, other: str) -> bool: ...
def from_parquet(bytes: bytes) -> Table: ...
def from_toml(text: str, file: str) -> dict[str, Any]: ...
def set_key(text: str, file: str, path: str, value: Any) -> str: ...
def compare_scenario(args: Sequence[str]) -> str: ...
