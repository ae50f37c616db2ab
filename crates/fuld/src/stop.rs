//! A request to stop, shared between the caller and the work it started.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that requests a long computation to save its state and stop. Clones share one flag.
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
    /// Requests a stop. Returns whether a stop had been requested before.
    pub fn request(&self) -> bool {
        self.0.swap(true, Ordering::SeqCst)
    }

    /// Returns whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns the answer of a progress callback: [`Control::Stop`](crate::Control::Stop) after a
    /// request.
    pub fn control(&self) -> crate::Control {
        if self.is_requested() { crate::Control::Stop } else { crate::Control::Continue }
    }
}
