//! What a command on the wire shows while it works, on standard error if that is a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the line changes.
const TICK: Duration = Duration::from_millis(200);

/// One line that changes, gone at the end.
pub(crate) struct Live {
    bar: ProgressBar,
    next: Instant,
}

impl Live {
    pub fn new() -> Live {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        Live { bar, next: Instant::now() + TICK }
    }

    /// How long until it is to be shown anew; `None` where nobody sees it.
    pub fn timeout(&self) -> Option<Duration> {
        (!self.bar.is_hidden()).then(|| self.next.saturating_duration_since(Instant::now()))
    }

    /// Shows this line if it is time.
    pub fn show(&mut self, line: impl FnOnce() -> String) {
        if self.timeout() == Some(Duration::ZERO) {
            self.next = Instant::now() + TICK;
            self.bar.set_message(line());
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Bytes, for people.
pub(crate) fn bytes_text(bytes: u64) -> String {
    let unit = |power: u32| bytes as f64 / f64::from(1 << power);
    match bytes {
        0..0x10_0000 => format!("{:.1} KiB", unit(10)),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", unit(20)),
        _ => format!("{:.2} GiB", unit(30)),
    }
}
