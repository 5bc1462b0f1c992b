//! What is counted.

use std::collections::BTreeMap;

use ackclock_tcp::{Composition, Phase};

use crate::replay::{Answer, replay};
use crate::vector::{CaState, Info, NO_SSTHRESH, Sent, Vector, What};

/// A vector and the answers of a strategy to it.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// What was recorded.
    pub vector: &'a Vector,
    /// The inputs, in their order.
    pub inputs: Vec<Input>,
}

/// An input, and what was sent after it.
#[derive(Debug)]
pub struct Input {
    /// Its place among the steps of the vector.
    pub step: usize,
    /// What the kernel sent before the next input.
    pub kernel: Vec<Sent>,
    /// What the strategy sent.
    pub answer: Answer,
    /// Whether both are the same, in the same order.
    pub identical: bool,
}

impl Comparison<'_> {
    /// Replays a vector with a strategy.
    pub fn new<'a>(vector: &'a Vector, composition: &Composition) -> Comparison<'a> {
        let mut inputs: Vec<Input> = Vec::new();
        let mut answers = replay(vector, composition).into_iter();
        for (step, s) in vector.steps.iter().enumerate() {
            if s.what != What::Timer
                && let Some(answer) = answers.next()
            {
                inputs.push(Input { step, kernel: Vec::new(), answer, identical: false });
            }
            if let Some(input) = inputs.last_mut() {
                input.kernel.extend(&s.sent);
            }
        }
        for input in &mut inputs {
            let ours = input.answer.sent.iter().map(|left| counted(left.sent));
            input.identical = ours.eq(input.kernel.iter().copied().map(counted));
        }
        Comparison { vector, inputs }
    }

    /// The first input that was answered otherwise.
    pub fn first_difference(&self) -> Option<usize> {
        self.inputs.iter().position(|input| !input.identical)
    }

    /// The counts of this vector.
    pub fn score(&self) -> Score {
        let mut score = Score { scenarios: 1, ..Score::default() };
        score.identical = self.first_difference().is_none().into();
        for input in &self.inputs {
            let info = &self.vector.steps[input.step].info;
            score.inputs += 1;
            score.otherwise += u64::from(!input.identical);
            score.cwnd += u64::from(u64::from(info.cwnd) != input.answer.cwnd);
            score.ssthresh += u64::from(ssthresh(info) != input.answer.ssthresh);
            score.state += u64::from(phase(info.state) != input.answer.phase);
            score.expiries += u64::from(input.answer.expiries);
            score.met += u64::from(input.answer.met);
        }
        score
    }
}

/// A window probe carries nothing, whatever its number says.
fn counted(sent: Sent) -> Sent {
    if sent.transmission == 0 { Sent { position: 0, ..sent } } else { sent }
}

/// The kernel's ssthresh in segments, if it has one.
pub(crate) fn ssthresh(info: &Info) -> Option<u64> {
    (info.ssthresh < NO_SSTHRESH).then_some(info.ssthresh.into())
}

/// The phase of the engine that a state of the kernel is.
pub(crate) fn phase(state: CaState) -> Phase {
    match state {
        CaState::Open | CaState::Disorder | CaState::Cwr => Phase::Open,
        CaState::Recovery => Phase::Recovery,
        CaState::Loss => Phase::Loss,
    }
}

/// Counts of vectors, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Score {
    /// Vectors.
    pub scenarios: u64,
    /// Of those, the ones of which every input was answered as recorded.
    pub identical: u64,
    /// ACKs and writes.
    pub inputs: u64,
    /// Of those, the ones that were answered otherwise.
    pub otherwise: u64,
    /// Inputs after which cwnd, in segments, was another.
    pub cwnd: u64,
    /// Inputs after which ssthresh, in segments, was another.
    pub ssthresh: u64,
    /// Inputs after which the state was another.
    pub state: u64,
    /// Expiries of timers that sent something.
    pub expiries: u64,
    /// Of those, the ones at which the strategy's timer expired and sent something too.
    pub met: u64,
}

impl Score {
    /// Adds another's counts.
    pub fn add(&mut self, other: &Score) {
        self.scenarios += other.scenarios;
        self.identical += other.identical;
        self.inputs += other.inputs;
        self.otherwise += other.otherwise;
        self.cwnd += other.cwnd;
        self.ssthresh += other.ssthresh;
        self.state += other.state;
        self.expiries += other.expiries;
        self.met += other.met;
    }
}

/// A table of scores by name, with their sum.
pub fn table(scores: &BTreeMap<String, Score>) -> String {
    let width = scores.keys().map(String::len).max().unwrap_or(0).max(6);
    let mut out =
        format!("{:width$}  scenarios  identical        inputs  otherwise      ", "family");
    out += "  cwnd  ssthresh     state  timers met\n";
    let mut sum = Score::default();
    let mut line = |name: &str, s: &Score| {
        let share = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
        out += &format!(
            "{name:width$}  {:9}  {:9} {:4.0} %  {:6}  {:9} {:5.2} %",
            s.scenarios,
            s.identical,
            share(s.identical, s.scenarios),
            s.inputs,
            s.otherwise,
            share(s.otherwise, s.inputs),
        );
        out += &format!(
            "  {:4.1} %  {:6.1} %  {:6.1} %  {:4} of {}\n",
            share(s.cwnd, s.inputs),
            share(s.ssthresh, s.inputs),
            share(s.state, s.inputs),
            s.met,
            s.expiries,
        );
    };
    for (name, score) in scores {
        line(name, score);
        sum.add(score);
    }
    line("all", &sum);
    out
}
