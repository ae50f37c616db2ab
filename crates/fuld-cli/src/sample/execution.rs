//! A run of chains: made, summed up and told.

use super::goes_on;
use crate::bar::style;
use crate::output::Output;
use crate::stderr::say;
use crate::width::width;
use crate::{DIVERGED, INTERRUPTED};
use fuld::chains::{Outcome, Progress};
use fuld::diagnostics::Sample as Draws;
use fuld::{Run, StopFlag, SystemKind, ZarrDraws, ZarrSink};
use fuld_sample::{Exact, Interrupted, SampleFolder, SampleSpec, Summary, Target, finite, histogram, report};
use indicatif::ProgressBar;
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

/// A run with its folder.
pub(super) struct Job {
    pub(super) run: Run,
    pub(super) settings: SampleSpec,
    pub(super) target: Target,
    pub(super) folder: SampleFolder,
    pub(super) stop: StopFlag,
}

/// What was done of a run since the program began.
struct Sitting {
    outcome: Outcome,
    seconds: f64,
    /// Whether there was an earlier one.
    resumed: bool,
    /// Steps of all chains in a second, if there was time to measure it.
    speed: Option<f64>,
}

impl Sitting {
    /// How long it took and how fast it was; nothing if there was nothing left to do.
    fn pace(&self) -> String {
        let Some(speed) = self.speed else { return String::new() };
        let what = if self.resumed { ", the rest of them" } else { "" };
        format!("{what} in {:.1} s ({:.1} million steps/s)", self.seconds, 1e-6 * speed)
    }
}

impl Job {
    /// To its end and what is told of it, or until told to stop.
    pub(super) fn finish(&self, output: &Output) -> anyhow::Result<ExitCode> {
        output.detail(|| self.settings.text());
        let began = Instant::now();
        let sitting = self.sample(output)?;
        let (outcome, seconds) = (&sitting.outcome, sitting.seconds);
        let out = self.folder.path();
        if outcome.stopped {
            return self.interrupted(outcome, output);
        }
        let exact = Exact::new(&self.settings, &self.target);
        let draws = ZarrDraws::open(self.folder.draws())?;
        let summary = match Summary::new(&draws, outcome, &self.settings, &self.target, &exact, &self.stop) {
            Err(error) if error.is::<Interrupted>() => return self.interrupted(outcome, output),
            summary => summary?,
        };
        self.folder.keep("summary.csv", &summary.csv())?;
        self.folder.keep("page.html", &report(&draws, &summary, &self.settings, &self.target, &exact)?)?;
        output
            .detail(|| format!("{seconds:.1} s of sampling, {:.1} s in all", began.elapsed().as_secs_f64()));
        if let Exact::Unknown(Some(error)) = &exact {
            output.note(|| format!("there is no exact law to compare with: {error}"));
        }
        let value = || json!({ "settings": self.settings.written(), "folder": out.display().to_string(), "summary": summary });
        let pictures = self.pictures(&draws, &summary, &exact)?;
        output.result(value, || {
            println!("{}\n", self.settings.headline());
            if !summary.coordinates.is_empty() {
                print!("{}", summary.table());
                if summary.hidden() > 0 {
                    println!(
                        "the first and those of the worst R-hat; {} more in summary.csv",
                        summary.hidden()
                    );
                }
                print!("\n{}", summary.distances());
                println!("\n{pictures}");
            }
            println!("{} draws of {} chains{}", summary.draws, summary.chains, sitting.pace());
            println!("kept in {0}; look at {0}/page.html", out.display());
        })?;
        summary.remarks(&self.settings).iter().for_each(|remark| output.note(|| remark.clone()));
        if !summary.is_lost() {
            return Ok(ExitCode::SUCCESS);
        }
        say(format_args!("diverged: {}", self.advice(outcome)));
        Ok(ExitCode::from(DIVERGED))
    }

    /// Says where it stopped, and how it goes on.
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
            format!("saved after {} of {} draws; go on with: {}", outcome.draws, self.run.draws, goes_on(out))
        });
        Ok(ExitCode::from(INTERRUPTED))
    }

    /// What became of the chains, all of which diverged, and what may help.
    fn advice(&self, outcome: &Outcome) -> String {
        let chains = self.run.chains;
        let first = outcome.divergences.iter().map(|divergence| divergence.step).min().unwrap_or(0);
        if outcome.divergences.iter().all(|divergence| divergence.step == 0) {
            return format!(
                "the first step of all {chains} chains leads to infinity, or the gradient of f is no finite number where they start; \
                 try another --start, or a smaller --step than {}",
                self.spec.recipe.step.get()
            );
        }
        let fuld = if self.spec.recipe.system == SystemKind::Fuld { "" } else { ", or --system fuld" };
        format!(
            "all {chains} chains left for infinity, the first at step {first}; try a smaller --step than {}, another \
             --integrator{fuld}",
            self.spec.recipe.step.get()
        )
    }

    /// The chains to their end, or until told to stop.
    fn sample(&self, output: &Output) -> anyhow::Result<Sitting> {
        let began = Instant::now();
        let resumed = self.folder.checkpoint().exists();
        let total = self.run.warmup + self.run.draws * self.run.thin;
        let look = style("{bar:24} {pos}/{len} steps, {speed}, {eta} left  {wide_msg}");
        let bar = output.bar(ProgressBar::new(total).with_style(look));
        // Steps of an earlier sitting are not of this one's speed: it is that between the first look and the last.
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
            bar.set_message(format!("{warm}{} diverged", progress.diverged));
            self.stop.control()
        };
        let mut sink = ZarrSink::new(self.folder.draws());
        let outcome = self.run.stream(self.target.potential(), &mut sink, &mut watch);
        bar.finish_and_clear();
        let speed = first.zip(last).and_then(|((first, then), (last, now))| {
            (now > then).then(|| self.run.chains as f64 * (last - first) as f64 / (now - then))
        });
        Ok(Sitting { outcome: outcome?, seconds: began.elapsed().as_secs_f64(), resumed, speed })
    }

    /// Histograms of the first coordinates.
    fn pictures(&self, draws: &ZarrDraws, summary: &Summary, exact: &Exact) -> anyhow::Result<String> {
        const SHOWN: usize = 2;
        let mut pictures = String::new();
        let shown = summary.coordinates.len().min(SHOWN);
        for (i, chains) in draws.coordinates(0..shown)?.into_iter().enumerate() {
            let kept = finite(chains).concat();
            // What does not move has no picture.
            if let Ok(picture) = histogram(self.target.name(i), &Draws::new(kept)?, exact.of(i), width()) {
                pictures += &(picture + "\n");
            }
        }
        Ok(pictures)
    }
}
