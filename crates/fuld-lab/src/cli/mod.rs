//! The command line: what is asked for, and how its outcome is told.

mod bar;
mod checkpoints;
mod data;
mod device;
mod live;
mod summary;
mod sweep;
mod train;

use crate::settings::SettingsError;
use crate::sweep::GridError;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Exit code of options, settings or a grid that make no sense, as of options that are not there.
const WRONG_USAGE: u8 = 2;
/// Exit code of a run whose loss was not a finite number.
const DIVERGED: u8 = 3;
/// Exit code of a run that was interrupted and saved.
const INTERRUPTED: u8 = 130;

/// Heavy-tailed dynamics: training, sweeps and data.
#[derive(Debug, Parser)]
#[command(name = "fuld", version, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(Box<train::Train>),
    Sweep(sweep::Sweep),
    Data(data::Data),
}

impl Cli {
    /// Does what was asked for and gives the program's exit code. An error is told on standard error, with exit code 1.
    pub fn run(self) -> ExitCode {
        let outcome = match self.command {
            Command::Train(command) => command.run(),
            Command::Sweep(command) => command.run(),
            Command::Data(command) => command.run().map(|()| ExitCode::SUCCESS),
        };
        outcome.unwrap_or_else(|error| {
            eprintln!("error: {}", told(&error));
            let usage = error
                .chain()
                .any(|cause| cause.is::<Usage>() || cause.is::<SettingsError>() || cause.is::<GridError>());
            if usage { ExitCode::from(WRONG_USAGE) } else { ExitCode::FAILURE }
        })
    }
}

/// What went wrong, and why, each once: many a message ends with its cause already.
fn told(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match text.as_str() {
        "" => cause,
        _ if text.contains(&cause) => text,
        _ => format!("{text}: {cause}"),
    })
}

/// Options that this program does not take.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

impl Usage {
    fn unless(right: bool, message: impl FnOnce() -> String) -> Result<(), Self> {
        if right { Ok(()) } else { Err(Self(message())) }
    }
}
