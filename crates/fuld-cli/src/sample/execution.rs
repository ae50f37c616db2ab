//! Runs the chains, summarises the draws and prints the summary.

use super::resume_command;
use crate::exit_code::{DIVERGED, INTERRUPTED};
use crate::output::Output;
use crate::progress_style::progress_style;
use crate::stderr::write_line;
use crate::terminal_width::terminal_width;
use fuld::chains::{CheckpointError, DYNAMICS_VERSION, Layout, Outcome, Progress, RunError, Sink};
use fuld::diagnostics::Sample as Draws;
use fuld::{Run, StopFlag, SystemKind, ZarrDraws, ZarrSink};
use fuld_sample::{
    Adapted, Exact, Interrupted, SampleFolder, SampleSpec, Summary, Target, finite, histogram,
    report,
};
use indicatif::ProgressBar;
use serde_json::json;
use std::io;
use std::process::ExitCode;
use std::time::Instant;

/// A run with its target and folder.
pub(super) struct SampleRun {
    pub(super) run: Run,
    pub(super) spec: SampleSpec,
    pub(super) target: Target,
    pub(super) folder: SampleFolder,
    pub(super) stop: StopFlag,
}

/// Receives the draws of a run. Stores its settings once the checkpoint and the store have accepted
/// it.
struct RunSink<'a> {
    draws: ZarrSink,
    folder: &'a SampleFolder,
    spec: &'a SampleSpec,
}

impl Sink for RunSink<'_> {
    fn vacant(&self) -> io::Result<()> {
        self.draws.vacant()
    }

    fn begin(&mut self, layout: &Layout, done: u64) -> io::Result<()> {
        self.draws.begin(layout, done)?;
        match SampleFolder::stored(self.folder.path()) {
            Some(_) => Ok(()),
            None => self.folder.write_spec(self.spec).map_err(io::Error::other),
        }
    }

    fn segment(&mut self, first: u64, values: &[f64]) -> io::Result<()> {
        self.draws.segment(first, values)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.draws.flush()
    }
}

/// The part of a run that this process sampled.
struct SampledPart {
    outcome: Outcome,
    seconds: f64,
    /// Whether this process continued a checkpoint.
    resumed: bool,
    /// Steps of all chains per second, if they could be measured.
    speed: Option<f64>,
}

impl SampledPart {
    /// Returns time and speed as text; empty if nothing was left to do.
    fn pace(&self) -> String {
        let Some(speed) = self.speed else { return String::new() };
        let what = if self.resumed { ", the last part" } else { "" };
        format!("{what} in {:.1} s ({:.1} million steps/s)", self.seconds, 1e-6 * speed)
    }
}

impl SampleRun {
    /// Runs the chains to their end, or until the stop flag is raised, and prints the summary.
    pub(super) fn finish(&self, output: &Output) -> anyhow::Result<ExitCode> {
        output.detail(|| self.spec.text());
        let began = Instant::now();
        let sampled = self.sample_or_repeat(output)?;
        let (outcome, seconds) = (&sampled.outcome, sampled.seconds);
        let out = self.folder.path();
        if outcome.stopped {
            return self.interrupted(outcome, output);
        }
        let exact = Exact::new(&self.spec, &self.target);
        let draws = ZarrDraws::open(self.folder.draws())?;
        let adapted = Adapted::new(outcome);
        let summary = match self.summarise(&draws, outcome, adapted.clone(), &exact, output) {
            Err(error) if error.is::<Interrupted>() => return self.interrupted(outcome, output),
            summary => summary?,
        };
        self.folder.write("summary.csv", &summary.csv()?)?;
        if let Some(adapted) = adapted {
            self.folder.write("adapted.toml", &adapted.to_table()?.to_string())?;
        }
        self.folder
            .write("page.html", &report(&draws, &summary, &self.spec, &self.target, &exact)?)?;
        output.detail(|| {
            format!("{seconds:.1} s of sampling, {:.1} s in total", began.elapsed().as_secs_f64())
        });
        let remarks = summary.remarks(&self.spec);
        let warnings: Vec<String> =
            remarks.iter().filter(|remark| remark.is_warning).map(ToString::to_string).collect();
        let value = || {
            json!({
                "settings": self.spec.request(),
                "folder": out.display().to_string(),
                "summary": summary,
                "warnings": warnings,
            })
        };
        let pictures = self.pictures(&draws, &summary, &exact)?;
        output.result(value, || {
            println!("{}\n", self.spec.headline());
            if !summary.coordinates.is_empty() {
                println!("{}\n{pictures}", summary.text());
            }
            println!("{} draws of {} chains{}", summary.draws, summary.chains, sampled.pace());
            println!("written to {0}; open {0}/page.html", out.display());
        })?;
        for remark in &remarks {
            // Warnings are printed with --quiet too.
            if remark.is_warning { write_line(remark) } else { output.note(|| remark.to_string()) }
        }
        if !summary.is_lost() {
            return Ok(ExitCode::SUCCESS);
        }
        write_line(format_args!("diverged: {}", self.advice(outcome)));
        Ok(ExitCode::from(DIVERGED))
    }

    /// Summarises the draws, and shows how many coordinates are complete.
    fn summarise(
        &self,
        draws: &ZarrDraws,
        outcome: &Outcome,
        adapted: Option<Adapted>,
        exact: &Exact,
        output: &Output,
    ) -> anyhow::Result<Summary> {
        let style = progress_style("{bar:24} statistics {pos}/{len}");
        let bar = output.bar(ProgressBar::new(draws.dim() as u64).with_style(style));
        let stop = |done: usize| {
            bar.set_position(done as u64);
            self.stop.is_requested()
        };
        let (lost, spec) = (outcome.divergences.len(), &self.spec);
        let summary = Summary::new(draws, lost, adapted, spec, self.target.names(), exact, &stop);
        bar.finish_and_clear();
        summary
    }

    /// Prints where the run stopped and the command that continues it.
    fn interrupted(&self, outcome: &Outcome, output: &Output) -> anyhow::Result<ExitCode> {
        let out = self.folder.path();
        let value = || {
            json!({
                "status": "interrupted",
                "draws": outcome.draws,
                "of": self.run.draws,
                "folder": out.display().to_string(),
            })
        };
        output.result(value, || {})?;
        output.note(|| {
            format!(
                "saved after {} of {} draws; continue with: {}",
                outcome.draws,
                self.run.draws,
                resume_command(out)
            )
        });
        Ok(ExitCode::from(INTERRUPTED))
    }

    /// Returns why all chains diverged, and what may help.
    fn advice(&self, outcome: &Outcome) -> String {
        let chains = self.run.chains;
        let first = outcome.divergences.iter().map(|divergence| divergence.step).min().unwrap_or(0);
        if outcome.divergences.iter().all(|divergence| divergence.step == 0) {
            return format!(
                "the first step of all {chains} chains is not finite, or the gradient of f is not finite at the starting points; \
                 try another --start, or a smaller --step than {}",
                self.spec.step.get()
            );
        }
        let fuld = if self.spec.system == SystemKind::Fuld { "" } else { ", or --system fuld" };
        format!(
            "all {chains} chains diverged, the first at step {first}; try a smaller --step than {}, another \
             --integrator{fuld}",
            self.spec.step.get()
        )
    }

    /// Runs the chains. Draws that another version of the dynamics made are deleted and made again.
    fn sample_or_repeat(&self, output: &Output) -> anyhow::Result<SampledPart> {
        let error = match self.sample(output) {
            Ok(sampled) => return Ok(sampled),
            Err(error) => error,
        };
        let Some(RunError::Checkpoint(CheckpointError::Stale { stored, .. })) =
            error.downcast_ref()
        else {
            return Err(error);
        };
        output.note(|| {
            format!("the draws were made by version {stored} of the dynamics, now {DYNAMICS_VERSION}: sampling again")
        });
        self.folder.clear()?;
        self.sample(output)
    }

    /// Runs the chains to their end, or until the stop flag is raised.
    fn sample(&self, output: &Output) -> anyhow::Result<SampledPart> {
        let began = Instant::now();
        let resumed = self.folder.checkpoint().exists();
        let total = self.run.warmup + self.run.draws * self.run.thin;
        let bar_style = progress_style("{bar:24} {pos}/{len} steps, {speed}, {left}  {wide_msg}");
        let bar = output.bar(ProgressBar::new(total).with_style(bar_style));
        // The speed counts the steps of this process only: from the first report of progress to the
        // last.
        let (mut first, mut last) = (None, None);
        let mut watch = |progress: &Progress| {
            let now = (progress.steps, progress.elapsed.as_secs_f64());
            if first.is_none() {
                first = Some(now);
                bar.set_position(progress.steps);
                bar.reset_eta();
            }
            last = Some(now);
            bar.set_position(progress.steps);
            let warm = if progress.draws == 0 { "warming up, " } else { "" };
            let state = match progress.acceptance {
                Some(acceptance) => format!("accepted {:.0} %", 100.0 * acceptance),
                None => format!("{} diverged", progress.diverged),
            };
            bar.set_message(format!("{warm}{state}"));
            self.stop.control()
        };
        let draws = ZarrSink::new(self.folder.draws()).with_names(self.target.names());
        let mut sink = RunSink { draws, folder: &self.folder, spec: &self.spec };
        let outcome = self.run.stream(self.target.potential(), &mut sink, &mut watch);
        bar.finish_and_clear();
        let speed = first.zip(last).and_then(|((first, then), (last, now))| {
            (now > then).then(|| self.run.chains as f64 * (last - first) as f64 / (now - then))
        });
        Ok(SampledPart {
            outcome: outcome?,
            seconds: began.elapsed().as_secs_f64(),
            resumed,
            speed,
        })
    }

    /// Returns histograms of the first coordinates.
    fn pictures(
        &self,
        draws: &ZarrDraws,
        summary: &Summary,
        exact: &Exact,
    ) -> anyhow::Result<String> {
        const SHOWN: usize = 2;
        let mut pictures = String::new();
        let shown = summary.coordinates.len().min(SHOWN);
        for (i, chains) in draws.coordinates(0..shown)?.into_iter().enumerate() {
            let kept = finite(chains).concat();
            // A chain that never moves has no histogram.
            if let Ok(picture) =
                histogram(self.target.name(i), &Draws::new(kept)?, exact.of(i), terminal_width())
            {
                pictures += &(picture + "\n");
            }
        }
        Ok(pictures)
    }
}
