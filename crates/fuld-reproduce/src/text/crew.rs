//! Many runs at once, one on each thread.

use super::arm::{Arm, Setting};
use super::exam::Exam;
use super::plan::Plan;
use super::run::{Course, Trained};
use crate::Interrupted;
use fuld::{Control, StopFlag};
use fuld_train::language::Language;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Steps, of all runs together, between two words about the progress.
const BETWEEN_NEWS: u64 = 50;

/// A run to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) arm: Arm,
    pub(super) setting: Setting,
    pub(super) seed: u64,
}

/// Who makes runs, and tells of them.
pub(super) struct Crew<'a> {
    pub(super) plan: &'a Plan,
    pub(super) language: &'a Language,
    hear: &'a (dyn Fn(f64) + Sync),
    stop: &'a StopFlag,
    /// Steps of all runs that there will be.
    total: f64,
    done: AtomicU64,
}

impl<'a> Crew<'a> {
    /// For so many runs in all; `hear` is told of the share that is done.
    pub(super) fn new(
        plan: &'a Plan,
        language: &'a Language,
        runs: usize,
        hear: &'a (dyn Fn(f64) + Sync),
        stop: &'a StopFlag,
    ) -> Self {
        Self { plan, language, hear, stop, total: runs as f64 * plan.steps as f64, done: AtomicU64::new(0) }
    }

    /// Makes some of the runs, and gives what they came to in the same order.
    pub(super) fn train(&self, jobs: &[Job], exam: &Exam, measurements: u64) -> anyhow::Result<Vec<Trained>> {
        let course = Course { plan: self.plan, language: self.language, exam, measurements };
        let train = |&Job { arm, setting, seed }: &Job| {
            Ok(course.train(arm, setting, seed, &|| self.step())?.ok_or(Interrupted)?)
        };
        jobs.par_iter().with_max_len(1).map(train).collect()
    }

    fn step(&self) -> Control {
        let done = self.done.fetch_add(1, Ordering::Relaxed);
        if done.is_multiple_of(BETWEEN_NEWS) {
            (self.hear)(done as f64 / self.total);
        }
        self.stop.control()
    }
}
