//! A sweep as it is watched: rows as they come, a line for each worker, and how long it will take.

use super::bar::style;
use super::output::Output;
use crate::stderr::say;
use fuld::{Control, StopFlag};
use fuld_train::sweep::{Event, Job, write};
use fuld_train::train::{RunResult, Status};
use indicatif::{MultiProgress, ProgressBar};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two writings of the table.
const TABLE_EVERY: Duration = Duration::from_secs(5);

/// What is on the screen.
pub(super) struct Live {
    bars: MultiProgress,
    /// Counts iterations of all runs, which take about the same time, so that its end is the sweep's.
    total: ProgressBar,
    workers: Vec<ProgressBar>,
    out: PathBuf,
    written: Mutex<Instant>,
    start: Instant,
    /// Iterations of runs that ended, and so far of what each worker is at.
    reached: Mutex<(u64, Vec<u64>)>,
    /// Of the longest name.
    width: usize,
    /// Whether anyone wants to watch.
    quiet: bool,
    /// Whether it was said that the sweep is being stopped.
    stopping: AtomicBool,
    stop: StopFlag,
}

impl Live {
    pub(super) fn new(
        out: &Path,
        stacks: &[Vec<Job>],
        workers: usize,
        output: &Output,
        stop: StopFlag,
    ) -> Self {
        let bars = MultiProgress::with_draw_target(output.progress());
        let jobs = || stacks.iter().flatten();
        let iterations = jobs().map(|job| job.settings.iterations).sum();
        let total = bars.add(ProgressBar::new(iterations));
        total.set_style(style("{bar:30} {percent} % of the work, {elapsed} so far, ETA {eta}  {msg}"));
        let workers: Vec<ProgressBar> =
            (0..workers.min(stacks.len())).map(|_| bars.add(ProgressBar::new(1))).collect();
        workers.iter().for_each(|bar| bar.set_style(style("  {bar:12} {pos}/{len} {speed} {wide_msg}")));
        let width = jobs().map(|job| job.settings.name().len()).max().unwrap_or(0);
        let live = Self {
            bars,
            total,
            reached: Mutex::new((0, vec![0; workers.len()])),
            width,
            quiet: output.quiet,
            stopping: AtomicBool::new(false),
            stop,
            workers,
            out: out.into(),
            written: Mutex::new(Instant::now()),
            start: Instant::now(),
        };
        live.line(format!("{:<width$}  train loss  test loss  test accuracy      time", "run"));
        live
    }

    /// Takes note of an event, and says whether to go on.
    pub(super) fn hear(&self, event: Event<'_>) -> Control {
        match event {
            Event::Began { worker, jobs } => {
                let bar = &self.workers[worker];
                bar.reset();
                bar.set_length(jobs[0].settings.iterations);
                bar.set_message(described(jobs));
                self.reach(|(_, reached)| reached[worker] = 0);
            }
            Event::Progress { worker, jobs, iteration, measured } => {
                let bar = &self.workers[worker];
                if bar.position() == 0 && iteration > 0 {
                    bar.set_position(iteration);
                    bar.reset_eta();
                }
                bar.set_position(iteration);
                self.reach(|(_, reached)| reached[worker] = iteration * jobs.len() as u64);
                if let Some(m) = measured {
                    bar.set_message(format!(
                        "{}, test accuracy {:.2} %",
                        described(jobs),
                        100.0 * m.test_accuracy
                    ));
                }
            }
            Event::Ended { worker, job, result } => {
                self.reach(|(ended, reached)| {
                    *ended += job.settings.iterations;
                    reached[worker] = reached[worker].saturating_sub(job.settings.iterations);
                });
                let told = result.map_or_else(|error| format!("failed: {error}"), ended);
                self.line(format!("{:<width$}  {told}", job.settings.name(), width = self.width));
                self.table();
            }
            // Not work of this sitting, so not of its speed either.
            Event::Skipped { job, .. } => self.total.dec_length(job.settings.iterations),
        }
        if !self.stop.is_requested() {
            return Control::Continue;
        }
        if !self.stopping.swap(true, Ordering::Relaxed) {
            self.line("stopping: saving first, again to stop at once".into());
        }
        Control::Stop
    }

    /// The total moves with the workers, and not only at the end of their jobs.
    fn reach(&self, change: impl FnOnce(&mut (u64, Vec<u64>))) {
        let mut all = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut all);
        self.total.set_position(all.0 + all.1.iter().sum::<u64>());
    }

    /// The table so far, for whoever looks into the folder; the last writing is the one whose errors count.
    fn table(&self) {
        let Ok(mut written) = self.written.try_lock() else { return };
        if written.elapsed() > TABLE_EVERY && write(&self.out).is_ok() {
            *written = Instant::now();
        }
    }

    fn line(&self, text: String) {
        if self.quiet {
            return;
        }
        if std::io::stderr().is_terminal() {
            let _ = self.bars.println(text);
        } else {
            say(text);
        }
    }

    pub(super) fn finish(&self) {
        self.workers.iter().chain([&self.total]).for_each(ProgressBar::finish_and_clear);
    }

    pub(super) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

fn described(jobs: &[Job]) -> String {
    match jobs {
        [job] => job.settings.name(),
        jobs => format!("{} and {} more", jobs[0].settings.name(), jobs.len() - 1),
    }
}

fn ended(result: &RunResult) -> String {
    if let Status::Diverged { iteration, loss } = result.status {
        return format!("diverged: the loss was {loss} at iteration {iteration}");
    }
    let Some(s) = &result.summary else { return "nothing was measured".into() };
    format!(
        "{:>10.4} {:>10.4} {:>12.2} % {:>7.1} s",
        s.train_loss,
        s.test_loss,
        100.0 * s.test_accuracy,
        result.seconds
    )
}
