//! `fuld sample`: draws from exp(−βf).

mod job;
mod options;

use super::Usage;
use super::checkpoints::Checkpoints;
use super::output::Output;
use crate::interrupt;
use anyhow::Context;
use fuld::chains::{CheckpointError, RunError};
use fuld::{Run, SystemKind};
use fuld_sample::{
    Content, RecipeError, SampleRequest, SampleFolder, SamplingError, SampleSpec, Target, potentials, read_config,
    write_config,
};
use fuld_train::run_folder::RunFolderError;
use job::Job;
use options::SampleOptions;
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
    options: SampleOptions,
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
    for entry in potentials() {
        let parameters: Vec<String> =
            entry.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        text += &format!(
            "  {:<12} {}\n  {:<12} --param {}\n",
            entry.name,
            entry.formula,
            "",
            parameters.join(" --param ")
        );
    }
    text += "\nSystems:\n";
    for system in SystemKind::ALL {
        text += &format!("  {system:<24} {}\n", system.summary());
    }
    format!("{text}\n{EXAMPLES}")
}

impl Sample {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<ExitCode> {
        let most = 4 * std::thread::available_parallelism().map_or(1, usize::from).max(64);
        Usage::unless(self.threads <= most, || {
            format!("--threads may be at most {most} here, got {}", self.threads)
        })?;
        let (settings, target) = self.request()?.settle()?;
        let run = spec.recipe.run(&target).map_err(SamplingError::from)?;
        if let Some(file) = &self.save_config {
            write_config(file, &settings).with_context(|| format!("writing {}", file.display()))?;
            output.note(|| format!("written; fuld sample --config {} runs it", file.display()));
            return Ok(ExitCode::SUCCESS);
        }
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from("samples").join(settings.name()));
        let folder = self.folder(&out, &settings, &target, &run)?;
        let stop = interrupt::listen()?;
        let run = Run {
            checkpoint: Some(folder.checkpoint()),
            checkpoint_every: self.checkpoints.checkpoint_every,
            threads: self.threads,
            ..run
        };
        let job = Job { run, settings, target, folder, stop };
        job.finish(output).map_err(|error| {
            let advice = if is_beyond_repair(&error) {
                format!(
                    "the run in {} cannot go on; --fresh begins it anew, --out names another folder",
                    out.display()
                )
            } else {
                format!("what is there is kept: when this is mended, {} goes on", goes_on(&out))
            };
            error.context(advice)
        })
    }

    /// The folder, if the run may have it, with its settings in it.
    fn folder(
        &self,
        out: &Path,
        spec: &SampleSpec,
        target: &Target,
        run: &Run,
    ) -> anyhow::Result<SampleFolder> {
        let content = SampleFolder::content(out);
        match &content {
            Content::Foreign(name) => {
                return Err(Usage(format!(
                    "{} holds files that no run of fuld sample left, such as {name}: name another folder with --out",
                    out.display()
                ))
                .into());
            }
            Content::Run(_) if !self.resume && !self.fresh => {
                return Err(Usage(format!(
                    "{} holds a run already: add --resume to go on with it, --fresh to begin anew, or name another folder with --out",
                    out.display()
                ))
                .into());
            }
            Content::Run(kept) if self.resume => {
                if let Some((there, here)) = settings.difference(kept) {
                    return Err(Usage(
                        RunFolderError::OtherRun {
                            path: out.into(),
                            difference: fuld_train::stored::Difference { stored: there, wanted: here },
                        }
                        .to_string(),
                    )
                    .into());
                }
            }
            _ => {
                target.check_starts(run).map_err(|outside| SamplingError::from(RecipeError::from(outside)))?
            }
        }
        let folder = SampleFolder::open(out).map_err(|error| match error {
            fuld::folder::FolderError::InUse(_) => {
                anyhow::Error::new(error).context("the draws need a folder of their own")
            }
            error => anyhow::Error::new(error)
                .context("the draws need a folder that can be written: name another one with --out"),
        })?;
        let kept = matches!(content, Content::Run(_));
        if kept && self.fresh {
            folder.clear()?;
        }
        if !kept || self.fresh {
            folder.keep_settings(settings)?;
        }
        Ok(folder)
    }

    /// What is asked for: on the command line, else in the file, else, to go on, in the folder.
    fn request(&self) -> anyhow::Result<SampleRequest> {
        let request = self.options.request();
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

/// Whether what is on disk is not what it should be, so that the run can only begin anew.
fn is_beyond_repair(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<RunError>() {
        Some(RunError::Checkpoint(error)) => !matches!(error, CheckpointError::Io { .. }),
        // Draws without a checkpoint.
        Some(RunError::Sink(error)) => error.kind() == std::io::ErrorKind::AlreadyExists,
        _ => false,
    }
}

fn goes_on(out: &Path) -> String {
    format!("fuld sample --resume --out {}", out.display())
}
