//! `fuld sample`: draws from exp(−βf).

mod execution;
mod options;

use super::Usage;
use super::checkpoint_args::CheckpointArgs;
use super::folder_args::FolderArgs;
use super::output::Output;
use super::threads::Threads;
use crate::interrupt;
use anyhow::Context;
use execution::SampleRun;
use fuld::chains::{CheckpointError, RunError};
use fuld::folder::FolderError;
use fuld::{Run, SystemKind};
use fuld_sample::{
    SampleFolder, SampleRequest, SampleSpec, SamplingError, Target, potentials, read_config,
    write_config,
};
use options::SampleOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  fuld sample \"x^4/4 - x^2/2\"                    the double well, alpha = 1.8
  fuld sample \"x^4/4 - x^2/2\" --alpha 1.2 --system uncorrected
                                                without the correction: another law
  fuld sample \"(1-x)^2 + 5*(y-x^2)^2\" --draws 5000
                                                two variables, two dimensions
  fuld sample double_well --dim 10 --param b=3  a named potential in ten dimensions
  fuld sample cauchy --alpha 1                  a law without a mean
  fuld sample \"-logsumexp(-(x-8)^2/2, log(3)-(x+8)^2/2)\" --temper 8
                                                two modes, with parallel tempering
  fuld sample --config my.toml --seed 7         settings from a file, except the seed
  fuld sample --resume --out samples/NAME       continue after Ctrl-C, with the same draws

Formulas have variables x, y, z, w or x1, x2, ..., operators + - * / ^ and functions like exp, log, sqrt, sin, cosh, tanh, abs, logsumexp.

The folder contains draws.zarr (xarray.open_zarr(\"draws.zarr\", group=\"posterior\"), ArviZ), summary.csv, page.html, \
adapted.toml with step, paths, scales and inverse temperatures, config.toml, which runs it again, and the checkpoint. The same command run again continues an interrupted run, and prints the \
result of a finished one. KS is the Kolmogorov-Smirnov distance of the draws from the exact law, computed by quadrature in one or \
two dimensions; noise is its 95 % quantile for as many independent draws.

Exit codes are listed by fuld --help; 3 means that all chains diverged.";

/// Draw from exp(-beta f), where f is a formula or a named potential.
///
/// Runs chains of a heavy-tailed dynamics on all cores and writes a folder: draws that ArviZ opens,
/// a summary with effective sample sizes and R-hat, and a page with traces and densities, compared
/// with the exact density where it can be computed.
///
/// Every option has a default that works on the double well. Draws depend on the settings and the
/// seed alone, not on threads; the seed is random unless it is given, and printed and stored.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    after_long_help = long_help(),
    mut_arg("out", |arg| arg.help("Folder for the draws [default: samples/NAME]"))
)]
pub(super) struct Sample {
    #[command(flatten)]
    options: SampleOptions,
    #[command(flatten)]
    folder: FolderArgs,
    /// Read settings from a TOML file, whose keys are the long options in snake_case; options given
    /// here take precedence
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
        let (mut spec, target) = request.complete()?;
        if let Some(file) = &self.save_config {
            spec.run(&target)?;
            // Without a seed, each run of the file has another one.
            let settings = SampleRequest { seed: request.seed, ..spec.request() };
            write_config(file, &settings).with_context(|| format!("writing {}", file.display()))?;
            output.note(|| format!("written; fuld sample --config {} runs it", file.display()));
            return Ok(ExitCode::SUCCESS);
        }
        let out = self
            .folder
            .out
            .clone()
            .unwrap_or_else(|| PathBuf::from("samples").join(spec.name(request.seed)));
        let stored = stored.or_else(|| SampleFolder::stored(&out)).filter(|_| !self.folder.fresh);
        if let Some(seed) =
            SampleFolder::stored_seed(&out).filter(|_| request.seed.is_none() && !self.folder.fresh)
        {
            spec.seed = seed;
        }
        let run = spec.run(&target)?;
        let folder = self.open(&out, stored.as_ref(), &spec, &target, &run)?;
        let stop = interrupt::listen()?;
        let run = Run {
            checkpoint: Some(folder.checkpoint()),
            checkpoint_every: self.checkpoints.checkpoint_every,
            threads: self.threads.count(),
            ..run
        };
        let run = SampleRun { run, spec, target, folder, stop };
        run.finish(output).map_err(|error| {
            if matches!(error.downcast_ref(), Some(RunError::NotFinite { .. })) {
                return error;
            }
            let advice = if cannot_continue(&error) {
                format!(
                    "the run in {} cannot continue; name another folder with --out, or start again with --fresh (without --resume)",
                    out.display()
                )
            } else {
                format!("the draws so far are kept; once this is fixed, {} continues", resume_command(&out))
            };
            error.context(advice)
        })
    }

    /// Opens the folder. Returns an error if the settings `stored` there are those of another run.
    fn open(
        &self,
        out: &Path,
        stored: Option<&SampleRequest>,
        spec: &SampleSpec,
        target: &Target,
        run: &Run,
    ) -> anyhow::Result<SampleFolder> {
        match stored.map(|stored| spec.difference(stored)) {
            Some(Some((stored, requested))) => {
                return Err(Usage(format!(
                    "{} contains a run with other settings: stored {stored}, requested {requested}; name another folder with --out, \
                     or start again with --fresh (without --resume)",
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
            FolderError::Io { .. } => anyhow::Error::new(error).context(
                "the draws require a folder that can be written: name another one with --out",
            ),
            error => error.into(),
        })?;
        if self.folder.fresh {
            folder.clear()?;
        }
        Ok(folder)
    }

    /// Returns the request: the options, completed by the file --config or, with --resume, by the
    /// settings stored in --out. With --resume, also returns the stored settings.
    fn request(&self) -> anyhow::Result<(SampleRequest, Option<SampleRequest>)> {
        let request = self.options.request();
        if !self.folder.resume {
            let request = match &self.config {
                Some(file) => read_config(file, &request)?,
                None => request,
            };
            return Ok((request, None));
        }
        let out = self.folder.resumed()?;
        let Some(stored) = SampleFolder::stored(out) else {
            let message = if out.join("config.toml").exists() {
                format!(
                    "{}/config.toml is damaged; repeat the command that started the run, without --resume",
                    out.display()
                )
            } else {
                format!("{} contains no run to continue; start one without --resume", out.display())
            };
            return Err(Usage(message).into());
        };
        let request = match &self.config {
            Some(file) => read_config(file, &request)?,
            None => stored.overridden_by(&request)?,
        };
        Ok((request, Some(stored)))
    }
}

/// Returns whether the checkpoint or the store of draws is not usable, so that the run can only
/// start again.
fn cannot_continue(error: &anyhow::Error) -> bool {
    if let Some(RunError::Checkpoint(error)) = error.downcast_ref::<RunError>() {
        return !matches!(error, CheckpointError::Io { .. });
    }
    // A damaged store, and draws without a checkpoint.
    let unusable = [io::ErrorKind::InvalidData, io::ErrorKind::AlreadyExists];
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|e| unusable.contains(&e.kind()))
}

fn resume_command(out: &Path) -> String {
    format!("fuld sample --resume --out {}", out.display())
}
