//! Folders: foreign files are not changed, and a folder contains one run.

use super::{WELL, files, scratch};
use crate::program::{Ended, fuld, signal, start, wait, wait_until};

const FEW: &str = "sample x^2 --chains 2 --draws 20 --out run";

/// Neither with --fresh, nor if a file has the same name as one of fuld's.
#[test]
fn foreign_files_are_not_changed() {
    for names in
        [&["summary.csv", "page.html", "lock"][..], &["config.toml"], &["result.toml", "checkpoint.bin"]]
    {
        let folder = scratch();
        let run = folder.path().join("run");
        std::fs::create_dir(&run).unwrap();
        for name in names {
            std::fs::write(run.join(name), "title = 'mine'").unwrap();
        }
        let before = files(&run);
        for options in ["", "--fresh"] {
            fuld(folder.path(), &format!("{FEW} {options}"))
                .with(2, &["run contains `", "which fuld did not write", "--out"]);
        }
        let ended = fuld(folder.path(), &format!("{FEW} --resume"));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(files(&run) == before, "{names:?}");
    }
}

#[test]
fn a_run_killed_at_its_start_can_be_repeated() {
    let folder = scratch();
    let run = folder.path().join("run");
    std::fs::create_dir(&run).unwrap();
    // The marker is created first. A kill soon after leaves a partial configuration.
    for name in [".fuld", "config.toml.part", ".hidden"] {
        std::fs::write(run.join(name), if name == ".hidden" { "kept" } else { "" }).unwrap();
    }
    fuld(folder.path(), FEW).with(0, &[]);
    assert_eq!(files(&run)[".hidden"], b"kept");
}

#[test]
fn a_folder_in_use_is_refused() {
    let folder = scratch();
    let mut child = start(folder.path(), &format!("{WELL} --draws 1000000 --checkpoint-every 0.02"));
    wait_until(&mut child, || folder.path().join("run/checkpoint.bin").exists());
    let ended = fuld(folder.path(), "sample --resume --out run").with(1, &["in use by another process"]);
    assert!(!ended.stderr.contains("written"), "{}", ended.stderr);
    signal(&mut child, "INT");
    wait(child).with(130, &[]);
}

#[test]
fn a_damaged_run_is_kept_and_the_error_names_fresh() {
    let folder = scratch();
    fuld(folder.path(), FEW).with(0, &[]);
    let checkpoint = folder.path().join("run/checkpoint.bin");
    let mut bytes = std::fs::read(&checkpoint).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&checkpoint, &bytes).unwrap();
    let before = files(&folder.path().join("run"));
    fuld(folder.path(), "sample --resume --out run").with(1, &["damaged", "start again with --fresh"]);
    std::fs::remove_file(&checkpoint).unwrap();
    fuld(folder.path(), "sample --resume --out run")
        .with(1, &["holds draws already", "start again with --fresh"]);
    std::fs::write(&checkpoint, &bytes).unwrap();
    assert!(files(&folder.path().join("run")) == before, "the run was changed");
    fuld(folder.path(), &format!("{FEW} --fresh")).with(0, &[]);
}

#[cfg(unix)]
#[test]
fn a_folder_name_may_be_invalid_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = scratch();
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_fuld"));
    program.args(["sample", "x^2", "--chains", "2", "--draws", "20", "--json", "--out"]);
    let output = program.arg(OsStr::from_bytes(b"run-\xff")).current_dir(folder.path()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let Ended { code, stdout, stderr } =
        Ended { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) };
    assert_eq!(code, Some(0), "{stderr}");
    let output: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert!(output["folder"].as_str().unwrap().starts_with("run-"), "{stdout}");
}
