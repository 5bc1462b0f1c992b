//! The retransmissions of the trace, and which packets of a capture they are.

use ackclock_tcp::Time;

use super::trace::{Caller, Line, What};

/// States of the kernel's sender (Linux `include/net/tcp.h`, `TCP_CA_Recovery` and so on).
pub(super) const RECOVERY: u8 = 3;
pub(super) const LOSS: u8 = 4;

/// A retransmission in the trace.
pub(super) struct Event {
    pub at: Time,
    /// Who called for it; where the trace does not say, what its state lets infer.
    pub by: Caller,
    /// The sender's state.
    pub state: u8,
    /// Its state before the timer expired.
    pub before: u8,
    /// The first one since this state was entered.
    pub first: bool,
}

pub(super) fn of(lines: &[&Line]) -> Vec<Event> {
    let (mut state, mut before, mut first, mut lost_all) = (0, 0, true, false);
    let mut events = Vec::new();
    for line in lines {
        let by = match line.what {
            What::State(new) => {
                first |= new != state;
                // The timer sets the state before it retransmits.
                (before, state) = (state, new);
                lost_all = new == LOSS;
                continue;
            }
            What::Retransmit(Caller::Unknown) => match state {
                // `tcp_retransmit_timer` calls `tcp_enter_loss` each time, and then retransmits.
                LOSS if lost_all => Caller::Timer,
                LOSS | RECOVERY => Caller::Queue,
                _ => Caller::LossProbe,
            },
            What::Retransmit(by) => by,
        };
        events.push(Event { at: line.at, by, state, before, first });
        first &= by != Caller::Queue;
        before = state;
        lost_all = false;
    }
    events
}

/// For each packet which event it belongs to: both in order, each event with at least one packet
/// where that can be, in all as close in time as can be.
pub(super) fn align(packets: &[Time], events: &[Time]) -> Vec<usize> {
    /// Nanoseconds that an event without a packet costs.
    const EMPTY: u64 = 1_000_000_000;
    if events.is_empty() {
        return vec![usize::MAX; packets.len()];
    }
    let cost = |p: Time, e: usize| p.0.abs_diff(events[e].0);
    // best[e]: the least cost of the packets so far with the last of them at event e. from[p][e]:
    // the event of the one before.
    let mut best: Vec<u64> = (0..events.len() as u64).map(|e| e * EMPTY).collect();
    let mut from: Vec<Vec<u32>> = Vec::with_capacity(packets.len());
    for (p, &packet) in packets.iter().enumerate() {
        let mut came = vec![0; events.len()];
        let mut next = vec![0; events.len()];
        // The best way to arrive from an event before this one, every event between being left
        // without packets.
        let mut earlier: Option<(u64, usize)> = None;
        for e in 0..events.len() {
            let stay = (best[e], e);
            let (least, at) = match earlier {
                Some(earlier) if p > 0 && earlier.0 < stay.0 => earlier,
                _ => stay,
            };
            came[e] = at as u32;
            next[e] = least.saturating_add(cost(packet, e));
            let onward = earlier.map(|(c, at)| (c.saturating_add(EMPTY), at));
            earlier = Some(onward.filter(|&(c, _)| c < best[e]).unwrap_or((best[e], e)));
        }
        from.push(came);
        best = next;
    }
    let last = |e: &usize| best[*e].saturating_add((events.len() - 1 - e) as u64 * EMPTY);
    let mut at = (0..events.len()).min_by_key(last).unwrap_or(0);
    let mut of = vec![0; packets.len()];
    for p in (0..packets.len()).rev() {
        of[p] = at;
        at = from[p][at] as usize;
    }
    of
}

#[cfg(test)]
mod tests;
