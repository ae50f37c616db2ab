//! Folders: foreign files are not changed, and a folder contains one run.

use super::{WELL, files, scratch};
use crate::program::{Ended, fuld, signal, start, wait, wait_until};

const FEW: &str = "sample x^2 --chains 2 --draws 20 --out run";

/// Neither with --fresh, nor if a file has the same name as one of fuld's.
#[test]
fn foreign_files_are_not_changed() {
    for names in [
        &["summary.csv", "page.html", "lock"][..],
        &["config.toml"],
        &["result.toml", "checkpoint.bin"],
    ] {
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
    std::fs::write(run.join(".hidden"), "kept").unwrap();
    // The marker is created first. A kill soon after leaves it empty, a later one leaves a partial
    // file.
    std::fs::write(run.join(".fuld"), "").unwrap();
    fuld(folder.path(), FEW).with(0, &[]);
    std::fs::remove_dir_all(run.join("draws.zarr")).unwrap();
    std::fs::remove_file(run.join("config.toml")).unwrap();
    std::fs::rename(run.join("checkpoint.bin"), run.join("checkpoint.bin.part")).unwrap();
    fuld(folder.path(), FEW).with(0, &[]);
    assert_eq!(files(&run)[".hidden"], b"kept");
}

#[test]
fn a_folder_in_use_is_refused() {
    let folder = scratch();
    let mut child =
        start(folder.path(), &format!("{WELL} --draws 1000000 --checkpoint-every 0.02"));
    wait_until(&mut child, || folder.path().join("run/config.toml").exists());
    let ended =
        fuld(folder.path(), "sample --resume --out run").with(1, &["in use by another process"]);
    assert!(!ended.stderr.contains("written"), "{}", ended.stderr);
    signal(&mut child, "INT");
    wait(child).with(130, &[]);
}

#[test]
fn a_damaged_run_is_kept_and_the_error_names_fresh() {
    let folder = scratch();
    fuld(folder.path(), FEW).with(0, &[]);
    let checkpoint = folder.path().join("run/checkpoint.bin");
    let whole = std::fs::read(&checkpoint).unwrap();
    let mut bytes = whole.clone();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&checkpoint, &bytes).unwrap();
    let before = files(&folder.path().join("run"));
    fuld(folder.path(), "sample --resume --out run")
        .with(1, &["damaged", "start again with --fresh"]);
    std::fs::remove_file(&checkpoint).unwrap();
    fuld(folder.path(), "sample --resume --out run")
        .with(1, &["already contains draws", "start again with --fresh"]);
    std::fs::write(&checkpoint, &bytes).unwrap();
    assert!(files(&folder.path().join("run")) == before, "the run was changed");
    // Damaged draws are found before the run continues.
    std::fs::write(&checkpoint, &whole).unwrap();
    let chunk = folder.path().join("run/draws.zarr/posterior/x/0.0");
    let whole = std::fs::read(&chunk).unwrap();
    std::fs::write(&chunk, &whole[1..]).unwrap();
    for command in [FEW, "sample --resume --out run"] {
        fuld(folder.path(), command)
            .with(1, &["posterior/x/0.0 is damaged", "start again with --fresh"]);
    }
    fuld(folder.path(), &format!("{FEW} --fresh")).with(0, &[]);
}

/// The settings are stored only after the checkpoint has accepted the run.
#[test]
fn a_refused_run_does_not_change_the_folder() {
    let folder = scratch();
    fuld(folder.path(), &format!("{FEW} --seed 0")).with(0, &[]);
    let run = folder.path().join("run");
    for config in [None, Some("potential = 'x^2'")] {
        match config {
            None => std::fs::remove_file(run.join("config.toml")).unwrap(),
            Some(text) => std::fs::write(run.join("config.toml"), text).unwrap(),
        }
        let before = files(&run);
        fuld(folder.path(), &format!("{FEW} --seed 1"))
            .with(2, &["stored seed: 0, requested seed: 1", "start again with --fresh"]);
        assert!(files(&run) == before, "the folder was changed");
    }
    fuld(folder.path(), FEW).with(0, &[]);
    assert!(String::from_utf8_lossy(&files(&run)["config.toml"]).contains("seed = 0"));
}

#[cfg(unix)]
#[test]
fn a_folder_name_may_be_invalid_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = scratch();
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_fuld"));
    program.args(["sample", "x^2", "--chains", "2", "--draws", "20", "--json", "--out"]);
    let output =
        program.arg(OsStr::from_bytes(b"run-\xff")).current_dir(folder.path()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let Ended { code, stdout, stderr } = Ended {
        code: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    };
    assert_eq!(code, Some(0), "{stderr}");
    let output: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert!(output["folder"].as_str().unwrap().starts_with("run-"), "{stdout}");
}
