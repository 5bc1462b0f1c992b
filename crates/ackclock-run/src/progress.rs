//! A progress bar on standard error.

use std::sync::Arc;

use crate::cancel::Cancel;
use bar::Bar;

/// A progress bar. It shows itself only on a terminal, and only once a second has passed.
pub struct Progress {
    shared: Arc<Shared>,
    weight: u64,
}

struct Shared {
    bar: Bar,
    cancel: Cancel,
}

impl Progress {
    /// A bar of so many steps.
    pub fn new(steps: u64) -> Self {
        Progress::until(steps, &Cancel::default())
    }

    /// A bar of so many steps, for runs that this flag ends.
    pub fn until(steps: u64, cancel: &Cancel) -> Self {
        let shared = Shared { bar: Bar::new(steps), cancel: cancel.clone() };
        Progress { shared: Arc::new(shared), weight: 1 }
    }

    /// The same bar for those whose steps count so many times, since each of them takes longer.
    pub fn weighing(&self, weight: u64) -> Self {
        Progress { shared: Arc::clone(&self.shared), weight }
    }

    /// Adds so many steps to the bar.
    pub fn lengthen(&self, steps: u64) {
        self.shared.bar.lengthen(steps);
    }

    /// Whether the runs are to end before their time.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancel.is_cancelled()
    }

    /// So many steps are done.
    pub fn advance(&self, steps: u64) {
        self.shared.bar.advance(steps * self.weight);
    }
}

#[cfg(not(target_family = "wasm"))]
mod bar {
    use std::sync::Once;
    use std::time::{Duration, Instant};

    use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

    pub(super) struct Bar {
        pub bar: ProgressBar,
        since: Instant,
        shown: Once,
    }

    impl Bar {
        pub fn new(steps: u64) -> Self {
            let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
            if let Ok(style) =
                ProgressStyle::with_template("{wide_bar} {percent:>3}% {elapsed} (left: {eta})")
            {
                bar.set_style(style);
            }
            Bar { bar, since: Instant::now(), shown: Once::new() }
        }

        pub fn lengthen(&self, steps: u64) {
            self.bar.inc_length(steps);
        }

        pub fn advance(&self, steps: u64) {
            self.bar.inc(steps);
            if self.since.elapsed() > Duration::from_secs(1) {
                // Hidden by itself where standard error is no terminal.
                self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr()));
            }
        }
    }

    impl Drop for Bar {
        fn drop(&mut self) {
            self.bar.finish_and_clear();
        }
    }
}

/// A browser has no terminal, and no clock that Rust knows.
#[cfg(target_family = "wasm")]
mod bar {
    pub(super) struct Bar;

    impl Bar {
        pub fn new(_steps: u64) -> Self {
            Bar
        }

        pub fn lengthen(&self, _steps: u64) {}

        pub fn advance(&self, _steps: u64) {}
    }
}

#[cfg(test)]
mod tests;
