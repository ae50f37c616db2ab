//! The progress of a sweep on standard error: finished runs, a bar for each thread, and the
//! remaining time.

use super::output::Output;
use super::progress_style::progress_style;
use crate::stderr::write_line;
use fuld::{Control, StopFlag};
use fuld_train::spec::TRAINING_VERSION;
use fuld_train::sweep::{SweepEvent, SweepRun, write_table};
use fuld_train::train::{RunResult, RunStatus};
use indicatif::{MultiProgress, ProgressBar};
use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two updates of the table.
const TABLE_EVERY: Duration = Duration::from_secs(5);

/// The progress of a sweep.
pub(super) struct SweepProgress<'a> {
    bars: MultiProgress,
    /// Counts the iterations of all runs, which take about the same time each.
    total: ProgressBar,
    workers: Vec<ProgressBar>,
    out: PathBuf,
    /// The names of the runs in the table.
    grid: &'a HashSet<String>,
    written: Mutex<Instant>,
    start: Instant,
    /// Iterations of runs that ended, and of the runs that each thread is training.
    reached: Mutex<(u64, Vec<u64>)>,
    /// Length of the longest name.
    width: usize,
    /// Whether to print nothing.
    quiet: bool,
    /// Whether the note that the sweep is being stopped was printed.
    stopping: AtomicBool,
    stop: StopFlag,
}

impl<'a> SweepProgress<'a> {
    pub(super) fn new(
        out: &Path,
        grid: &'a HashSet<String>,
        stacks: &[Vec<SweepRun>],
        workers: usize,
        output: &Output,
        stop: StopFlag,
    ) -> Self {
        let bars = MultiProgress::with_draw_target(output.progress());
        let runs = || stacks.iter().flatten();
        let iterations = runs().map(|run| run.spec.iterations).sum();
        let total = bars.add(ProgressBar::new(iterations));
        total.set_style(progress_style(
            "{bar:30} {percent} % of the work, {elapsed} so far, {left}  {msg}",
        ));
        let workers: Vec<ProgressBar> =
            (0..workers.min(stacks.len())).map(|_| bars.add(ProgressBar::new(1))).collect();
        workers.iter().for_each(|bar| {
            bar.set_style(progress_style("  {bar:12} {pos}/{len} {speed} {wide_msg}"))
        });
        let width = runs().map(|run| run.spec.name().len()).max().unwrap_or(0);
        let progress = Self {
            bars,
            total,
            reached: Mutex::new((0, vec![0; workers.len()])),
            width,
            quiet: output.quiet,
            stopping: AtomicBool::new(false),
            stop,
            workers,
            out: out.into(),
            grid,
            written: Mutex::new(Instant::now()),
            start: Instant::now(),
        };
        progress.line(format!("{:<width$}  train loss  test loss  test accuracy      time", "run"));
        progress
    }

    /// Shows an event, and returns whether to continue.
    pub(super) fn show(&self, event: SweepEvent<'_>) -> Control {
        match event {
            SweepEvent::Began { worker, runs } => {
                let bar = &self.workers[worker];
                bar.reset();
                bar.set_length(runs[0].spec.iterations);
                bar.set_message(described(runs));
                self.update_reached(|(_, reached)| reached[worker] = 0);
            }
            SweepEvent::Progress { worker, runs, iteration, measured } => {
                let bar = &self.workers[worker];
                if bar.position() == 0 && iteration > 0 {
                    bar.set_position(iteration);
                    bar.reset_eta();
                }
                bar.set_position(iteration);
                self.update_reached(|(_, reached)| reached[worker] = iteration * runs.len() as u64);
                if let Some(m) = measured {
                    bar.set_message(format!(
                        "{}, test accuracy {:.2} %",
                        described(runs),
                        100.0 * m.test_accuracy
                    ));
                }
            }
            SweepEvent::Ended { worker, run, result } => {
                self.update_reached(|(ended, reached)| {
                    *ended += run.spec.iterations;
                    reached[worker] = reached[worker].saturating_sub(run.spec.iterations);
                });
                let text = result.map_or_else(|error| format!("failed: {error}"), ended);
                self.line(format!("{:<width$}  {text}", run.spec.name(), width = self.width));
                self.table();
            }
            SweepEvent::Stale { run, version } => self.line(format!(
                "{}  made by version {version} of the training rule, now {TRAINING_VERSION}: training again",
                run.spec.name()
            )),
            // A skipped run must not count towards the speed.
            SweepEvent::Skipped { run, .. } => self.total.dec_length(run.spec.iterations),
        }
        if !self.stop.is_requested() {
            return Control::Continue;
        }
        if !self.stopping.swap(true, Ordering::Relaxed) {
            self.line("saving and stopping; interrupt again to stop without saving".into());
        }
        Control::Stop
    }

    /// Updates the iterations reached, and the total with them.
    fn update_reached(&self, change: impl FnOnce(&mut (u64, Vec<u64>))) {
        let mut all = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut all);
        self.total.set_position(all.0 + all.1.iter().sum::<u64>());
    }

    /// Writes the table of the runs so far. Ignores errors, because writing it at the end reports
    /// them.
    fn table(&self) {
        let Ok(mut written) = self.written.try_lock() else { return };
        if written.elapsed() > TABLE_EVERY && write_table(&self.out, self.grid).is_ok() {
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
            write_line(text);
        }
    }

    pub(super) fn finish(&self) {
        self.workers.iter().chain([&self.total]).for_each(ProgressBar::finish_and_clear);
    }

    pub(super) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

fn described(runs: &[SweepRun]) -> String {
    match runs {
        [run] => run.spec.name(),
        runs => format!("{} and {} more", runs[0].spec.name(), runs.len() - 1),
    }
}

fn ended(result: &RunResult) -> String {
    if let RunStatus::Diverged { iteration, loss } = result.status {
        return format!("diverged: the loss was {loss} at iteration {iteration}");
    }
    let Some(s) = &result.summary else { return "no measurements".into() };
    format!(
        "{:>10.4} {:>10.4} {:>12.2} % {:>7.1} s",
        s.train_loss,
        s.test_loss,
        100.0 * s.test_accuracy,
        result.seconds
    )
}
