//! The exit codes of the program, and the one place where errors are mapped to them.

use crate::Usage;
use fuld::chains::RunError;
use fuld::folder::FolderError;
use fuld_reproduce::ReproductionError;
use fuld_sample::SamplingError;
use fuld_train::data::{DataError, FetchError};
use fuld_train::run_folder::RunFolderError;
use fuld_train::spec::SpecError;
use fuld_train::sweep::GridError;
use fuld_train::train::TrainError;
use std::error::Error;
use std::process::ExitCode;

/// Exit code of a failure while running.
const FAILED: u8 = 1;
/// Exit code of a request that cannot be fulfilled as it is.
const WRONG_USAGE: u8 = 2;
/// Exit code of a run that diverged.
pub(crate) const DIVERGED: u8 = 3;
/// Exit code of a run that was interrupted and saved.
pub(crate) const INTERRUPTED: u8 = 130;

/// The exit codes as `fuld --help` lists them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    failure while running: data cannot be read, written or fetched, a folder is in use,
       or some runs of a sweep failed
  2    wrong usage: invalid options or settings, a file of settings that cannot be read, a
       folder that fuld did not make or that contains a run with other settings, or nothing
       to resume
  3    the run diverged
  130  interrupted and saved: the same command continues from there";

/// Returns the exit code of an error.
pub(crate) fn exit_code(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(if error.chain().any(is_usage) { WRONG_USAGE } else { FAILED })
}

/// Returns whether an error is one of the request, not of its execution.
fn is_usage(error: &(dyn Error + 'static)) -> bool {
    fn is<T: Error + 'static>(error: &(dyn Error + 'static), usage: fn(&T) -> bool) -> bool {
        error.downcast_ref().is_some_and(usage)
    }
    is::<Usage>(error, |_| true)
        || is::<SpecError>(error, |_| true)
        || is::<GridError>(error, |_| true)
        || is::<SamplingError>(error, |_| true)
        || is::<ReproductionError>(error, |_| true)
        || is(error, of_data)
        || is(error, of_folder)
        || is(error, of_run_folder)
        || is(error, of_training)
        || is(error, |error| matches!(error, FetchError::Occupied(_)))
        || is(error, |error| {
            matches!(
                error,
                RunError::NotFinite { .. }
                    | RunError::Checkpoint(fuld::chains::CheckpointError::OtherRun { .. })
            )
        })
}

fn of_data(error: &DataError) -> bool {
    matches!(
        error,
        DataError::Unknown(_)
            | DataError::Both { .. }
            | DataError::Nothing(_)
            | DataError::NoDirectory
    )
}

fn of_folder(error: &FolderError) -> bool {
    matches!(
        error,
        FolderError::Foreign { .. }
            | FolderError::OtherCommand { .. }
            | FolderError::IsFile { .. }
            | FolderError::Link(_)
    )
}

fn of_run_folder(error: &RunFolderError) -> bool {
    match error {
        RunFolderError::Folder(error) => of_folder(error),
        RunFolderError::Checkpoint(error) => of_checkpoint(error),
        RunFolderError::OtherRun { .. }
        | RunFolderError::Stale { .. }
        | RunFolderError::Empty(_) => true,
        _ => false,
    }
}

fn of_training(error: &TrainError) -> bool {
    matches!(error, TrainError::Checkpoint(error) if of_checkpoint(error))
}

fn of_checkpoint(error: &fuld_train::train::TrainCheckpointError) -> bool {
    matches!(error, fuld_train::train::TrainCheckpointError::OtherRun { .. })
}
