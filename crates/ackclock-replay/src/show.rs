//! Kernel and strategy side by side.

use std::fmt::Write;

use crate::compare::{Comparison, Input, phase, ssthresh};
use crate::vector::{Sent, What};

impl Comparison<'_> {
    /// The inputs from `from` to before `to`, a line each, kernel and strategy side by side; an `!`
    /// marks what is otherwise.
    pub fn side_by_side(&self, from: usize, to: usize) -> String {
        let mut rows = vec![[
            "".into(),
            "ms".into(),
            "input".into(),
            "kernel sends".into(),
            "strategy sends".into(),
            "kernel".into(),
            "strategy".into(),
        ]];
        for (i, input) in self.inputs.iter().enumerate().take(to).skip(from) {
            rows.push(self.row(i, input));
        }
        let mut widths = [0; 7];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        let mut out = String::new();
        for row in &rows {
            // Not `{cell:width$}`: a cell may be wider than the 65,535 that formatting takes.
            let cells = row.iter().zip(widths).map(|(cell, width)| {
                let blank = width - cell.chars().count();
                cell.clone() + &" ".repeat(blank)
            });
            out += cells.collect::<Vec<_>>().join("  ").trim_end();
            out.push('\n');
        }
        out
    }

    fn row(&self, i: usize, input: &Input) -> [String; 7] {
        let step = &self.vector.steps[input.step];
        let what = match &step.what {
            What::Write(bytes) => format!("write {}", self.segments(*bytes)),
            What::Close => "close".into(),
            What::Mss(mss) => format!("mss {mss}"),
            What::Timer => "timer".into(),
            What::Ack(ack) => {
                let echo = if ack.ece { " ece" } else { "" };
                let mut text = format!("ack {}{echo}", self.segments(ack.to));
                for (left, right) in &ack.sack {
                    // Writing to a string cannot fail.
                    let _ = write!(text, " [{} {})", self.segments(*left), self.segments(*right));
                }
                text
            }
        };
        let mut kernel = step.sent.iter().map(|s| self.sent(s)).collect::<Vec<_>>();
        for s in &self.vector.steps[input.step + 1..] {
            if s.what != What::Timer {
                break;
            }
            kernel.push(format!("@{}", ms(s.at)));
            kernel.extend(s.sent.iter().map(|s| self.sent(s)));
        }
        let (mut ours, mut at) = (Vec::new(), None);
        for left in &input.answer.sent {
            if left.timer != at {
                at = left.timer;
                ours.extend(at.map(|at| format!("@{}", ms(at))));
            }
            ours.push(self.sent(&left.sent));
        }
        let window = |cwnd: u64, ssthresh: Option<u64>, state: &str| {
            format!("{cwnd}/{} {state}", ssthresh.map_or("-".into(), |s| s.to_string()))
        };
        let state = format!("{:?}", step.info.state).to_lowercase();
        let answer = &input.answer;
        let ours_state = if answer.phase == phase(step.info.state) {
            state.clone()
        } else {
            format!("{:?}", answer.phase).to_lowercase()
        };
        [
            format!("{}{i}", if input.identical { " " } else { "!" }),
            ms(step.at),
            what,
            kernel.join(" "),
            ours.join(" "),
            window(step.info.cwnd.into(), ssthresh(&step.info), &state),
            window(answer.cwnd, answer.ssthresh, &ours_state),
        ]
    }

    /// A position in segments, where it is a whole number of them.
    fn segments(&self, position: u64) -> String {
        let mss = u64::from(self.vector.header.mss);
        match (position / mss, position % mss) {
            (n, 0) => n.to_string(),
            (n, rest) => format!("{n}+{rest}"),
        }
    }

    /// `7` for the first transmission of the segment at 7 MSS, `7'2` for the second one, `7p` with
    /// PSH, `7c` with CWR.
    fn sent(&self, s: &Sent) -> String {
        let mut text = self.segments(s.position);
        if u64::from(s.len) != u64::from(self.vector.header.mss) {
            let _ = write!(text, "({})", s.len);
        }
        let flags = [if s.push { "p" } else { "" }, if s.cwr { "c" } else { "" }].concat();
        match s.transmission {
            0 => "probe".into(),
            1 => format!("{text}{flags}"),
            n => format!("{text}'{n}{flags}"),
        }
    }
}

fn ms(at: u64) -> String {
    format!("{}.{:03}", at / 1000, at % 1000)
}
