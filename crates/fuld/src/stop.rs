//! A request to stop, shared between the caller and the work it started.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that asks long work to save and stop. Clones share one flag.
///
/// ```
/// let stop = fuld::StopFlag::default();
/// let seen_by_worker = stop.clone();
/// stop.request();
/// assert!(seen_by_worker.is_requested());
/// ```
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Asks to stop. Returns whether it had been asked before.
    pub fn request(&self) -> bool {
        self.0.swap(true, Ordering::SeqCst)
    }

    /// Whether someone asked to stop.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// What a progress callback returns: [`Control::Stop`](crate::Control::Stop) once asked.
    pub fn control(&self) -> crate::Control {
        if self.is_requested() { crate::Control::Stop } else { crate::Control::Continue }
    }
}
