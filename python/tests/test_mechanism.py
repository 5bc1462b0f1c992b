"""Mechanisms written in Python."""

import math
import traceback
from typing import Any

import pytest

import ackclock
from ackclock.mechanism import (
    Ack,
    Detect,
    Lost,
    Mechanism,
    Next,
    Notices,
    Pacing,
    Probe,
    Regulate,
    Segmentation,
    Select,
    State,
    Timer,
    Undo,
    Verdict,
    Window,
    register,
)
from scenarios import LOSSY


class SecondDuplicate(Detect):
    """The second duplicate ACK means that the first unacknowledged segment is lost."""

    def on_ack(self, state: State, ack: Ack) -> Lost | None:
        return Lost.head() if ack.duplicate and state.dupacks == 2 else None


class ThirdDuplicate(Detect):
    def on_ack(self, state: State, ack: Ack) -> Lost | None:
        return Lost.head() if ack.duplicate and state.dupacks == state.dupthresh else None


class RenoWindow(Window):
    """RFC 5681 with appropriate byte counting left out, as `reno-window` has it."""

    def on_ack(self, state: State, ack: Ack) -> int:
        if state.cwnd < state.ssthresh:
            return state.cwnd + min(ack.newly_acked, state.mss)
        return state.cwnd + max(state.mss * state.mss // state.cwnd, 1)

    def on_loss(self, state: State, flight: int) -> int:
        return max(flight // 2, 2 * state.mss)

    def on_timeout(self, state: State, flight: int, repeated: bool) -> int:
        return state.ssthresh if repeated else max(flight // 2, 2 * state.mss)


class Pipe(Regulate):
    def in_flight(self, state: State) -> int:
        return state.pipe

    def on_enter(self, state: State, ack: Ack) -> int:
        return state.ssthresh

    def on_ack(self, state: State, ack: Ack) -> int:
        return state.ssthresh

    def on_exit(self, state: State, ack: Ack) -> int:
        return state.ssthresh


class LimitedTransmit(Probe):
    def allowance(self, state: State) -> int:
        return min(state.dupacks, 2) * state.mss


class WholeSegments(Segmentation):
    def next(self, state: State, in_flight: int) -> int | None:
        left = state.written - state.snd_max
        room = min(state.cwnd - in_flight, state.window_edge - state.snd_max)
        return min(left, state.mss) if 0 < min(left, state.mss) <= room else None


DROPS = [14, 26, 28]


def sent(strategy: str) -> list[tuple[float, int, str]]:
    """What was sent when and why."""
    events = ackclock.compare(strategy, drop=DROPS).events.rows()
    return [(e["t"], e["seq"], e["cause"]) for e in events if e["event"] == "sent"]


def test_a_python_mechanism_does_as_the_one_it_copies() -> None:
    register("third", ThirdDuplicate)
    register("own-reno", RenoWindow)
    register("own-pipe", Pipe, without_sack="inflate")
    register("own-lt", LimitedTransmit)
    assert sent("newreno+third") == sent("newreno")
    assert sent("sack+own-reno+own-pipe") == sent("sack")
    register("own-segments", WholeSegments)
    assert sent("newreno+own-segments") == sent("newreno")
    assert sent("newreno+own-lt") == sent("newreno+lt") != sent("newreno")


def test_another_answer_makes_a_difference() -> None:
    register("second", SecondDuplicate)
    result = ackclock.compare("newreno,newreno+second", drop=[14])
    own = [e for e in result.events.rows() if e["cause"] == "fast_retransmit"]
    assert [e["detected_by"] for e in own] == ["dupack", "second"]
    first, second = (e["t"] for e in own)
    assert second < first
    assert "second" in str(result)


class Moody(Detect):
    """What it answers depends on what no seed knows."""

    enough = 2

    def on_ack(self, state: State, ack: Ack) -> Lost | None:
        return Lost.head() if ack.duplicate and state.dupacks == Moody.enough else None


def test_a_mechanism_has_to_be_deterministic() -> None:
    register("moody", Moody)
    result = ackclock.run(LOSSY, "reno+moody")
    Moody.enough = 3
    told = r"^scenario: reno\+moody with seed 1: the run came out otherwise .* deterministic$"
    with pytest.raises(ackclock.Error, match=told):
        print(result.events)
    with pytest.raises(ackclock.Error, match=told):
        print(result.recovery)
    Moody.enough = 2
    assert len(result.events) > 0 and len(result.recovery) == 1


def test_an_answer_of_the_wrong_type() -> None:
    class Wrong(Detect):
        def on_ack(self, state: State, ack: Ack) -> Lost | None:
            answer: Any = 42
            return answer

    register("wrong", Wrong)
    told = r"\bWrong\.on_ack returned 42; it has to return Lost \| None, with whole numbers .*$"
    with pytest.raises(TypeError, match=told):
        ackclock.compare("reno+wrong", drop=[14])


def test_deadlines_that_time_cannot_pass() -> None:
    class Stuck(Detect):
        def on_ack(self, state: State, ack: Ack) -> Lost | None:
            return None

        def deadline(self) -> float | None:
            return 0.0

    class Expired(Timer):
        def on_sample(self, state: State, sent: float) -> bool:
            return False

        def rto(self) -> float:
            return 1.0

        def min_rto(self) -> float:
            return 1.0

        def expiry(self, state: State, rto: float) -> float:
            return 0.0

    for name, mechanism, method in [("stuck", Stuck, "deadline"), ("expired", Expired, "expiry")]:
        register(name, mechanism)
        told = f"`{name}`: 10000 deadlines passed .*`{method}` has to return a later time"
        with pytest.raises(RuntimeError, match=told):
            ackclock.compare(f"reno+{name}", drop=[14])


def test_an_answer_of_the_wrong_type_without_annotations() -> None:
    class Wrong(Detect):
        def on_ack(self, state, ack):  # type: ignore # pyright: ignore
            return 42

    register("wrong", Wrong)
    told = r"\bWrong\.on_ack returned 42; it has to return Lost \| None, with whole numbers .*$"
    with pytest.raises(TypeError, match=told):
        ackclock.compare("reno+wrong", drop=[14])


def test_many_runs_on_all_threads_are_those_of_one() -> None:
    register("second", SecondDuplicate)
    many = ackclock.run(LOSSY, "newreno+second", runs=6)
    single = ackclock.run(LOSSY, "newreno+second", runs=6, jobs=1)
    assert many.flows.rows() == single.flows.rows()


def test_an_exception_ends_the_run_with_its_traceback() -> None:
    class Broken(Detect):
        def on_ack(self, state: State, ack: Ack) -> Lost | None:
            if state.dupacks == 2:
                raise ZeroDivisionError("on purpose")
            return None

    register("broken", Broken)
    with pytest.raises(ZeroDivisionError, match="on purpose") as raised:
        ackclock.compare("newreno+broken", drop=DROPS)
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert (frames[-1].name, frames[-1].line) == (
        "on_ack",
        'raise ZeroDivisionError("on purpose")',
    )
    # It is over: the next run is not affected.
    assert len(ackclock.compare("newreno", drop=DROPS).flows) == 1


def test_an_exception_of_the_constructor_counts_too() -> None:
    class Broken(Detect):
        def __init__(self) -> None:
            raise LookupError("no such thing")

        def on_ack(self, state: State, ack: Ack) -> Lost | None:
            return None

    register("broken", Broken)
    with pytest.raises(LookupError, match="no such thing"):
        ackclock.compare("newreno+broken")


@pytest.mark.parametrize("strategy", ["newreno", "sack", "prr", "rack-tlp", "linux"])
def test_what_a_mechanism_raises_as_it_is_built_is_raised(strategy: str) -> None:
    class Unbuilt(Detect):
        def __init__(self) -> None:
            raise ZeroDivisionError("built")

        def on_ack(self, state: State, ack: Ack) -> Lost | None: ...

    class Unasked(Detect):
        def on_ack(self, state: State, ack: Ack) -> Lost | None: ...

        def notices(self) -> Notices:
            raise ZeroDivisionError("asked")

    for mechanism, told in [(Unbuilt, "built"), (Unasked, "asked")]:
        register("mine", mechanism)
        with pytest.raises(ZeroDivisionError, match=f"^{told}$"):
            ackclock.run(LOSSY, f"{strategy}+mine")
        # A name is no reason to build it.
        assert len(ackclock.Grid(LOSSY, f"{strategy}+mine").cells()) == 1


@pytest.mark.parametrize("wrong", [math.nan, -3.0, -math.inf])
def test_times_are_seconds_from_0_on(wrong: float) -> None:
    class Rto(Timer):
        def on_sample(self, state: State, sent: float) -> bool:
            return True

        def rto(self) -> float:
            return wrong

        def min_rto(self) -> float:
            return 1.0

    class Paced(Pacing):
        def next(self, state: State) -> float:
            return wrong

        def on_sent(self, state: State, len: int) -> None: ...

    class Retimed(Undo):
        def on_ack(self, state: State, ack: Ack) -> Verdict | None:
            return Verdict.retime(wrong, 0.0)

    for mechanism, method in [(Rto, "rto"), (Paced, "next"), (Retimed, "on_ack")]:
        register("mine", mechanism)
        told = rf"\.{method} returned .*{wrong}.*; times are seconds from 0 on$"
        with pytest.raises(ValueError, match=told):
            ackclock.run(LOSSY, "newreno+mine")


def test_a_time_in_the_past_may_be_before_the_beginning() -> None:
    def runs(time: float) -> list[dict[str, Any]]:
        class Before(Detect):
            def on_ack(self, state: State, ack: Ack) -> Lost | None:
                return Lost.sent_before(time, 0)

        register("mine", Before)
        return ackclock.run(LOSSY, "newreno+mine").flows.rows()

    assert runs(-1.0) == runs(0.0)
    with pytest.raises(ValueError, match="; times are seconds from 0 on$"):
        runs(math.nan)


def test_an_answer_of_another_type_says_which() -> None:
    class Wrong(Window):
        def on_ack(self, state: State, ack: Ack) -> int:
            return state.cwnd * 1.5  # type: ignore[return-value] # pyright: ignore

        def on_loss(self, state: State, flight: int) -> int:
            return flight

        def on_timeout(self, state: State, flight: int, repeated: bool) -> int:
            return flight

    register("wrong", Wrong)
    with pytest.raises(TypeError, match="Wrong.*on_ack returned 1500.0"):
        ackclock.compare("newreno+wrong")


def test_a_sender_that_never_stops_sending_can_be_interrupted() -> None:
    class Endless(Select):
        calls = 0

        def next(self, state: State) -> Next | None:
            Endless.calls += 1
            if Endless.calls == 50:
                raise StopIteration("enough")
            return Next.retransmit(0, counts=False)

    register("endless", Endless)
    with pytest.raises(StopIteration, match="enough"):
        ackclock.compare("sack+endless", drop=DROPS)


def test_what_cannot_be_registered() -> None:
    with pytest.raises(ackclock.Error, match="`newreno` is taken"):
        register("newreno", SecondDuplicate)
    with pytest.raises(ackclock.Error, match="cannot be a name"):
        register("a+b", SecondDuplicate)

    class Nothing(Detect):
        pass

    with pytest.raises(TypeError, match="Nothing has to define on_ack"):
        register("nothing", Nothing)

    class Misspelt(SecondDuplicate):
        def on_deadlin(self, state: State) -> Lost | None:
            return None

    with pytest.raises(TypeError, match=r"Misspelt\.on_deadlin is never called: Detect has none$"):
        register("misspelt", Misspelt)
    with pytest.raises(TypeError, match="no subclass of an axis"):
        register("nothing", Mechanism)
    with pytest.raises(ackclock.Error, match="did you mean|neither"):
        ackclock.compare("newreno+nothing")


def test_a_class_can_be_replaced() -> None:
    register("changing", ThirdDuplicate)
    before = sent("newreno+changing")
    register("changing", SecondDuplicate)
    assert sent("newreno+changing") != before


def test_classes_that_name_others_can_be_replaced() -> None:
    for _ in range(2):
        register("fallback", ThirdDuplicate)
        register("mine", SecondDuplicate, needs_sack=True, without_sack="fallback")
    register("later", SecondDuplicate)
    # What is replaced may name what came after it.
    register("fallback", ThirdDuplicate, needs_sack=True, without_sack="later")
    order = [name for name, *_ in ackclock._native.registered()]
    assert order.index("later") < order.index("fallback") < order.index("mine")
    with pytest.raises(ackclock.Error, match="`mine` is neither a preset nor a mechanism"):
        register("later", SecondDuplicate, needs_sack=True, without_sack="mine")
    assert order == [name for name, *_ in ackclock._native.registered()]
