//! A progress bar on standard error.

use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar. It shows itself only on a terminal, and only once a second has passed.
pub struct Progress {
    shared: Arc<Shared>,
    weight: u64,
}

struct Shared {
    bar: ProgressBar,
    cancel: Cancel,
    since: Instant,
    shown: Once,
}

impl Progress {
    /// A bar of so many steps.
    pub fn new(steps: u64) -> Self {
        Progress::until(steps, &Cancel::default())
    }

    /// A bar of so many steps, for runs that this flag ends.
    pub fn until(steps: u64, cancel: &Cancel) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        if let Ok(style) =
            ProgressStyle::with_template("{wide_bar} {percent:>3}% {elapsed} (left: {eta})")
        {
            bar.set_style(style);
        }
        Progress {
            shared: Arc::new(Shared {
                bar,
                cancel: cancel.clone(),
                since: Instant::now(),
                shown: Once::new(),
            }),
            weight: 1,
        }
    }

    /// The same bar for those whose steps count so many times, since each of them takes longer.
    pub fn weighing(&self, weight: u64) -> Self {
        Progress { shared: Arc::clone(&self.shared), weight }
    }

    /// Whether the runs are to end before their time.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancel.is_cancelled()
    }

    /// So many steps are done.
    pub fn advance(&self, steps: u64) {
        let Shared { bar, since, shown, .. } = &*self.shared;
        bar.inc(steps * self.weight);
        if since.elapsed() > Duration::from_secs(1) {
            // Hidden by itself where standard error is no terminal.
            shown.call_once(|| bar.set_draw_target(ProgressDrawTarget::stderr()));
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests;
