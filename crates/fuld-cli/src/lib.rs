//! The command line: what is asked for, and how its outcome is told.

#[macro_use]
mod stdout;
mod bar;
mod checkpoints;
mod completions;
mod data;
mod device;
mod fetch_bar;
mod grouped;
mod interrupt;
mod law;
mod live;
mod negative_points;
mod numbers;
mod output;
mod picture;
mod reproduce;
mod sample;
mod stderr;
mod summary;
mod sweep;
mod tail_index;
mod threads;
mod train;
mod train_args;
mod width;

use crate::stderr::say;
use clap::{Parser, Subcommand};
use fuld_sample::SamplingError;
use fuld_train::spec::SpecError;
use fuld_train::sweep::GridError;
use output::Output;
use std::process::ExitCode;

/// Exit code of options, settings or a grid that make no sense, as of options that are not there.
const WRONG_USAGE: u8 = 2;
/// Exit code of a run whose loss was not a finite number.
const DIVERGED: u8 = 3;
/// Exit code of a run that was interrupted and saved.
const INTERRUPTED: u8 = 130;

const OVERVIEW: &str = "\
First steps:
  fuld reproduce                                every figure and claim of the paper, in a report
  fuld sample \"x^4/4 - x^2/2\" --alpha 1.5       draws from exp(-f), f a formula of your own
  fuld law pdf 2 --alpha 1.5                    the density of the stable law at 2
  fuld tail-index noise.npy                     how heavy the tails of your numbers are
  fuld train                                    a network on the built-in digits, alpha = 1.75

fuld COMMAND --help has more examples. Results go to standard output; notes, progress and errors to standard error.

Exit codes:
  0    done
  1    an error, or some runs of a sweep failed
  2    wrong usage: options or settings that make no sense
  3    the run diverged
  130  interrupted, and saved: the same command goes on from there (sample: with --resume)";

/// Fractional underdamped Langevin dynamics: sampling and training with heavy-tailed noise.
///
/// Langevin dynamics driven by an alpha-stable Levy motion instead of a Brownian one: alpha = 2 is the Gaussian of old,
/// below 2 there are jumps. This program draws from densities with it, trains networks with it, evaluates the stable law that
/// all of it rests on, and reproduces the paper (Simsekli, Zhu, Teh, Gurbuzbalaban, ICML 2020).
#[derive(Debug, Parser)]
#[command(name = "fuld", version, propagate_version = true, after_help = OVERVIEW)]
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
    /// What the command line asks for; wrong usage ends the program.
    pub fn read() -> Self {
        Self::parse_from(negative_points::protected(std::env::args_os()))
    }

    /// Does what was asked for and gives the program's exit code. An error is told on standard error, with exit code 1.
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
            say(format_args!("error: {}", told(&error)));
            let usage = error.chain().any(|cause| {
                cause.is::<Usage>()
                    || cause.is::<SpecError>()
                    || cause.is::<GridError>()
                    || cause.is::<SamplingError>()
            });
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
