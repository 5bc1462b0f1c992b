//! Connections that are reset on both sides at the same time.

use std::collections::HashSet;

use mio::Token;

use super::EventLoop;
use crate::joint::Joint;
use crate::path::End;
use crate::relay::Host;

impl EventLoop {
    /// Resets both sides where one was reset and the other one has not taken anything for too long.
    pub(super) fn end_resets(&mut self) {
        let until = self.path.now();
        let rests = |joint: &mut Joint| joint.rests_since(&self.path);
        let late = self.joints.values_mut().filter_map(|joint| {
            rests(joint).filter(|&since| until.since(since) >= self.rest).map(|_| joint.end)
        });
        let late = late.collect();
        self.reset_both(&late);
    }

    /// Resets the connections whose conditions say so by now.
    pub(super) fn reset_in_time(&mut self) {
        let due = std::iter::from_fn(|| self.path.poll_reset()).collect();
        self.reset_both(&due);
    }

    /// Resets these, and what they are joined to over the links: what one side waits for has waited
    /// at the other one as long. The port of a connection is the same at both.
    fn reset_both(&mut self, ends: &HashSet<End>) {
        if ends.is_empty() {
            return;
        }
        let ports: HashSet<u16> = ends.iter().filter_map(|end| self.path.port(*end)).collect();
        let is_joined = |end| self.path.port(end).is_some_and(|port| ports.contains(&port));
        let both = self.tokens.iter().filter(|(end, _)| ends.contains(end) || is_joined(**end));
        let mut both: Vec<Token> = both.map(|(_, token)| *token).collect();
        // Each sends a packet over the links, which has others meet other fates.
        both.sort_unstable();
        for token in both {
            self.reset(token);
        }
    }
}
