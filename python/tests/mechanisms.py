"""Mechanisms of the engine written once more in Python, for `test_axes.py`."""

from __future__ import annotations

from ackclock.mechanism import (
    Ack,
    Detect,
    Law,
    Lost,
    Notice,
    Notices,
    Probe,
    ProbeNow,
    Response,
    State,
    Timed,
    Timer,
    Undo,
    Verdict,
    Windows,
)


class Notified(Detect):
    """`notified-at-once`."""

    answers: set[str] = set()

    def __init__(self) -> None:
        self.began = 0.0
        self.again: tuple[int, int] | None = None

    def notices(self) -> Notices:
        return Notices.AT_ONCE

    def noted(self, lost: Lost) -> Lost:
        Notified.answers.add(f"{lost.what} again" if lost.again else lost.what)
        return lost

    def on_notice(self, state: State, notice: Notice) -> Lost | None:
        at = [segment for segment in state.segments if segment.seq == notice.seq]
        if not at:
            return None
        (r,) = at
        transmission = (notice.seq, notice.number)
        last = notice.number == r.transmissions
        in_recovery = state.phase == "recovery" and r.last_sent >= self.began
        if last and notice.number > 1 and in_recovery and self.again is None:
            self.again = transmission
        if notice.at_once:
            return self.noted(Lost.replace(*transmission))
        if state.phase == "open":
            self.began, self.again = state.now, None
        return self.noted(Lost.transmission(*transmission, again=self.again == transmission))

    def on_ack(self, state: State, ack: Ack) -> Lost | None:
        if state.recovering or not any(segment.lost for segment in state.segments):
            return None
        self.began, self.again = state.now, None
        return self.noted(Lost.standing())


class LowerOnce(Response):
    """`lower-once`."""

    lowered = False

    def on_enter(self) -> None:
        self.lowered = False

    def on_lost(self, state: State, law: Law) -> Windows | None:
        if self.lowered:
            return None
        self.lowered = True
        flight = max(min(state.flight, state.ssthresh) - state.limited, 0)
        return Windows(min(law.on_loss(state, flight), state.ssthresh), state.cwnd)


class LinuxTlp(Probe):
    """`linux-tlp`."""

    def __init__(self) -> None:
        self.probe: tuple[int, bool] | None = None
        self.advanced = 0.0
        self.fired: float | None = None

    def since(self, state: State) -> float | None:
        segments = state.segments
        return max(self.advanced, segments[-1].first_sent) if segments else None

    def reported(self, state: State, ack: Ack) -> bool:
        if self.probe is None or state.recover >= self.probe[0] or ack.dsack is None:
            return False
        left, right = ack.dsack
        return right == self.probe[0] and right - left <= state.mss

    def repaired(self, state: State, ack: Ack) -> bool:
        if self.probe is None:
            return False
        high_seq, again = self.probe
        if state.recover >= high_seq:
            self.probe = None
            return False
        if ack.ack < high_seq:
            return False
        beyond = ack.ack > high_seq
        bare_duplicate = ack.unchanged and ack.newly_sacked == 0
        if not again or ack.dsack_of_probe or beyond or bare_duplicate:
            self.probe = None
        return again and not ack.dsack_of_probe and beyond

    def on_ack_first(self, state: State, ack: Ack, law: Law) -> Windows | None:
        if ack.newly_acked > 0:
            self.advanced = state.now
        if not self.repaired(state, ack):
            return None
        ssthresh = law.on_loss(state, ack.flight_size)
        return Windows(ssthresh, ssthresh)

    def deadline(self, state: State) -> float | None:
        since, segments = self.since(state), state.segments
        disorder = any(segment.sacked or segment.retransmitted for segment in segments)
        if since is None or not state.sack or state.phase != "open" or disorder:
            return None
        if self.fired == since:
            return None
        slack = state.min_rto if len(segments) == 1 else 0.002
        return since + (2 * state.srtt + slack if state.srtt else 1.0)

    def on_deadline(self, state: State) -> ProbeNow | None:
        self.fired = self.since(state)
        if self.probe is not None and state.recover < self.probe[0]:
            return None
        new = state.unsent_len
        self.probe = (state.snd_max + (new or 0), new is None)
        return ProbeNow.NEW_OR_COPY


class Tlp(Probe):
    """`tlp`, without what timestamps and FINs mean to it."""

    def __init__(self) -> None:
        self.probe: tuple[int, bool] | None = None
        self.measured = self.spent = False
        self.advanced = 0.0

    def repaired(self, state: State, ack: Ack) -> bool:
        if self.probe is None:
            return False
        end_seq, again = self.probe
        if state.recover >= end_seq:
            self.probe = None
            return False
        if ack.ack < end_seq:
            return False
        dsack = ack.dsack is not None and ack.dsack[1] == end_seq
        bare_duplicate = ack.unchanged and ack.dsack is None and ack.sacked_to == 0
        beyond = ack.ack > end_seq
        if not again or dsack or beyond or bare_duplicate:
            self.probe = None
        return again and not dsack and beyond

    def on_ack(self, state: State, ack: Ack, law: Law) -> Windows | None:
        self.measured |= ack.rtt is not None
        self.spent &= ack.rtt is None
        if ack.newly_acked > 0:
            self.advanced = state.now
        if not self.repaired(state, ack):
            return None
        ssthresh = law.on_loss(state, ack.flight_size)
        return Windows(ssthresh, ssthresh)

    def deadline(self, state: State) -> float | None:
        segments = state.segments
        measured = (self.measured or state.srtt > 0) and not self.spent
        if not segments or not state.sack or self.probe is not None or not measured:
            return None
        if state.recovering or any(segment.sacked for segment in segments):
            return None
        slack = 0.2 if len(segments) == 1 else 0.0
        pto = 2 * state.srtt + slack if state.srtt else 1.0
        return max(self.advanced, segments[-1].first_sent) + pto

    def on_deadline(self, state: State) -> ProbeNow | None:
        new = state.unsent_len
        self.probe = (state.snd_max + (new or 0), new is None)
        self.spent = True
        return ProbeNow.NEW_OR_LAST


class FRto(Undo):
    """`f-rto`."""

    def __init__(self) -> None:
        self.step = 0
        self.retransmitted = 0

    def on_response(self, state: State, timeout: bool) -> None:
        first = state.phase == "open" and (not state.sack or state.recover <= state.snd_una)
        again = state.phase == "loss" and self.step == 1
        self.step = 1 if timeout and (first or again) else 0
        self.retransmitted = state.snd_una

    def on_retransmit(self, state: State, seq: int, len: int) -> None:
        if self.step == 1:
            self.retransmitted = max(self.retransmitted, seq + len)

    def on_ack(self, state: State, ack: Ack) -> Verdict | None:
        advances = ack.newly_acked > 0
        if self.step == 0 or not (advances or ack.duplicate):
            return None
        if self.step == 1 and not advances and state.sack:
            return None
        step, self.step = self.step, 0
        if state.phase != "loss":
            return None
        if step == 1 and advances:
            if ack.ack >= state.recover or ack.ack < self.retransmitted or not state.new_len:
                return None
            self.step = 2
            return Verdict.send_new()
        if step == 2 and state.sack:
            beyond = ack.ack > state.recover or ack.sacked_to > state.recover
            return Verdict.needed() if beyond else Verdict.spurious()
        if step == 2:
            return Verdict.spurious() if advances else Verdict.needed()
        return None


class Rfc4015(Undo):
    """`rfc4015`."""

    Prior = tuple[int, float, float, int]

    def __init__(self) -> None:
        self.prior: Rfc4015.Prior | None = None
        self.retimes: Rfc4015.Prior | None = None

    def on_response(self, state: State, timeout: bool) -> None:
        if state.phase == "open":
            self.prior = None
        if timeout and self.prior is None:
            pipe = max(state.flight, state.ssthresh)
            self.prior = (pipe, state.srtt + 0.002, state.rttvar, state.snd_max)

    def on_ack(self, state: State, ack: Ack) -> Verdict | None:
        if ack.rtt is None or self.retimes is None or ack.prior_una < self.retimes[3]:
            return None
        _, srtt, rttvar, _ = self.retimes
        self.retimes = None
        return Verdict.retime(max(srtt, ack.rtt), max(rttvar, round(ack.rtt * 1e9) // 2 / 1e9))

    def respond(self, state: State, ack: Ack) -> Windows | None:
        if self.prior is None:
            return None
        self.retimes, self.prior = self.prior, None
        cwnd = state.flight + min(ack.newly_acked, state.initial_window)
        return Windows(self.retimes[0], cwnd)


class Ns2Timer(Timer):
    """`ns2-timer` without timestamps. Times are kept in nanoseconds."""

    def __init__(self) -> None:
        self.interval = self.scaled_srtt = self.scaled_rttvar = self.timeouts = 0
        self.timed: tuple[int, float] | None = None

    def sample(self, rtt: float) -> None:
        ns = max(round(rtt * 1e9), 1)
        if self.scaled_srtt == 0:
            self.scaled_srtt, self.scaled_rttvar = ns << 3, ns << 1
        else:
            delta = ns - (self.scaled_srtt >> 3)
            self.scaled_srtt = max(self.scaled_srtt + delta, 1)
            more = abs(delta) - (self.scaled_rttvar >> 2)
            self.scaled_rttvar = max(self.scaled_rttvar + more, 1)
        self.interval = ((self.scaled_rttvar << 3) + self.scaled_srtt) >> 3

    def on_sample(self, state: State, sent: float) -> bool:
        if state.snd_max > 0:
            return False
        self.sample(state.now - sent)
        return True

    def on_new(self, state: State, end: int) -> None:
        self.timed = self.timed or (end, state.now)

    def on_response(self, timeout: bool) -> None:
        self.timed = None
        self.timeouts += timeout
        if timeout and self.timeouts >= 4:
            self.scaled_rttvar += self.scaled_srtt >> 3
            self.scaled_srtt = 0

    def on_advance(self, state: State, ack: Ack) -> Timed | None:
        if state.phase == "recovery":
            self.timeouts = 0 if state.sack else self.timeouts
            return Timed.ACKNOWLEDGED if state.sack else None
        if self.timed is None or self.timed[0] > ack.ack:
            return None
        _, sent = self.timed
        self.timed = None
        self.sample(state.now - sent)
        self.timeouts = 0
        return Timed.ACKNOWLEDGED

    def rto(self) -> float:
        return self.interval / 1e9 if self.interval else 1.0

    def srtt(self) -> float:
        return (self.scaled_srtt >> 3) / 1e9

    def rttvar(self) -> float:
        return self.scaled_rttvar // 4 / 1e9

    def min_rto(self) -> float:
        return 1.0

    def restarts_on(self, cause: str, replaces_lost: bool) -> bool:
        return cause == "fast_retransmit" or (cause == "recovery" and replaces_lost)


def retransmitted_segments(state: State) -> int:
    return sum(r.retransmitted for r in state.segments)


def any_retransmitted(state: State) -> bool:
    """`tcp_any_retrans_done`."""
    segments = state.segments
    again = segments and segments[0].transmissions > 1
    return any(r.retransmitted for r in segments) or bool(again)


class LinuxUndo(Undo):
    """`linux-undo`, with SACK."""

    answers: set[str] = set()

    def __init__(self) -> None:
        self.undo_marker: int | None = None
        self.undo_retrans: int | None = None
        self.retrans_stamp: int | None = None
        self.prior: Windows | None = None
        self.probed = 0

    def begin(self, state: State, timeout: bool) -> None:
        self.undo_marker = state.snd_una
        on_way = 0 if timeout else retransmitted_segments(state)
        self.undo_retrans = on_way + (self.probed > state.snd_una) or None
        cwnd = state.cwnd // state.mss
        ssthresh = max(state.ssthresh, (cwnd // 2 + cwnd // 4) * state.mss)
        self.prior = Windows(ssthresh, state.cwnd)

    def count_dsacks(self, ack: Ack) -> None:
        if ack.dsack is None or self.undo_marker is None or self.undo_retrans is None:
            return
        _, end = ack.dsack
        if end > self.undo_marker and ack.dsack_segments > 0:
            reported = ack.dsack_segments if end <= ack.prior_una else ack.dsack_again
            self.undo_retrans = max(self.undo_retrans - reported, 0)

    def delayed(self, ack: Ack) -> bool:
        if self.retrans_stamp is None:
            return True
        return bool(ack.ts_echo) and ack.ts_echo < self.retrans_stamp

    def may_undo(self, ack: Ack) -> bool:
        return self.undo_marker is not None and (self.undo_retrans == 0 or self.delayed(ack))

    def windows(self, state: State) -> Windows:
        self.undo_marker = None
        prior, self.prior = self.prior or Windows(state.ssthresh, state.cwnd), None
        return Windows(max(prior.ssthresh, state.ssthresh), max(prior.cwnd, state.cwnd))

    def restored(self, state: State, *, losses_stand: bool) -> Verdict:
        LinuxUndo.answers.add(f"restore {losses_stand}")
        return Verdict.restore(self.windows(state), losses_stand=losses_stand)

    def on_response(self, state: State, timeout: bool) -> None:
        if not timeout:
            if not any_retransmitted(state):
                self.retrans_stamp = None
            self.begin(state, timeout)
        elif (
            state.phase == "open"
            or state.recover <= state.snd_una
            or (state.phase == "loss" and state.timed_out != state.snd_una)
        ):
            self.begin(state, timeout)
        self.probed = 0

    def on_retransmit(self, state: State, seq: int, len: int) -> None:
        if state.phase == "open":
            self.probed = seq + len
            return
        if self.retrans_stamp is None:
            self.retrans_stamp = int(round(state.now * 1e9) // 1_000_000)
        if self.undo_retrans is None:
            self.undo_retrans = max(retransmitted_segments(state), 1)
        else:
            self.undo_retrans += 1

    def on_ack(self, state: State, ack: Ack) -> Verdict | None:
        self.count_dsacks(ack)
        over = state.snd_una >= state.recover
        verdict = self.judge(state, ack, over)
        if (state.phase == "open" or over) and not any_retransmitted(state):
            self.retrans_stamp = None
        return verdict

    def judge(self, state: State, ack: Ack, over: bool) -> Verdict | None:
        all_reported = self.undo_retrans == 0 and self.undo_marker is not None
        if state.phase == "open":
            return self.restored(state, losses_stand=True) if all_reported else None
        if state.phase == "recovery":
            return self.within_recovery(state, ack, all_reported)
        if ack.newly_acked > 0 and self.may_undo(ack):
            return self.restored(state, losses_stand=False)
        return self.restored(state, losses_stand=True) if over and self.may_undo(ack) else None

    def within_recovery(self, state: State, ack: Ack, all_reported: bool) -> Verdict | None:
        if state.snd_una >= state.recover:
            return self.restored(state, losses_stand=True) if self.may_undo(ack) else None
        if ack.newly_acked > 0 and self.undo_marker is not None and self.delayed(ack):
            if any(r.retransmitted for r in state.segments):
                LinuxUndo.answers.add("hold")
                return Verdict.hold()
            if not any_retransmitted(state):
                self.retrans_stamp = None
            return self.restored(state, losses_stand=False)
        return self.restored(state, losses_stand=True) if all_reported else None

    def respond(self, state: State, ack: Ack) -> Windows | None:
        return self.windows(state)


class LinuxFRto(Undo):
    """`linux-f-rto`, with SACK."""

    answers: set[str] = set()

    def __init__(self) -> None:
        self.frto = self.tried = False

    def on_response(self, state: State, timeout: bool) -> None:
        again = state.timed_out == state.snd_una
        self.frto = timeout and (state.phase == "open" or again)
        self.tried = False

    def on_ack(self, state: State, ack: Ack) -> Verdict | None:
        if state.phase != "loss" or not self.frto:
            return None
        if ack.original is not None and ack.original[1] <= state.recover:
            self.frto = False
            LinuxFRto.answers.add("spurious")
            return Verdict.spurious()
        sent_new = state.snd_max > state.recover
        tried, self.tried = self.tried, False
        if tried and not sent_new:
            self.frto = False
        elif sent_new:
            self.frto = ack.newly_sacked == 0 and not (ack.unchanged and ack.dsack is None)
        elif ack.newly_acked > 0 and state.snd_una < state.recover:
            self.frto = state.written > state.snd_max and state.window_edge > state.snd_max
            self.tried = self.frto
            if self.frto:
                LinuxFRto.answers.add("new_first")
                return Verdict.new_first()
        return None
