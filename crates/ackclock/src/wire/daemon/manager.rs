//! What the service manager that started us is told (sd_notify(3)), if there is one.

use std::time::{Duration, Instant};

use sd_notify::NotifyState;

/// The most time that is asked for at once: the protocol has room for 71 minutes.
const MOST_EXTENSION: Duration = Duration::from_secs(3600);

/// What it has to be told again and again.
pub(super) struct Manager {
    /// How often it has to hear that we are alive, and when it does next: twice in the time after
    /// which it ends us (sd_watchdog_enabled(3)).
    watchdog: Option<(Duration, Instant)>,
    /// When the end is to be over, and when more time for it has to be asked for.
    end: Option<(Instant, Instant)>,
}

impl Manager {
    pub fn new() -> Manager {
        let watchdog = sd_notify::watchdog_enabled().map(|time| (time / 2, Instant::now()));
        Manager { watchdog, end: None }
    }

    /// How long until it has to be told something.
    pub fn timeout(&self) -> Option<Duration> {
        let watchdog = self.watchdog.map(|(_, next)| next);
        let next = watchdog.into_iter().chain(self.end.map(|(_, next)| next)).min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    /// Tells it what is due. That we are alive only once `works` has returned.
    pub fn tell(&mut self, works: impl FnOnce()) {
        let now = Instant::now();
        if let Some((every, next)) = &mut self.watchdog
            && *next <= now
        {
            works();
            tell(&[NotifyState::Watchdog]);
            *next = now + *every;
        }
        if self.end.is_some_and(|(_, next)| next <= now) {
            self.extend(&[]);
        }
    }

    /// We end, and that may take so long.
    pub fn stopping(&mut self, longest: Duration) {
        let now = Instant::now();
        self.end = now.checked_add(longest).map(|end| (end, now));
        self.extend(&[NotifyState::Stopping]);
    }

    /// Asks for the time that the end takes, or for a part of it.
    fn extend(&mut self, before: &[NotifyState<'_>]) {
        let now = Instant::now();
        let left = self.end.map_or(Duration::MAX, |(end, _)| end.saturating_duration_since(now));
        // A little less would be what rounding leaves of it.
        let micros = left.min(MOST_EXTENSION).as_micros().div_ceil(1000) * 1000;
        let extend = NotifyState::ExtendTimeoutUsec(micros as u32);
        tell(&before.iter().cloned().chain([extend]).collect::<Vec<_>>());
        self.end = self
            .end
            .filter(|_| left > MOST_EXTENSION)
            .map(|(end, _)| (end, now + MOST_EXTENSION / 2));
    }
}

/// Tells it once.
pub(super) fn tell(states: &[NotifyState<'_>]) {
    // A manager that cannot be reached cannot be told so.
    let _ = sd_notify::notify(states);
}
