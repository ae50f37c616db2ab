//! Places that a run cannot be kept in.

use super::fuld;
use tempfile::TempDir;

/// A file where the folder `run`, or a folder above it, should be is named, with all of `says`, and left as it is. The command ends with
/// `--out run`.
#[track_caller]
pub(crate) fn no_folder_is_named(command: &str, says: &[&str]) {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("run"), "mine").unwrap();
    fuld(folder.path(), command).with(1, &[&["run"], says].concat());
    fuld(folder.path(), &format!("{command}/below")).with(1, &[&["run/below"], says].concat());
    assert_eq!(std::fs::read(folder.path().join("run")).unwrap(), b"mine");
}

/// A folder `run` that cannot be written is an error that says all this.
#[cfg(unix)]
#[track_caller]
pub(crate) fn what_cannot_be_written_is_named(command: &str, says: &[&str]) {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let run = folder.path().join("run");
    std::fs::create_dir(&run).unwrap();
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(run.join("probe"), "").is_ok() {
        println!("skipped: this user may write everywhere");
        return;
    }
    fuld(folder.path(), command).with(1, says);
}
