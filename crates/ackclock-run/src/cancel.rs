//! Runs that end before their time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that runs look at: set from another thread, it ends those that are under way, and none
/// begins any more. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Ends the runs.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the runs are to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
