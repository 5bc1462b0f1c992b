"""The axes as Python sees them: all that the traits of the engine ask and answer."""

import re
from pathlib import Path
from typing import Any

import pytest

import ackclock
import mechanisms
from ackclock import mechanism
from ackclock.mechanism import (
    Ack,
    Law,
    Response,
    State,
    Undo,
    Verdict,
    Windows,
    register,
)
from scenarios import LOSSY

ENGINE = Path(__file__).parents[2] / "crates" / "ackclock-tcp" / "src"
#: What Rust needs to know and Python has otherwise: a mechanism wants to be called if its class
#: defines what is called, and it sees plain ACKs as well (`skips_plain_acks`). Laws by rate are
#: Rust's alone (`by_rate`), and a driver in Python has no clock that moves while it sends
#: (`on_drained`). A SYN of a timer in Python is doubled as RFC 6298 has it (`syn_rto`).
#: Its other waits are not rounded to ticks (`after`).
RUST_ONLY = {
    "name",
    "inner",
    "inner_mut",
    "watches_deliveries",
    "limits",
    "measures",
    "times",
    "skips_plain_acks",
    "sums_plain_acks",
    "on_plain_ack",
    "estimates",
    "enters_cwr",
    "cwr_is_a_state",
    "on_echo",
    "withdraws_cwr",
    "on_ecn",
    "on_too_big",
    "beta_ecn",
    "forget",
    "by_rate",
    "on_drained",
    "syn_rto",
    "after",
    "counts_segments",
    "judges_again",
    "reneges",
    "waits_for_short",
    "segment",
}


def traits() -> dict[str, set[str]]:
    """The methods of each axis in Rust."""
    found: dict[str, set[str]] = {}
    for file in ENGINE.glob("recovery/*/mod.rs"):
        trait = re.compile(r"^pub trait (\w+): Send \{\n(.*?)^\}", re.M | re.S)
        for name, body in trait.findall(file.read_text()):
            found[name] = set(re.findall(r"^    fn (\w+)", body, re.M))
    return found


def fields(file: str, struct: str) -> set[str]:
    """The public fields of a struct in Rust."""
    text = (ENGINE / file).read_text()
    (body,) = re.findall(rf"^pub struct {struct} \{{\n(.*?)^\}}", text, re.M | re.S)
    return set(re.findall(r"^    pub (\w+):", body, re.M))


def test_python_is_asked_all_that_rust_is() -> None:
    of_rust = traits()
    assert len(of_rust) == len(mechanism.AXES) == 13
    for axis in mechanism.AXES:
        methods = {key for key, value in vars(axis).items() if callable(value)}
        assert methods == of_rust[axis.__name__] - RUST_ONLY, axis


@pytest.mark.parametrize(
    ("seen", "file", "struct", "otherwise"),
    [
        (mechanism.State, "state.rs", "State", {"board"}),
        (mechanism.Ack, "summary.rs", "AckSummary", set[str]()),
        (mechanism.Segment, "scoreboard/record.rs", "Record", set[str]()),
        (mechanism.Outgoing, "recovery/segmentation/mod.rs", "Outgoing", set[str]()),
        (mechanism.Windows, "recovery/window/mod.rs", "Windows", set[str]()),
        (mechanism.Emulated, "recovery/detect/mod.rs", "Emulated", set[str]()),
    ],
)
def test_python_sees_all_that_rust_does(
    seen: type[Any], file: str, struct: str, otherwise: set[str]
) -> None:
    assert fields(file, struct) - otherwise <= {*dir(seen)}


def variants(file: str, enum: str) -> set[str]:
    """The variants of an enum in Rust, as Python writes them."""
    text = (ENGINE / "recovery" / file / "mod.rs").read_text()
    (body,) = re.findall(rf"^pub enum {enum} \{{\n(.*?)^\}}", text, re.M | re.S)
    names = re.findall(r"^    (\w+)", body, re.M)
    return {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in names}


@pytest.mark.parametrize(
    ("answer", "file", "nothing"),
    [
        (mechanism.Lost, "detect", {"nothing"}),
        (mechanism.Notices, "detect", set[str]()),
        (mechanism.Tick, "retransmission", {"nothing"}),
        (mechanism.Next, "select", set[str]()),
        (mechanism.Filler, "fill", set[str]()),
        (mechanism.ProbeNow, "probe", {"nothing"}),
        (mechanism.Verdict, "undo", {"open"}),
        (mechanism.Timed, "timer", {"nothing"}),
    ],
)
def test_python_answers_all_that_rust_can(answer: type[Any], file: str, nothing: set[str]) -> None:
    members = {name.lower() for name in dir(answer)}
    assert variants(file, answer.__name__) - nothing <= members


def events(scenario: Any, strategy: str, runs: int = 1) -> list[dict[str, Any]]:
    """All that happened, but for the names of those who judged."""
    named = ("strategy", "by", "detected_by")
    seen: list[dict[str, Any]] = []
    for seed in range(1, runs + 1):
        rows = ackclock.run(scenario, strategy, seed=seed).events.rows()
        seen += [{k: v for k, v in row.items() if k not in named} for row in rows]
    return seen


def test_losses_that_the_network_tells() -> None:
    register("own-notified", mechanisms.Notified, needs_sack=True)
    mechanisms.Notified.answers.clear()
    bad = ackclock.Scenario(LOSSY).set("link[0].loss[0].bernoulli.p", 0.25)
    own = events(bad, "oracle-drop+own-notified", runs=3)
    assert own == events(bad, "oracle-drop", runs=3)
    expected = {"replace", "transmission", "transmission again", "standing"}
    assert mechanisms.Notified.answers == expected


def test_a_response_asks_the_window_law() -> None:
    register("own-lower-once", mechanisms.LowerOnce)
    lossy = ackclock.Scenario(LOSSY).set("link[0].loss[0].bernoulli.p", 0.1)
    for law in ["reno-window", "cubic"]:
        strategy = f"rack-tlp+{law}"
        own = events(lossy, f"{strategy}+own-lower-once", runs=3)
        assert own == events(lossy, f"{strategy}+lower-once", runs=3)
        assert own != events(lossy, f"{strategy}+response-1", runs=3)


def test_a_law_in_python_answers_and_raises() -> None:
    asked: list[int] = []

    class Asks(Response):
        def on_lost(self, state: State, law: Law) -> Windows | None:
            mss = state.mss
            asked.append(law.initial(mss))
            asked.append(law.on_timeout(state, 20 * mss, False))
            return Windows(law.on_loss(state, 8 * mss), state.cwnd)

    class Law8(mechanism.Window):
        def on_ack(self, state: State, ack: Ack) -> int:
            return 16_000

        def on_loss(self, state: State, flight: int) -> int:
            if flight == 8 * state.mss:
                raise LookupError("eight")
            return flight // 2

        def on_timeout(self, state: State, flight: int, repeated: bool) -> int:
            return flight // 4

    register("asks", Asks)
    register("law-8", Law8)
    with pytest.raises(LookupError, match="eight"):
        ackclock.compare("newreno-lrx-1+asks+law-8", drop=[14], drop_retransmission=["14:1"])
    assert asked == [10_000, 5_000]


def test_a_law_answers_only_when_it_is_asked() -> None:
    kept: list[tuple[Law, State]] = []

    class Keeps(Response):
        def on_lost(self, state: State, law: Law) -> Windows | None:
            kept.append((law, state))
            return None

    register("keeps", Keeps)
    ackclock.compare("newreno-lrx-1+keeps", drop=[14], drop_retransmission=["14:1"])
    ((law, state),) = kept
    with pytest.raises(RuntimeError, match="only during the call"):
        law.on_loss(state, 1000)


#: Transfers with losses at their ends.
TAIL: dict[str, Any] = {
    "duration": "30s",
    "link": [
        {
            "from": "a",
            "to": "b",
            "rate": "2mbit",
            "delay": "20ms",
            "loss": [{"bernoulli": {"p": 0.2}}],
        }
    ],
    "flow": [{"from": "a", "to": "b", "source": {"segments": 12}}],
}


@pytest.mark.parametrize("name", ["linux-tlp", "tlp"])
def test_probes_ask_the_window_law(name: str) -> None:
    own = mechanisms.LinuxTlp if name == "linux-tlp" else mechanisms.Tlp
    register(f"own-{name}", own, needs_sack=True)
    seen = events(TAIL, f"sack+linux-timer+own-{name}", runs=20)
    assert seen == events(TAIL, f"sack+linux-timer+{name}", runs=20)
    assert "tail_loss_probe" in [event["cause"] for event in seen]
    assert seen != events(TAIL, "sack+linux-timer", runs=20)


#: A path that goes away for longer than the timeout.
SPIKES: dict[str, Any] = {
    "duration": "60s",
    "link": [
        {
            "from": "a",
            "to": "b",
            "rate": "1mbit",
            "delay": "50ms",
            "loss": [{"bernoulli": {"p": 0.01}}],
            "spikes": [
                {"at": "2s", "for": "200ms", "delay": "3s"},
                {"at": "8s", "for": "200ms", "delay": "2s"},
            ],
        }
    ],
    "flow": [{"from": "a", "to": "b", "source": {"segments": 1500}}],
}


@pytest.mark.parametrize("sack", ["newreno", "sack"])
def test_undo_restores_and_retimes(sack: str) -> None:
    register("own-f-rto", mechanisms.FRto)
    register("own-rfc4015", mechanisms.Rfc4015)
    seen = events(SPIKES, f"{sack}+own-f-rto+own-rfc4015", runs=3)
    assert seen == events(SPIKES, f"{sack}+f-rto+rfc4015", runs=3)
    assert {"undone", "timed_out"} <= {event["event"] for event in seen}
    assert "f_rto" in [event["cause"] for event in seen]
    # Without what RFC 4015 answers it goes on otherwise.
    assert seen != events(SPIKES, f"{sack}+own-f-rto", runs=3)


class Unsure(mechanisms.Rfc4015):
    """RFC 4015 without step 11."""

    def on_ack(self, state: State, ack: Ack) -> Verdict | None:
        return None


def test_a_timer_goes_on_from_the_estimates_of_an_undo() -> None:
    register("own-rfc4015", mechanisms.Rfc4015)
    register("unsure", Unsure)
    assert events(SPIKES, "sack+f-rto+own-rfc4015") != events(SPIKES, "sack+f-rto+unsure")


@pytest.mark.parametrize("strategy", ["newreno", "sack"])
def test_a_timer_that_times_segments_itself(strategy: str) -> None:
    register("own-ns2-timer", mechanisms.Ns2Timer)
    lossy = ackclock.Scenario(SPIKES).set("link[0].loss[0].bernoulli.p", 0.05)
    own = events(lossy, f"{strategy}+own-ns2-timer", runs=2)
    assert own == events(lossy, f"{strategy}+ns2-timer", runs=2)
    assert own != events(lossy, strategy, runs=2)


#: Linux with other mechanisms of the axis undo.
LINUX = (
    "linux-rack+linux-alert+response-1+linux-lost-first+linux-prr+linux-tlp+{}+{}+linux-cubic"
    "+linux-timer"
)

#: Packets overtake each other, and get lost.
REORDERED: dict[str, Any] = SPIKES | {
    "tcp": {"timestamps": True},
    "link": [
        SPIKES["link"][0] | {"reorder": {"p": 0.05, "delay": "60ms"}},
    ],
}


def test_undo_as_linux_has_it() -> None:
    register("own-linux-undo", mechanisms.LinuxUndo)
    register("own-linux-f-rto", mechanisms.LinuxFRto)
    mechanisms.LinuxUndo.answers.clear()
    mechanisms.LinuxFRto.answers.clear()
    lossy = ackclock.Scenario(SPIKES).set("link[0].loss[0].bernoulli.p", 0.2)
    for scenario in [REORDERED, lossy]:
        own = events(scenario, LINUX.format("own-linux-undo", "own-linux-f-rto"), runs=4)
        assert own == events(scenario, LINUX.format("linux-undo", "linux-f-rto"), runs=4)
    assert mechanisms.LinuxUndo.answers == {"restore False", "restore True", "hold"}
    assert mechanisms.LinuxFRto.answers == {"spurious", "new_first"}


class GoesOn(Undo):
    """The second ACK within a recovery shows that it was spurious; its phase goes on or not."""

    goes_on = True

    def __init__(self) -> None:
        self.acks = 0

    def on_response(self, state: State, timeout: bool) -> None:
        self.acks = 0

    def on_ack(self, state: State, ack: Ack) -> Verdict | None:
        self.acks += state.phase == "recovery"
        if state.phase != "recovery" or self.acks != 2:
            return None
        return Verdict.restore(Windows(7000, 9000), goes_on=self.goes_on)


class Ends(GoesOn):
    goes_on = False


def test_a_phase_goes_on_after_an_undo() -> None:
    register("goes-on", GoesOn)
    register("ends", Ends)
    found: dict[str, list[tuple[str, int, int]]] = {}
    for name in ["goes-on", "ends"]:
        rows = ackclock.compare(f"newreno+{name}", drop=[14]).events.rows()
        kinds = ("undone", "recovery_left", "recovery_entered")
        kept = [row for row in rows if row["event"] in kinds]
        found[name] = [(row["event"], row["ssthresh"], row["cwnd"]) for row in kept]
    assert found == {
        "goes-on": [
            ("recovery_entered", 7500, 10500),
            ("undone", 7000, 9000),
            ("recovery_left", 7000, 19000),
        ],
        "ends": [("recovery_entered", 7500, 10500), ("undone", 7000, 9000)],
    }


class Emulates(mechanism.Detect):
    """Without SACK each duplicate stands for a segment."""

    def on_ack(self, state: State, ack: Ack) -> mechanism.Lost | None:
        return mechanism.Lost.head() if ack.duplicate and state.dupacks == 3 else None

    def emulate(self, state: State, ack: Ack) -> mechanism.Emulated | None:
        if ack.duplicate:
            return mechanism.Emulated(state.emulated + 1, 1)
        return mechanism.Emulated(0, ack.delivered)


def test_duplicates_stand_for_segments() -> None:
    seen: list[tuple[int, int]] = []

    class Counts(mechanism.Window):
        def on_ack(self, state: State, ack: Ack) -> int:
            return state.cwnd

        def on_loss(self, state: State, flight: int) -> int:
            seen.append((state.emulated, state.packets_in_flight))
            return flight // 2

        def on_timeout(self, state: State, flight: int, repeated: bool) -> int:
            return flight // 2

    register("counts", Counts)
    register("emulates", Emulates)
    for strategy in ["newreno+counts", "newreno+counts+emulates"]:
        ackclock.compare(strategy, drop=[14], initial_window=10, segments=40)
    # Three of ten segments are taken for arrived.
    assert seen == [(0, 10), (3, 7)]


def test_no_such_answer() -> None:
    class Wrong(Undo):
        def on_ack(self, state: State, ack: Ack) -> Verdict | None:
            return Verdict("nonsense")

    register("wrong-undo", Wrong)
    with pytest.raises(ValueError, match="Verdict has no answer `nonsense`"):
        ackclock.compare("newreno+wrong-undo")
