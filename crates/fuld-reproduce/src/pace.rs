//! The share of the work that is done, and the time left.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Expected seconds of work before the measured speed counts as much as the expected one.
const TRUSTED_AFTER: f64 = 5.0;

/// The exhibits that are being made, with the seconds that each is expected to take.
pub(crate) struct Pace {
    start: Instant,
    exhibits: Mutex<Vec<Expected>>,
}

#[derive(Clone, Copy)]
struct Expected {
    seconds: f64,
    /// Whether nothing is known yet but the seconds of a smaller data set.
    is_unknown: bool,
    /// The finished share.
    share: f64,
}

impl Pace {
    /// Starts the clock, with the expected seconds of each exhibit and whether they are unknown.
    pub(crate) fn new(exhibits: impl Iterator<Item = (f64, bool)>) -> Self {
        let expected =
            exhibits.map(|(seconds, is_unknown)| Expected { seconds, is_unknown, share: 0.0 });
        Self { start: Instant::now(), exhibits: Mutex::new(expected.collect()) }
    }

    /// Sets the expected seconds of an exhibit, once they are known better.
    pub(crate) fn expect(&self, exhibit: usize, seconds: f64) {
        self.change(exhibit, |it| (it.seconds, it.is_unknown) = (seconds, false));
    }

    /// Sets the finished share of an exhibit.
    pub(crate) fn reach(&self, exhibit: usize, share: f64) {
        self.change(exhibit, |it| it.share = share);
    }

    fn change(&self, exhibit: usize, change: impl FnOnce(&mut Expected)) {
        change(&mut self.exhibits.lock().unwrap_or_else(PoisonError::into_inner)[exhibit]);
    }

    /// Returns the finished share of all exhibits, and the time left; `None` while the time of an
    /// unfinished exhibit is unknown.
    pub(crate) fn now(&self) -> (f64, Option<Duration>) {
        self.after(self.start.elapsed().as_secs_f64())
    }

    fn after(&self, elapsed: f64) -> (f64, Option<Duration>) {
        let exhibits = self.exhibits.lock().unwrap_or_else(PoisonError::into_inner);
        let total: f64 = exhibits.iter().map(|it| it.seconds).sum();
        let done: f64 = exhibits.iter().map(|it| it.share * it.seconds).sum();
        let slower = (elapsed + TRUSTED_AFTER) / (done + TRUSTED_AFTER);
        let is_known = exhibits.iter().all(|it| !it.is_unknown || it.share == 1.0);
        let left = Duration::from_secs_f64((slower * (total - done)).max(0.0));
        (if total > 0.0 { done / total } else { 1.0 }, is_known.then_some(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_the_expected_one_until_the_speed_is_measured() {
        let pace = Pace::new([(10.0, false), (30.0, false)].into_iter());
        let left = |elapsed| pace.after(elapsed).1.unwrap().as_secs_f64();
        assert_eq!(left(0.0), 40.0);
        pace.reach(0, 1.0);
        assert_eq!((pace.after(10.0).0, left(10.0)), (0.25, 30.0));
        // Half as fast: 25 seconds instead of 10 + 5.
        assert!((left(20.0) - 30.0 * 25.0 / 15.0).abs() < 1e-6);
        pace.reach(1, 1.0);
        assert_eq!((pace.after(50.0).0, left(50.0)), (1.0, 0.0));
    }

    #[test]
    fn there_is_no_time_left_before_the_training_is_timed() {
        let pace = Pace::new([(10.0, false), (30.0, true)].into_iter());
        assert_eq!(pace.after(0.0), (0.0, None));
        pace.reach(0, 1.0);
        pace.expect(1, 90.0);
        assert_eq!(pace.after(10.0), (0.1, Some(Duration::from_secs(90))));
    }
}
