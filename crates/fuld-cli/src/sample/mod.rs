//! `fuld sample`: draws from exp(−βf).

mod execution;
mod options;

use super::Usage;
use super::checkpoint_args::CheckpointArgs;
use super::output::Output;
use super::threads::Threads;
use crate::interrupt;
use anyhow::Context;
use execution::SampleRun;
use fuld::chains::{CheckpointError, RunError};
use fuld::folder::FolderError;
use fuld::{Run, SystemKind};
use fuld_sample::{
    SampleFolder, SampleRequest, SampleSpec, SamplingError, Target, potentials, read_config, write_config,
};
use options::SampleOptions;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  fuld sample \"x^4/4 - x^2/2\"                    the double well, alpha = 1.5
  fuld sample \"x^4/4 - x^2/2\" --alpha 1.2 --system uncorrected
                                                without the correction: another law
  fuld sample \"(1-x)^2 + 5*(y-x^2)^2\" --draws 5000
                                                two variables, two dimensions
  fuld sample double_well --dim 10 --param b=3  a named potential in ten dimensions
  fuld sample cauchy --alpha 1                  a law without a mean
  fuld sample --config my.toml --seed 7         settings from a file, except the seed
  fuld sample --resume --out samples/NAME       continue after Ctrl-C, with the same draws

Formulas have variables x, y, z, w or x1, x2, ..., operators + - * / ^ and functions like exp, log, sqrt, sin, cosh, tanh, abs.

The folder contains draws.zarr (xarray.open_zarr(\"draws.zarr\", group=\"posterior\"), ArviZ), summary.csv, page.html, \
config.toml, which runs it again, and the checkpoint. The same command run again continues an interrupted run, and prints the \
result of a finished one. KS is the Kolmogorov-Smirnov distance of the draws from the exact law, computed by quadrature in one or \
two dimensions; noise is its 95 % quantile for as many independent draws.

Exit codes: 0 finished, 1 error, 2 wrong usage, 3 all chains diverged, 130 interrupted and saved.";

/// Draw from exp(-beta f), where f is a formula or a named potential.
///
/// Runs chains of a heavy-tailed dynamics on all cores and writes a folder: draws that ArviZ opens, a summary with effective sample
/// sizes and R-hat, and a page with traces and densities, compared with the exact density where it can be computed.
///
/// Every option has a default that works on the double well. Draws depend on the settings and the seed alone, not on threads.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = long_help())]
pub(super) struct Sample {
    #[command(flatten)]
    options: SampleOptions,
    /// Folder for the draws [default: samples/NAME]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    out: Option<PathBuf>,
    /// Continue the run in the folder --out with its stored settings
    #[arg(long, conflicts_with = "fresh", help_heading = "Files")]
    resume: bool,
    /// Delete the files that fuld wrote in the folder, and start again
    #[arg(long, help_heading = "Files")]
    fresh: bool,
    /// Read settings from a TOML file, whose keys are the long options in snake_case; options given here take precedence
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    config: Option<PathBuf>,
    /// Write all settings, including defaults, to a TOML file for --config, and stop
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    save_config: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    checkpoints: CheckpointArgs,
}

/// Returns the examples, with lists of the named potentials and systems.
fn long_help() -> String {
    let mut text = String::from("Named potentials:\n");
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
        let (request, stored) = self.request()?;
        let (spec, target) = request.complete()?;
        let run = spec.run(&target)?;
        if let Some(file) = &self.save_config {
            write_config(file, &spec).with_context(|| format!("writing {}", file.display()))?;
            output.note(|| format!("written; fuld sample --config {} runs it", file.display()));
            return Ok(ExitCode::SUCCESS);
        }
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from("samples").join(spec.name()));
        let stored = stored.or_else(|| SampleFolder::stored(&out)).filter(|_| !self.fresh);
        let folder = self.folder(&out, stored.as_ref(), &spec, &target, &run)?;
        let stop = interrupt::listen()?;
        let run = Run {
            checkpoint: Some(folder.checkpoint()),
            checkpoint_every: self.checkpoints.checkpoint_every,
            threads: self.threads.count(),
            ..run
        };
        let run = SampleRun { run, spec, target, folder, stop };
        run.finish(output).map_err(|error| {
            let advice = if cannot_continue(&error) {
                format!(
                    "the run in {} cannot continue; start again with --fresh, or name another folder with --out",
                    out.display()
                )
            } else {
                format!("the draws so far are kept; once this is fixed, {} continues", resume_command(&out))
            };
            error.context(advice)
        })
    }

    /// Opens the folder and writes the specification into it. Returns an error if the settings `stored` there are those of another run.
    fn folder(
        &self,
        out: &Path,
        stored: Option<&SampleRequest>,
        spec: &SampleSpec,
        target: &Target,
        run: &Run,
    ) -> anyhow::Result<SampleFolder> {
        match stored.map(|stored| spec.difference(stored)) {
            Some(Some((there, here))) => {
                return Err(Usage(format!(
                    "{} contains a run with other settings: stored {there}, requested {here}; name another folder with --out, or start \
                     again with --fresh",
                    out.display()
                ))
                .into());
            }
            Some(None) => {}
            None => {
                target.check_starts(run).map_err(SamplingError::from)?;
            }
        }
        let folder = SampleFolder::open(out).map_err(|error| match error {
            FolderError::InUse(_) => {
                anyhow::Error::new(error).context("the draws require a folder of their own")
            }
            FolderError::Foreign { .. } | FolderError::OtherCommand { .. } => {
                Usage(format!("{error} with --out")).into()
            }
            error => anyhow::Error::new(error)
                .context("the draws require a folder that can be written: name another one with --out"),
        })?;
        if self.fresh {
            folder.clear()?;
        }
        if stored.is_none() {
            folder.write_spec(spec)?;
        }
        Ok(folder)
    }

    /// Returns the request: the options, completed by the file --config or, with --resume, by the settings stored in --out.
    /// With --resume, also returns the stored settings.
    fn request(&self) -> anyhow::Result<(SampleRequest, Option<SampleRequest>)> {
        let request = self.options.request();
        if !self.resume {
            let request = match &self.config {
                Some(file) => read_config(file, &request)?,
                None => request,
            };
            return Ok((request, None));
        }
        let Some(out) = &self.out else {
            return Err(Usage("--resume requires --out DIR, the folder of the run".into()).into());
        };
        let Some(stored) = SampleFolder::stored(out) else {
            let message =
                format!("{} contains no run to continue; start one without --resume", out.display());
            return Err(Usage(message).into());
        };
        let request = match &self.config {
            Some(file) => read_config(file, &request)?,
            None => stored.overridden_by(&request)?,
        };
        Ok((request, Some(stored)))
    }
}

/// Returns whether the files on disk are not usable, so that the run can only start again.
fn cannot_continue(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<RunError>() {
        Some(RunError::Checkpoint(error)) => !matches!(error, CheckpointError::Io { .. }),
        // Draws without a checkpoint.
        Some(RunError::Sink(error)) => error.kind() == std::io::ErrorKind::AlreadyExists,
        _ => false,
    }
}

fn resume_command(out: &Path) -> String {
    format!("fuld sample --resume --out {}", out.display())
}
