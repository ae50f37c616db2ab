//! The command line: what is asked for, and how its outcome is told.

mod data;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Heavy-tailed dynamics: training, sweeps and data.
#[derive(Debug, Parser)]
#[command(name = "fuld", version, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Data(data::Data),
}

impl Cli {
    /// Does what was asked for and gives the program's exit code: 0 for success, 1 for an error, which is told on standard error.
    pub fn run(self) -> ExitCode {
        let outcome = match self.command {
            Command::Data(command) => command.run(),
        };
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error:#}");
                ExitCode::FAILURE
            }
        }
    }
}
