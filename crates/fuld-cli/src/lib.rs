//! The command line of `fuld`: arguments, progress, printed results and exit codes.

#[macro_use]
mod stdout;
mod checkpoint_args;
mod completions;
mod compute_args;
mod data;
mod data_args;
mod exit_code;
mod fetch_bar;
mod folder_args;
mod grouped;
mod interrupt;
mod law;
mod negative_points;
mod numbers;
mod output;
mod plot_file;
mod progress_style;
mod reproduce;
mod sample;
mod stderr;
mod sweep;
mod sweep_progress;
mod sweep_summary;
mod tail_index;
mod terminal_width;
mod threads;
mod train;
mod train_args;

use crate::stderr::write_line;
use clap::{Parser, Subcommand};
use exit_code::{EXIT_CODES, exit_code};
use output::Output;
use std::process::ExitCode;

const FIRST_STEPS: &str = "\
First steps:
  fuld reproduce                                reproduce the paper's figures and claims in a report
  fuld sample \"x^4/4 - x^2/2\"                   draw from exp(-f), where f is your formula
  fuld law pdf 2 --alpha 1.5                    evaluate the density of the stable law at 2
  fuld tail-index noise.npy                     estimate how heavy the tails of your numbers are
  fuld train                                    train a network on the built-in digits, alpha = 1.75

More examples: fuld COMMAND --help. Results go to standard output; notes, progress and errors go to standard error.";

fn overview() -> String {
    format!("{FIRST_STEPS}\n\n{EXIT_CODES}")
}

/// Fractional underdamped Langevin dynamics: sampling and training with heavy-tailed noise.
///
/// The dynamics are driven by an alpha-stable Levy motion instead of a Brownian motion: alpha = 2
/// is the usual Gaussian noise, and below 2 the noise has jumps. This program draws from densities,
/// trains networks, evaluates the stable law, and reproduces the paper (Simsekli, Zhu, Teh,
/// Gurbuzbalaban, ICML 2020).
#[derive(Debug, Parser)]
#[command(name = "fuld", version, propagate_version = true, after_help = overview())]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Subcommand)]
enum Command {
    Reproduce(reproduce::Reproduce),
    Sample(Box<sample::Sample>),
    Law(law::Law),
    TailIndex(tail_index::TailIndex),
    Train(Box<train::Train>),
    Sweep(sweep::Sweep),
    Data(data::Data),
    Completions(completions::Completions),
}

impl Cli {
    /// Reads the command line. Wrong usage ends the program.
    pub fn read() -> Self {
        let parsed = Self::try_parse_from(negative_points::protected(std::env::args_os()));
        parsed.unwrap_or_else(|error| negative_points::restored(error).exit())
    }

    /// Runs the command and returns the exit code of the program. Errors are printed on standard
    /// error.
    pub fn run(self) -> ExitCode {
        let output = &self.output;
        let outcome = match self.command {
            Command::Reproduce(command) => command.run(output),
            Command::Sample(command) => command.run(output),
            Command::Law(command) => command.run(output).map(|()| ExitCode::SUCCESS),
            Command::TailIndex(command) => command.run(output).map(|()| ExitCode::SUCCESS),
            Command::Train(command) => command.run(output),
            Command::Sweep(command) => command.run(output),
            Command::Data(command) => command.run(output).map(|()| ExitCode::SUCCESS),
            Command::Completions(command) => command.run().map(|()| ExitCode::SUCCESS),
        };
        outcome.unwrap_or_else(|error| {
            write_line(format_args!("error: {}", message_with_causes(&error)));
            exit_code(&error)
        })
    }
}

/// Returns the message of an error and of its causes. Leaves out a cause that the message already
/// contains.
fn message_with_causes(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match text.as_str() {
        "" => cause,
        _ if text.contains(&cause) => text,
        _ => format!("{text}: {cause}"),
    })
}

/// An error of wrong usage, with exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

impl Usage {
    /// Returns the error unless `right`.
    fn unless(right: bool, message: impl FnOnce() -> String) -> Result<(), Self> {
        if right { Ok(()) } else { Err(Self(message())) }
    }
}
