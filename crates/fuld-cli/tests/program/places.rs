//! Assertions about folders that a run cannot be written to.

use super::fuld;
use tempfile::TempDir;

/// Asserts that the command, which must end with `--out run`, fails with all texts of `says` if
/// `run` or its parent is a file, and does not change that file.
#[track_caller]
pub(crate) fn assert_file_is_refused(command: &str, says: &[&str]) {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("run"), "mine").unwrap();
    let refused = |command: &str, path: &str| {
        let text = format!("run is a file, so {path} cannot be a folder");
        fuld(folder.path(), command).with(2, &[&[text.as_str()], says].concat());
    };
    refused(command, "run");
    refused(&format!("{command}/below"), "run/below");
    assert_eq!(std::fs::read(folder.path().join("run")).unwrap(), b"mine");
}

/// Asserts that the command fails with all texts of `says` if the folder `run` is read-only.
#[cfg(unix)]
#[track_caller]
pub(crate) fn assert_read_only_folder_is_refused(command: &str, says: &[&str]) {
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
