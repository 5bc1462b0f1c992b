//! How right answers are, in numbers.

use std::fmt::Write as _;

use ackclock_report::percentile;
use serde_json::{Value, json};

use super::{Answer, Asked};

/// Differences in time saved below this are none: two ticks.
const TICKS: f64 = 0.02;

/// How right the answers are.
pub struct Summary {
    /// Timeouts about which something may have been said, and those about which something was.
    pub(super) timeouts: usize,
    pub(super) told: usize,
    /// Timeouts of senders whose own strategy may have been named, and how often it is said to
    /// avoid them, which is never so.
    pub(super) own: [usize; 2],
    /// Answers about other strategies than the sender's.
    pub(super) pairs: usize,
    /// Whose "avoided" is right.
    pub(super) right: usize,
    /// Said to be avoided, and of these those that are.
    pub(super) avoided: [usize; 2],
    /// Off by how much, in parts of what is saved: of those that do save, sorted.
    pub(super) off: Vec<f64>,
    /// Of those said to avoid the timeout, with something reported behind the loss and of tails:
    /// whose interval holds what is saved, and of which less and more is saved.
    pub(super) intervals: [[usize; 3]; 2],
}

impl Summary {
    /// Of these.
    pub fn of(asked: &Asked) -> Summary {
        let said = |a: &&&Answer| a.avoided[0];
        let is = |a: &&&Answer| a.avoided[1];
        // Where the sender did not time out, a probe was taken for a timeout.
        let own = |a: &&Answer| a.is_of_its_own() && a.avoided == [true, false];
        let own = asked.answers.iter().filter(own).count();
        let answers: Vec<&Answer> = asked.answers.iter().filter(|a| !a.is_of_its_own()).collect();
        let saves = answers.iter().filter(|a| a.avoided[1] && a.saved[1] > TICKS);
        let mut off: Vec<f64> =
            saves.map(|a| (a.saved[0] - a.saved[1]).abs() / a.saved[1]).collect();
        off.sort_by(f64::total_cmp);
        let right = answers.iter().filter(|a| a.avoided[0] == a.avoided[1]).count();
        let mut intervals = [[0; 3]; 2];
        for a in &answers {
            let Some([least, most]) = a.between else { continue };
            let (below, above) = (a.saved[1] < least, a.saved[1] > most);
            let place = if below { 1 } else { 2 * usize::from(above) };
            intervals[usize::from(a.tail)][place] += 1;
        }
        Summary {
            timeouts: asked.timeouts,
            told: asked.told,
            own: [asked.own, own],
            pairs: answers.len(),
            right,
            avoided: [
                answers.iter().filter(said).count(),
                answers.iter().filter(said).filter(is).count(),
            ],
            off,
            intervals,
        }
    }

    /// The intervals, those that hold, and those of which less and more is saved.
    pub(super) fn all_intervals(&self) -> [usize; 4] {
        let [[held, below, above], [tails, less, more]] = self.intervals;
        let all = [held + tails, below + less, above + more];
        [all.iter().sum(), all[0], all[1], all[2]]
    }

    /// A few lines.
    pub fn table(&self) -> String {
        let percent = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
        let mut out = format!("timeouts {}, of which {} are told of\n", self.timeouts, self.told);
        let _ = writeln!(
            out,
            "said to be avoided by the sender's own strategy: {} of {}",
            self.own[1], self.own[0]
        );
        let _ = writeln!(
            out,
            "pairs {}, \"avoided\" right in {:.1} %; of {} said to be avoided {:.1} % are",
            self.pairs,
            percent(self.right, self.pairs),
            self.avoided[0],
            percent(self.avoided[1], self.avoided[0])
        );
        let _ = writeln!(out, "error of the time saved, of {} that save:", self.off.len());
        for at in [50.0, 90.0] {
            let _ = match percentile(&self.off, at) {
                Some(off) => writeln!(out, "  {at} % are off by at most {:.1} %", 100.0 * off),
                None => Ok(()),
            };
        }
        let [all, held, below, above] = self.all_intervals();
        if all > 0 {
            let [held, below, above] = [held, below, above].map(|part| percent(part, all));
            let _ = writeln!(
                out,
                "90 % intervals, of {all}: {held:.1} % hold, less is saved of {below:.1} %, more of \
                 {above:.1} %"
            );
        }
        for (name, of) in ["with a sign of the loss", "of tails"].iter().zip(self.intervals) {
            let all = of.iter().sum();
            if all > 0 {
                let _ = writeln!(out, "  {name}, of {all}: {:.1} % hold", percent(of[0], all));
            }
        }
        out
    }

    /// The same.
    pub fn json(&self) -> Value {
        let [all, held, below, above] = self.all_intervals();
        json!({
            "timeouts": self.timeouts,
            "told": self.told,
            "own_asked": self.own[0],
            "own_avoided": self.own[1],
            "pairs": self.pairs,
            "avoided_right": self.right,
            "said_avoided": self.avoided[0],
            "said_avoided_right": self.avoided[1],
            "saving": self.off.len(),
            "median_error": percentile(&self.off, 50.0),
            "error_90": percentile(&self.off, 90.0),
            "intervals": all,
            "intervals_hold": held,
            "intervals_less": below,
            "intervals_more": above,
        })
    }
}
