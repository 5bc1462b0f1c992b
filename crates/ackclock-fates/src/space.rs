//! A space of cases: everything that the path may do to a window.

use std::fmt;
use std::str::FromStr;

use ackclock_tcp::Span;

use crate::connection::{Connection, FIRST, RTT};
use crate::schedule::Schedule;

/// How much later a late segment arrives: everything sent with it overtakes it.
pub const LATENESS: Span = Span(RTT.0 / 2);

/// The largest window: 3^12 cases.
pub const MAX_WINDOW: u32 = 12;
/// The largest window of a [disturbed](Space::disturbed) space.
pub const MAX_DISTURBED: u32 = 6;

/// What the path does to a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// By segment of the window, how many of its transmissions are lost: none, the original, or the
    /// first retransmission too.
    pub lost: Vec<u8>,
    /// The one that arrives [`LATENESS`] later, from 0. It is not lost.
    pub late: Option<u8>,
    /// The ACKs that are lost, from 0, the first that the window draws.
    pub acks: Vec<u8>,
}

/// All cases of a connection, numbered: with fewer events come first, if one is part of the other.
#[derive(Clone, Debug)]
pub struct Space {
    /// The connection.
    pub connection: Connection,
    /// Sets of ACKs that are lost: none, each one, each two; only none unless it is disturbed.
    acks: Vec<Vec<u8>>,
    /// How many choices there are of the late one: one, which is none, unless it is disturbed.
    lates: u64,
}

impl Space {
    /// Every segment arrives, or its original is lost, or its first retransmission too.
    pub fn losses(connection: Connection) -> Space {
        Space { connection, acks: vec![Vec::new()], lates: 1 }
    }

    /// The same, times one or two lost ACKs or none among the first two windows of them, times one
    /// late segment or none.
    pub fn disturbed(connection: Connection) -> Space {
        let of = 2 * connection.window as u8;
        let mut acks = vec![Vec::new()];
        acks.extend((0..of).map(|a| vec![a]));
        acks.extend((0..of).flat_map(|a| (a + 1..of).map(move |b| vec![a, b])));
        Space { connection, acks, lates: u64::from(connection.window) + 1 }
    }

    fn codes(&self) -> u64 {
        3u64.pow(self.connection.window)
    }

    /// How many numbers there are; not each is a case.
    pub fn numbers(&self) -> u64 {
        self.codes() * self.lates * self.acks.len() as u64
    }

    /// The case of a number; `None` if the late segment would be a lost one.
    pub fn case(&self, number: u64) -> Option<Case> {
        let mut code = number % self.codes();
        let rest = number / self.codes();
        let mut lost = Vec::with_capacity(self.connection.window as usize);
        for _ in 0..self.connection.window {
            lost.push((code % 3) as u8);
            code /= 3;
        }
        let late = (rest % self.lates).checked_sub(1).map(|late| late as u8);
        if late.is_some_and(|late| lost[usize::from(late)] > 0) {
            return None;
        }
        let acks = self.acks[(rest / self.lates) as usize].clone();
        Some(Case { lost, late, acks })
    }

    /// The numbers of the cases that have one event less.
    pub(crate) fn smaller(&self, number: u64) -> impl Iterator<Item = u64> {
        let codes = self.codes();
        let (code, rest) = (number % codes, number / codes);
        let places = (0..self.connection.window).map(|place| 3u64.pow(place));
        let losses = places.filter(move |place| code / place % 3 > 0);
        let (late, set) = (rest % self.lates, rest / self.lates);
        let without_late = (late > 0).then(|| number - late * codes);
        let own = &self.acks[set as usize];
        let subset = move |other: &Vec<u8>| {
            other.len() + 1 == own.len() && other.iter().all(|ack| own.contains(ack))
        };
        let sets = (0..set).zip(&self.acks).filter(move |(_, other)| subset(other));
        let step = codes * self.lates;
        losses
            .map(move |place| number - place)
            .chain(without_late)
            .chain(sets.map(move |(other, _)| number - (set - other) * step))
    }
}

impl Case {
    /// The packets that it concerns.
    pub fn events(&self) -> usize {
        let lost: usize = self.lost.iter().map(|&n| usize::from(n)).sum();
        lost + usize::from(self.late.is_some()) + self.acks.len()
    }

    /// As a schedule.
    pub fn schedule(&self, into: &mut Schedule) {
        into.clear();
        for (segment, &lost) in (FIRST..).zip(&self.lost) {
            (1..=u32::from(lost)).for_each(|n| into.lose(segment, n));
        }
        if let Some(late) = self.late {
            into.delay(FIRST + u64::from(late), 1, LATENESS);
        }
        // Each segment before the window has drawn an ACK of its own.
        self.acks.iter().for_each(|&ack| into.lose_ack(FIRST + 1 + u64::from(ack)));
    }
}

/// `20,22-24:2,late:25,ack:24`: segment 20 is lost, 22 to 24 and their retransmissions, 25 is late,
/// and the fourth ACK that the window draws is lost, the 24th of the connection. `none` for none.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        let mut first = FIRST;
        for alike in self.lost.chunk_by(|a, b| a == b) {
            let (after, times) = (first + alike.len() as u64, alike[0]);
            let times = if times > 1 { format!(":{times}") } else { String::new() };
            match alike {
                [0, ..] => {}
                [_] | [_, _] => words.extend((first..after).map(|s| format!("{s}{times}"))),
                _ => words.push(format!("{first}-{}{times}", after - 1)),
            }
            first = after;
        }
        words.extend(self.late.map(|late| format!("late:{}", FIRST + u64::from(late))));
        words.extend(self.acks.iter().map(|&ack| format!("ack:{}", FIRST + 1 + u64::from(ack))));
        f.write_str(if words.is_empty() { "none" } else { "" })?;
        f.write_str(&words.join(","))
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Case, String> {
        let mut case = Case::default();
        if text.trim() == "none" {
            return Ok(case);
        }
        for word in text.split(',').map(str::trim) {
            case.add(word).map_err(|why| format!("`{word}`: {why}"))?;
        }
        let lost = |late: u8| case.lost.get(usize::from(late)).is_some_and(|&times| times > 0);
        match case.late {
            Some(late) if lost(late) => Err(format!(
                "segment {} is lost, so that it cannot be late",
                FIRST + u64::from(late)
            )),
            _ => Ok(case),
        }
    }
}

impl Case {
    /// Adds what a word says.
    fn add(&mut self, word: &str) -> Result<(), String> {
        let form = || {
            "none of 20 (lost), 20:2 (and its retransmission), 20-22, late:20, ack:21 and none"
                .to_string()
        };
        let place = |number: &str, what: &str, first: u64, count: u32| {
            let last = first + u64::from(count) - 1;
            let number = number.parse::<u64>().map_err(|_| form())?;
            match number.checked_sub(first) {
                Some(place) if number <= last => Ok(place as u8),
                _ => Err(format!("{what} are {first} to {last}")),
            }
        };
        let segment = |number: &str| place(number, "segments of a window", FIRST, MAX_WINDOW);
        match word.split_once(':') {
            Some(("late", number)) => {
                if self.late.replace(segment(number)?).is_some() {
                    return Err("only one segment may be late".into());
                }
            }
            Some(("ack", number)) => {
                let ack = place(number, "ACKs that a window draws", FIRST + 1, 2 * MAX_WINDOW)?;
                if self.acks.contains(&ack) {
                    return Err("this ACK is lost already".into());
                }
                self.acks.push(ack);
            }
            times => {
                let (segments, times) = times.unwrap_or((word, "1"));
                let times = times.parse().ok().filter(|n| (1..=2).contains(n)).ok_or_else(form)?;
                let (from, to) = segments.split_once('-').unwrap_or((segments, segments));
                let (from, to) = (usize::from(segment(from)?), usize::from(segment(to)?));
                self.lost.resize(self.lost.len().max(to + 1), 0);
                let lost = self.lost.get_mut(from..=to).ok_or("it ends before it begins")?;
                if lost.iter().any(|&times| times > 0) {
                    return Err("a segment of it is lost already".into());
                }
                lost.fill(times);
            }
        }
        Ok(())
    }

    /// Whether it concerns only a window of so many segments, and the first two windows of ACKs.
    pub fn fits(&self, window: u32) -> bool {
        let least = |place: Option<u8>| place.map_or(0, |place| u32::from(place) + 1);
        self.lost.len() as u32 <= window
            && least(self.late) <= window
            && least(self.acks.iter().max().copied()) <= 2 * window
    }
}

#[cfg(test)]
mod tests;
