//! Errors name the invalid setting or file, and files are not changed.

use super::{TINY, assert_same, file, finished, result, scratch};
use crate::program::{fuld, kill, places, reached, start, wait_until};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

#[test]
fn errors_name_the_invalid_setting() {
    let folder = scratch();
    let refused = |options: &str, code: i32, says: &[&str]| {
        let ended = fuld(folder.path(), &format!("{TINY} {options}")).with(code, says);
        assert!(ended.stdout.is_empty() && !ended.stderr.contains("panicked"), "{ended:?}");
    };
    refused("--alpha 2.1", 2, &["alpha", "2.1"]);
    refused("--alpha nan", 2, &["alpha", "NaN"]);
    refused("--alpha 0", 2, &["alpha", "0"]);
    refused("--alpha two", 2, &["--alpha", "two"]);
    refused("--alpha auto", 2, &["--alpha", "use --guard"]);
    refused("--noise-scale auto", 2, &["--noise-scale", "use --guard"]);
    refused("--eta 0.1 --lr 0.01", 2, &["eta and lr cannot be combined"]);
    refused("--eta -1", 2, &["eta must be positive", "-1"]);
    refused("--alpha -inf", 2, &["-i"]);
    refused("--lr inf", 2, &["lr", "inf"]);
    refused("--optimizer sgd", 2, &["sgd", "sgdm"]);
    refused("--optimizer sgdm --alpha 1.5", 2, &["sgdm has no alpha"]);
    refused("--field authors --lr 0.01", 2, &["field and lr cannot be combined"]);
    refused("--field authors --beta 2", 2, &["the authors' field has no beta", "2"]);
    refused("--field mine", 2, &["mine", "paper", "authors"]);
    refused("--data imagenet", 2, &["imagenet", "digits"]);
    refused("--data digits,mnist", 2, &["--data names 2 data sets", "fuld sweep"]);
    refused("--data mnist", 1, &["mnist", "fuld data fetch mnist"]);
    refused("--inject-noise 2.5,1", 2, &["--inject-noise", "2.5"]);
    refused("--noise-scale injected", 2, &["requires inject_noise"]);
    refused("--noise-scale 1 --kappa 1", 2, &["--noise-scale", "--kappa"]);
    refused("--threads 0", 2, &["--threads", "0"]);
    refused("--checkpoint-every -1", 2, &["--checkpoint-every", "-1"]);
    let refused = |options: &str, code: i32, says: &[&str]| {
        fuld(folder.path(), &format!("train --out run {options}")).with(code, says);
    };
    refused("--width 0", 2, &["width must be at least 1"]);
    refused("--iterations 0", 2, &["iterations must be at least 1"]);
    refused("--measure-every 0", 2, &["--measure-every", "0 is not in 1.."]);
    refused("--batch 0", 2, &["batch must be at least 1"]);
    refused("--batch 1443", 2, &["1443", "at most 1442"]);
    refused("--width 1000000000", 2, &["1000000000", "weights"]);
    refused("--noise-scale -1", 2, &["-1", "positive"]);
    refused("--kappa -1", 2, &["-1", "positive"]);
    refused("--threads 100000", 2, &["100000"]);
    assert!(!folder.path().join("run").exists(), "bad settings make no folder");
    #[cfg(not(feature = "cuda"))]
    {
        refused("--device cuda", 2, &["only the CPU"]);
        refused("--device cuda --tf32", 2, &["only the CPU"]);
    }
    refused("--device cpu --tf32", 2, &["--tf32 requires --device cuda"]);
    refused("--tf32", 2, &["--device"]);
}

/// 900 million weights require more than the 4 GB that the limit allows.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_an_error() {
    let folder = scratch();
    let program = env!("CARGO_BIN_EXE_fuld");
    let limited =
        format!("ulimit -v 4000000; exec {program} train --width 30000 --depth 3 --out run");
    let ended = Command::new("sh").args(["-c", &limited]).current_dir(&folder).output().unwrap();
    let text = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{text}");
    assert!(
        text.contains("GB of memory, more than there is, at width 30000")
            && !text.contains("panic"),
        "{text}"
    );
}

#[test]
fn a_file_instead_of_the_folder_is_an_error() {
    places::assert_file_is_refused(TINY, &[]);
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_an_error() {
    places::assert_read_only_folder_is_refused(TINY, &["run/.fuld"]);
}

#[test]
fn the_result_of_other_settings_is_overwritten_only_with_fresh() {
    let folder = finished(TINY);
    let before = result(folder.path());
    for (other, there, here) in [
        ("--seed 5", "seed = 0", "seed = 5"),
        ("--alpha 1.5", "alpha = 1.75", "alpha = 1.5"),
        ("--lr 0.01", "eta = 0.1", "lr = 0.01"),
    ] {
        fuld(folder.path(), &format!("{TINY} {other}")).with(2, &["other settings", there, here]);
        assert_eq!(result(folder.path()), before);
    }
    fuld(folder.path(), &format!("{TINY} --seed 5 --fresh")).with(0, &[]);
    assert_eq!(result(folder.path())["spec"]["seed"].as_integer(), Some(5));
}

#[test]
fn a_damaged_result_is_overwritten_only_with_fresh() {
    let folder = finished(TINY);
    let path = folder.path().join("run/result.toml");
    let whole = std::fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        fuld(folder.path(), TINY)
            .with(1, &["run/result.toml cannot be read", "cut off or changed"]);
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    };
    // Some of these cuts are between two measurements and leave valid TOML.
    for cut in (0..whole.len()).step_by(101).chain([whole.len() - 1]) {
        refused(&whole[..cut]);
    }
    for at in (0..whole.len()).step_by(211) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        refused(&changed);
    }
    // A result that was never renamed does not count.
    std::fs::remove_file(&path).unwrap();
    std::fs::write(folder.path().join("run/result.toml.part"), &whole).unwrap();
    let weights = file(&folder, "weights.safetensors");
    std::fs::remove_file(folder.path().join("run/weights.safetensors")).unwrap();
    fuld(folder.path(), TINY).with(0, &[]);
    assert!(file(&folder, "weights.safetensors") == weights);
    std::fs::write(&path, b"no TOML").unwrap();
    fuld(folder.path(), &format!("{TINY} --fresh")).with(0, &[]);
    assert_eq!(result(folder.path())["status"].as_str(), Some("finished"));
}

/// Returns a folder with a killed run, and the command that continues it.
fn killed_run() -> (TempDir, String) {
    let command = TINY.replace("--iterations 100", "--iterations 3000");
    let folder = scratch();
    let run = folder.path().join("run");
    let mut child = start(folder.path(), &format!("{command} --checkpoint-every 0"));
    wait_until(&mut child, || reached(&run) > 0);
    kill(child);
    (folder, command)
}

#[test]
fn damaged_and_foreign_checkpoints_are_refused_and_kept() {
    let (folder, command) = killed_run();
    let path = folder.path().join("run/checkpoint.bin");
    let whole = std::fs::read(&path).unwrap();
    let refused = |bytes: &[u8], says: &str| {
        std::fs::write(&path, bytes).unwrap();
        fuld(folder.path(), &command).with(1, &["run/checkpoint.bin", says]);
        assert!(std::fs::read(&path).unwrap() == bytes, "the file was changed");
    };
    for cut in [0, 7] {
        refused(&whole[..cut], "is not a checkpoint of fuld");
    }
    for cut in [8, 15, 16, 100, whole.len() / 2, whole.len() - 1] {
        refused(&whole[..cut], "is damaged");
    }
    for at in [8, 16, 40, whole.len() / 3, whole.len() - 1] {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        refused(&changed, "is damaged");
    }
    refused(b"something else entirely", "is not a checkpoint of fuld");
    refused(&[whole.as_slice(), b"more"].concat(), "is damaged");
    // A valid checkpoint of another run.
    std::fs::write(&path, &whole).unwrap();
    fuld(folder.path(), &format!("{command} --seed 3"))
        .with(2, &["run/checkpoint.bin", "stored seed = 0, requested seed = 3"]);
    assert!(std::fs::read(&path).unwrap() == whole);
    std::fs::write(&path, &whole[..100]).unwrap();
    fuld(folder.path(), &format!("{command} --fresh")).with(0, &[]);
    assert_same(&folder, &finished(&command), &["weights.safetensors", "metrics.csv"]);
}

/// A limit on the size of files simulates a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_does_not_damage_the_checkpoint() {
    let (folder, command) = killed_run();
    let path = folder.path().join("run/checkpoint.bin");
    let before = std::fs::read(&path).unwrap();
    let limited = |folder: &Path, arguments: &str| {
        let script = format!("trap '' XFSZ; ulimit -f 1; exec \"$0\" {arguments}");
        let mut command = Command::new("sh");
        command
            .args(["-c", &script, env!("CARGO_BIN_EXE_fuld")])
            .current_dir(folder)
            .output()
            .unwrap()
    };
    let ended = limited(folder.path(), &format!("{command} --checkpoint-every 0"));
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("run/checkpoint.bin") && stderr.contains("File too large"), "{stderr}");
    assert!(std::fs::read(&path).unwrap() == before, "the checkpoint was changed");
    assert!(
        !folder.path().join("run/checkpoint.bin.part").exists(),
        "the partial file was not deleted"
    );
    // A result exists only if all its files could be written.
    let ended = limited(folder.path(), &command);
    assert_eq!(ended.status.code(), Some(1));
    assert!(path.exists() && !folder.path().join("run/result.toml").exists());
    fuld(folder.path(), &command).with(0, &[]);
    assert_same(&folder, &finished(&command), &["weights.safetensors", "metrics.csv"]);
}
