//! `fuld sample`: draws from exp(−βf).

use super::bar::style;
use super::checkpoints::Checkpoints;
use super::output::Output;
use super::{DIVERGED, INTERRUPTED, Usage};
use crate::interrupt;
use crate::sampling::{
    Exact, Request, SampleFolder, Settings, Summary, Target, histogram, read_config, report, write_config,
};
use crate::stderr::say;
use anyhow::Context;
use clap::ValueEnum;
use fuld::chains::{Outcome, Progress};
use fuld::diagnostics::Sample as Draws;
use fuld::potential::catalogue;
use fuld::{Control, Run, ZarrDraws, ZarrSink};
use indicatif::ProgressBar;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  fuld sample \"x^4/4 - x^2/2\"                    the double well, alpha = 1.5
  fuld sample \"x^4/4 - x^2/2\" --alpha 1.2 --system uncorrected
                                                the same noise without its correction: another law
  fuld sample \"(1-x)^2 + 5*(y-x^2)^2\" --draws 5000
                                                two variables, two dimensions
  fuld sample double_well --dim 10 --param b=3  a potential with a name, in ten dimensions
  fuld sample cauchy --alpha 1                  a law without a mean
  fuld sample --config my.toml --seed 7         settings from a file, but for the seed
  fuld sample --resume --out samples/NAME       go on after Ctrl-C, to the same draws

Formulas have variables x, y, z, w or x1, x2, ..., operators + - * / ^ and functions like exp, log, sqrt, sin, cosh, tanh, abs.

The folder holds draws.zarr (xarray.open_zarr(\"draws.zarr\", group=\"posterior\"), ArviZ), summary.csv, page.html to look at, \
config.toml to run it again, and the checkpoint. KS is the largest gap between the distribution of the draws and the exact one, \
computed by quadrature in one or two dimensions; noise is what as many independent draws stay below in 19 of 20 cases.

Exit codes: 0 finished, 1 error, 2 wrong usage, 3 all chains diverged, 130 interrupted and saved.";

/// Draw from exp(-beta f), f a formula or a potential with a name.
///
/// Chains of a heavy-tailed dynamics over all cores, into a folder: draws that ArviZ opens, a summary with effective sample
/// sizes and R-hat, and a page with traces and densities, against the exact one where it can be computed.
///
/// What is left out has a default that works on the double well. Draws depend on the settings and the seed alone, not on threads.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = long_help())]
pub(super) struct Sample {
    #[command(flatten)]
    request: Request,
    /// A parameter of a potential with a name, as in a=2; may be given several times
    #[arg(long = "param", value_name = "NAME=NUMBER", value_parser = parameter, help_heading = "Target")]
    parameters: Vec<(String, f64)>,
    /// Folder for the draws [default: samples/NAME]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    out: Option<PathBuf>,
    /// Go on with the run in the folder
    #[arg(long, conflicts_with = "fresh", help_heading = "Files")]
    resume: bool,
    /// Begin anew, whatever the folder holds
    #[arg(long, help_heading = "Files")]
    fresh: bool,
    /// Take settings from a TOML file, whose keys are the long options; options given here win
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    config: Option<PathBuf>,
    /// Write all settings, defaults too, to a TOML file for --config, and stop
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    save_config: Option<PathBuf>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
    #[command(flatten)]
    checkpoints: Checkpoints,
}

/// The examples, with lists of what has names.
fn long_help() -> String {
    let mut text = String::from("Potentials with names:\n");
    for entry in catalogue() {
        let parameters: Vec<String> =
            entry.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        text += &format!(
            "  {:<12} {}\n  {:<12} --param {}\n",
            entry.name,
            entry.formula,
            "",
            parameters.join(" ")
        );
    }
    text += "\nSystems:\n";
    for system in crate::sampling::Dynamics::value_variants() {
        if let Some(value) = system.to_possible_value() {
            let help = value.get_help().map(ToString::to_string).unwrap_or_default();
            text += &format!("  {:<24} {help}\n", value.get_name());
        }
    }
    format!("{text}\n{EXAMPLES}")
}

fn parameter(text: &str) -> Result<(String, f64), String> {
    let wrong = || format!("expected NAME=NUMBER as in a=2, got {text:?}");
    let (name, number) = text.split_once('=').ok_or_else(wrong)?;
    Ok((name.trim().into(), number.trim().parse().map_err(|_| wrong())?))
}

impl Sample {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<ExitCode> {
        let most = 4 * std::thread::available_parallelism().map_or(1, usize::from).max(64);
        Usage::unless(self.threads <= most, || {
            format!("--threads may be at most {most} here, got {}", self.threads)
        })?;
        let (settings, target) = self.request()?.settle()?;
        let run = settings.run(&target)?;
        if let Some(file) = &self.save_config {
            write_config(file, &settings).with_context(|| format!("writing {}", file.display()))?;
            output.note(|| format!("written; fuld sample --config {} runs it", file.display()));
            return Ok(ExitCode::SUCCESS);
        }
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from("samples").join(settings.name()));
        if SampleFolder::is_taken(&out) && !self.resume && !self.fresh {
            return Err(Usage(format!(
                "{} holds a run already: add --resume to go on with it, --fresh to begin anew, or name another folder with --out",
                out.display()
            ))
            .into());
        }
        let folder = SampleFolder::open(&out)
            .context("the draws need a folder that can be written: name another one with --out")?;
        if self.fresh {
            folder.clear()?;
        }
        if !SampleFolder::is_taken(&out) {
            folder.keep_settings(&settings)?;
        }
        interrupt::listen()?;
        let run = Run {
            checkpoint: Some(folder.checkpoint()),
            checkpoint_every: self.checkpoints.checkpoint_every,
            threads: self.threads,
            ..run
        };
        let job = Job { run, settings, target, folder };
        job.finish(output)
            .with_context(|| format!("what is there is kept: when this is mended, {} goes on", goes_on(&out)))
    }

    /// What is asked for: on the command line, else in the file, else, to go on, in the folder.
    fn request(&self) -> anyhow::Result<Request> {
        let mut request = self.request.clone();
        request.param.extend(self.parameters.iter().cloned());
        let kept = self.out.as_ref().filter(|_| self.resume).map(|out| out.join("config.toml"));
        if self.resume && self.out.is_none() && request.potential.is_none() && self.config.is_none() {
            return Err(Usage("--resume needs to know which run: name its folder with --out".into()).into());
        }
        if let Some(kept) = kept.as_ref().filter(|_| request.potential.is_none() && self.config.is_none()) {
            Usage::unless(kept.exists(), || {
                format!("there is no run to go on with: {} is not there", kept.display())
            })?;
        }
        Ok(match self.config.as_ref().or(kept.as_ref().filter(|kept| kept.exists())) {
            Some(file) => read_config(file, &request)?,
            None => request,
        })
    }
}

fn goes_on(out: &Path) -> String {
    format!("fuld sample --resume --out {}", out.display())
}

/// A run with its folder.
struct Job {
    run: Run,
    settings: Settings,
    target: Target,
    folder: SampleFolder,
}

impl Job {
    fn finish(&self, output: &Output) -> anyhow::Result<ExitCode> {
        output.detail(|| self.settings.text());
        let began = std::time::Instant::now();
        let outcome = self.sample(output)?;
        let out = self.folder.path();
        if outcome.stopped {
            output.note(|| {
                format!(
                    "saved after {} of {} draws; go on with: {}",
                    outcome.draws,
                    self.run.draws,
                    goes_on(out)
                )
            });
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let seconds = began.elapsed().as_secs_f64();
        let exact = Exact::new(&self.settings, &self.target);
        let draws = ZarrDraws::open(self.folder.draws())?;
        let summary = Summary::new(&draws, &outcome, &self.settings, &self.target, &exact)?;
        self.folder.keep("summary.csv", &summary.csv())?;
        self.folder.keep("page.html", &report(&draws, &summary, &self.settings, &self.target, &exact)?)?;
        output
            .detail(|| format!("{seconds:.1} s of sampling, {:.1} s in all", began.elapsed().as_secs_f64()));
        if let Exact::Unknown(Some(error)) = &exact {
            output.note(|| format!("there is no exact law to compare with: {error}"));
        }
        let value = || json!({ "settings": self.settings, "folder": out, "summary": summary });
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
            let size = summary.chains as f64 * (self.run.warmup + self.run.draws * self.run.thin) as f64;
            println!(
                "{} draws of {} chains in {seconds:.1} s ({:.1} million steps/s)",
                summary.draws,
                summary.chains,
                1e-6 * size / seconds
            );
            println!("kept in {0}; look at {0}/page.html", out.display());
        })?;
        summary.remarks(&self.settings).iter().for_each(|remark| output.note(|| remark.clone()));
        if !summary.is_lost() {
            return Ok(ExitCode::SUCCESS);
        }
        let first = outcome.divergences.iter().map(|divergence| divergence.step).min().unwrap_or(0);
        say(format_args!(
            "diverged: all {} chains left for infinity, the first at step {first}; try a smaller --step than {}, another \
             --integrator, or --system fuld",
            summary.chains, self.settings.step
        ));
        Ok(ExitCode::from(DIVERGED))
    }

    /// The chains to their end, or until told to stop.
    fn sample(&self, output: &Output) -> anyhow::Result<Outcome> {
        let total = self.run.warmup + self.run.draws * self.run.thin;
        let look = style("{bar:24} {pos}/{len} steps, {speed}, {eta} left  {wide_msg}");
        let bar = output.bar(ProgressBar::new(total).with_style(look));
        let mut began = false;
        let mut watch = |progress: &Progress| {
            if !std::mem::replace(&mut began, true) {
                // Steps of an earlier sitting are not of this one's speed.
                bar.set_position(progress.steps);
                bar.reset_eta();
            }
            bar.set_position(progress.steps);
            let warm = if progress.draws == 0 { "warming up, " } else { "" };
            bar.set_message(format!("{warm}{} diverged", progress.diverged));
            if interrupt::asked() { Control::Stop } else { Control::Continue }
        };
        let mut sink = ZarrSink::new(self.folder.draws());
        let outcome = self.run.stream(self.target.potential(), &mut sink, &mut watch);
        bar.finish_and_clear();
        Ok(outcome?)
    }

    /// Histograms of the first coordinates.
    fn pictures(&self, draws: &ZarrDraws, summary: &Summary, exact: &Exact) -> anyhow::Result<String> {
        const SHOWN: usize = 2;
        let mut pictures = String::new();
        for i in 0..summary.coordinates.len().min(SHOWN) {
            let kept: Vec<f64> =
                draws.coordinate(i)?.concat().into_iter().filter(|x| x.is_finite()).collect();
            // What does not move has no picture.
            if let Ok(picture) = histogram(self.target.name(i), &Draws::new(kept)?, exact.of(i), width()) {
                pictures += &(picture + "\n");
            }
        }
        Ok(pictures)
    }
}

/// Of the terminal, but 80 characters at most.
fn width() -> usize {
    const MOST: usize = 80;
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.or_else(terminal_width).unwrap_or(MOST).clamp(40, MOST)
}

#[cfg(unix)]
fn terminal_width() -> Option<usize> {
    // SAFETY: the structure is plain numbers, and the call fills it if standard output is a terminal.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        (libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) == 0).then_some(size)
    };
    size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

#[cfg(not(unix))]
fn terminal_width() -> Option<usize> {
    None
}
