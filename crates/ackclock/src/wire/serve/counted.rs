//! What `serve` counts: responses, and how long they took.

use std::collections::BTreeMap;

use ackclock_impair::exposition::Exposition;

use super::super::daemon::Counts;
use super::super::histogram::Histogram;
use crate::http::Status;

/// Of each strategy, by its number.
#[derive(Clone, Default)]
pub(super) struct Counted(Vec<Responses>);

#[derive(Clone, Default)]
pub(super) struct Responses {
    pub begun: BTreeMap<Status, u64>,
    /// From a request until the last byte of its response was acknowledged.
    pub times: Histogram,
}

impl Counted {
    pub fn of(&mut self, strategy: usize) -> &mut Responses {
        if self.0.len() <= strategy {
            self.0.resize_with(strategy + 1, Responses::default);
        }
        &mut self.0[strategy]
    }
}

impl Counts for Counted {
    fn add(&mut self, other: &Counted) {
        for (strategy, responses) in other.0.iter().enumerate() {
            let own = self.of(strategy);
            for (status, n) in &responses.begun {
                *own.begun.entry(*status).or_default() += n;
            }
            own.times.join(&responses.times);
        }
    }

    fn write(&self, to: &mut Exposition, strategies: &[String]) {
        let none = Responses::default();
        let of: Vec<(&str, &Responses)> = strategies
            .iter()
            .enumerate()
            .map(|(number, name)| (name.as_str(), self.0.get(number).unwrap_or(&none)))
            .collect();
        to.each("strategy", &of, |to, responses| {
            let codes = responses.begun.iter().map(|(status, n)| (status.code().to_string(), *n));
            let codes: Vec<_> = codes.collect();
            let codes: Vec<_> = codes.iter().map(|(code, n)| (code.as_str(), *n)).collect();
            to.counters("ackclock_http_responses_total", "Responses begun.", "code", &codes);
        });
        to.each("strategy", &of, |to, responses| {
            responses.times.write(
                to,
                "ackclock_http_response_seconds",
                "From a request until the last byte of its response was acknowledged; of a \
                 connection at most 64 responses are timed at once.",
            );
        });
    }
}
