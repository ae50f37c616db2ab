//! The options --out, --resume and --fresh, the same in every command that writes a folder.

use super::Usage;
use clap::Args;
use std::path::{Path, PathBuf};

/// The folder of a command, and how to treat a run that is already there.
#[derive(Args, Clone, Debug)]
pub(super) struct FolderArgs {
    /// Folder for the results
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub(super) out: Option<PathBuf>,
    /// Continue the run in --out with the settings stored there; settings given beside it must be
    /// equal to those
    #[arg(long, conflicts_with = "fresh", help_heading = "Files")]
    pub(super) resume: bool,
    /// Delete the files that fuld wrote in the folder, and start again
    #[arg(long, help_heading = "Files")]
    pub(super) fresh: bool,
}

impl FolderArgs {
    /// Returns the folder to resume, which must be given because the default depends on the
    /// settings.
    pub(super) fn resumed(&self) -> Result<&Path, Usage> {
        self.out
            .as_deref()
            .ok_or_else(|| Usage("--resume requires --out DIR, the folder of the run".into()))
    }
}
