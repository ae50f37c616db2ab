//! Foreign folders are not changed, and the folder of a run suffices to continue it.

use super::{TINY, assert_same, file, finished, result, scratch};
use crate::program::{fuld, kill, reached, rewrite, signal, start, wait, wait_until};
use fuld_train::spec::TRAINING_VERSION;

#[test]
fn a_foreign_folder_is_not_changed() {
    let folder = scratch();
    let run = folder.path().join("run");
    std::fs::create_dir(&run).unwrap();
    let foreign =
        [("weights.safetensors", "mine"), ("lock", "also mine"), ("result.toml", "and this")];
    for (name, text) in foreign {
        std::fs::write(run.join(name), text).unwrap();
    }
    for options in ["", "--fresh", "--resume"] {
        fuld(folder.path(), &format!("{TINY} {options}")).with(2, &["run"]);
        for (name, text) in foreign {
            assert_eq!(
                std::fs::read(run.join(name)).unwrap(),
                text.as_bytes(),
                "{name} after {options}"
            );
        }
        assert_eq!(std::fs::read_dir(&run).unwrap().count(), 3);
    }
}

#[test]
fn fresh_deletes_only_files_of_the_run() {
    let folder = finished(TINY);
    std::fs::write(folder.path().join("run/notes.txt"), "mine").unwrap();
    fuld(folder.path(), &format!("{TINY} --fresh")).with(0, &[]);
    assert_eq!(file(&folder, "notes.txt"), b"mine");
}

#[test]
fn resume_continues_with_the_stored_settings() {
    let command = TINY.replace("--iterations 100", "--iterations 3000 --alpha 1.6");
    let folder = scratch();
    fuld(folder.path(), "train --resume --out run").with(2, &["run contains no run to continue"]);
    assert!(!folder.path().join("run").exists());
    fuld(folder.path(), "train --resume").with(2, &["--out"]);
    let run = folder.path().join("run");
    let mut child = start(folder.path(), &format!("{command} --checkpoint-every 0"));
    wait_until(&mut child, || reached(&run) > 0);
    kill(child);
    // Settings beside --resume must be equal to the stored ones. Those that are left out do not
    // count.
    let other = command.replace("--alpha 1.6", "--alpha 1.7");
    fuld(folder.path(), &format!("{other} --resume"))
        .with(2, &["stored alpha = 1.6, requested alpha = 1.7"]);
    for (options, says) in [
        ("--alpha 1.7", "stored alpha = 1.6, requested alpha = 1.7"),
        ("--alpha 1.6 --seed 3", "stored seed = 0, requested seed = 3"),
        ("--momentum 0.9", "stored no momentum, requested momentum = 0.9"),
        ("--noise-scale injected", "stored no noise_scale, requested noise_scale = injected"),
        ("--device cuda", "stored device = cpu, requested device = cuda"),
    ] {
        fuld(folder.path(), &format!("train --resume --out run {options}")).with(2, &[says]);
    }
    let mut child = start(
        folder.path(),
        "train --resume --out run --alpha 1.6 --field paper --checkpoint-every 0",
    );
    let before = reached(&run);
    wait_until(&mut child, || reached(&run) > before);
    kill(child);
    fuld(folder.path(), "train --resume --out run").with(0, &["continuing after"]);
    assert_same(&folder, &finished(&command), &["weights.safetensors", "metrics.csv"]);
    fuld(folder.path(), "train --resume --out run").with(0, &["this run is finished"]);
}

/// The weights and tables of a finished run are those of its result.
#[test]
fn missing_or_changed_files_of_a_finished_run_are_an_error() {
    let tails = format!("{TINY} --tail-index every=50");
    let folder = finished(&tails);
    let other = finished(&format!("{tails} --seed 5"));
    for name in ["weights.safetensors", "metrics.csv", "tail-index.csv"] {
        let (path, bytes) = (folder.path().join("run").join(name), file(&folder, name));
        for swapped in [None, Some(file(&other, name))] {
            match swapped {
                None => std::fs::remove_file(&path).unwrap(),
                Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            }
            for command in [tails.as_str(), "train --resume --out run"] {
                let ended = fuld(folder.path(), command).with(1, &[name, "--fresh"]);
                assert!(!ended.stdout.contains("written to"), "{}", ended.stdout);
            }
        }
        std::fs::write(&path, bytes).unwrap();
        fuld(folder.path(), &tails).with(0, &["this run is finished"]);
    }
}

#[test]
fn a_result_of_another_version_is_recomputed() {
    let folder = finished(TINY);
    let path = folder.path().join("run/result.toml");
    let weights = file(&folder, "weights.safetensors");
    rewrite(&path, &format!("version = {TRAINING_VERSION}\n"), "");
    let says =
        format!("made by version 1 of the training rule, now {TRAINING_VERSION}: training again");
    fuld(folder.path(), TINY).with(0, &[&says]);
    assert_eq!(result(folder.path())["version"].as_integer(), Some(TRAINING_VERSION.into()));
    assert!(file(&folder, "weights.safetensors") == weights);
    // A result with a valid checksum and another specification is not used.
    rewrite(&path, "batch = 50", "batch = 51");
    fuld(folder.path(), TINY).with(2, &["other settings", "batch = 51", "batch = 50"]);
}

/// A checkpoint of another version is not continued. The stored specification is renewed, so that
/// --resume continues the new run.
#[test]
fn a_run_of_another_version_is_made_again_and_can_be_resumed() {
    let command = TINY.replace("--iterations 100", "--iterations 3000");
    let folder = scratch();
    let run = folder.path().join("run");
    let path = run.join("checkpoint.bin");
    let interrupt = |before: &[u8], says: &[&str]| {
        let mut child = start(folder.path(), &format!("{command} --checkpoint-every 0"));
        wait_until(&mut child, || std::fs::read(&path).is_ok_and(|now| now != before));
        signal(&mut child, "INT");
        wait(child).with(130, says);
    };
    interrupt(&[], &[]);
    // Checkpoint and specification as version 1 would have written them.
    let version = format!("version = {TRAINING_VERSION}");
    rewrite(&run.join("spec.toml"), &version, "version = 1");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(version.len()).position(|window| window == version.as_bytes()).unwrap();
    bytes[at + version.len() - 1] = b'1';
    bytes.truncate(bytes.len() - 8);
    let checksum = fuld::durable::fingerprint(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    std::fs::write(&path, &bytes).unwrap();
    fuld(folder.path(), "train --resume --out run")
        .with(2, &["started by version 1", "without --resume"]);
    // Other settings are refused and change nothing.
    let before = std::fs::read(run.join("spec.toml")).unwrap();
    fuld(folder.path(), &format!("{command} --seed 3"))
        .with(2, &["stored seed = 0, requested seed = 3"]);
    assert!(std::fs::read(run.join("spec.toml")).unwrap() == before);
    assert!(std::fs::read(&path).unwrap() == bytes);
    interrupt(
        &bytes,
        &[&format!("version 1 of the training rule, now {TRAINING_VERSION}: training again")],
    );
    fuld(folder.path(), "train --resume --out run").with(0, &["continuing after"]);
    assert_same(&folder, &finished(&command), &["weights.safetensors", "metrics.csv"]);
}

#[test]
fn a_checkpoint_with_wrong_shapes_is_an_error() {
    let command = TINY.replace("--iterations 100", "--iterations 3000");
    let folder = scratch();
    let run = folder.path().join("run");
    let mut child = start(folder.path(), &format!("{command} --checkpoint-every 0"));
    wait_until(&mut child, || reached(&run) > 0);
    kill(child);
    let path = run.join("checkpoint.bin");
    let bytes = std::fs::read(&path).unwrap();
    let sealed = |mut bytes: Vec<u8>| {
        bytes.truncate(bytes.len() - 8);
        let checksum = fuld::durable::fingerprint(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    };
    let replaced = |from: &[u8], to: &[u8]| {
        let mut changed = bytes.clone();
        let at = changed.windows(from.len()).position(|window| window == from).unwrap();
        changed[at..at + from.len()].copy_from_slice(to);
        sealed(changed)
    };
    for (bytes, says) in [
        (replaced(b"[1,64,16]", b"[1,16,64]"), "has the shape [1, 16, 64] instead of [1, 64, 16]"),
        (replaced(b"\"weights.1\"", b"\"weights.9\""), "does not contain the tensor weights.1"),
        (replaced(b"FULDNET2", b"FULDNET1"), "has format '1'"),
    ] {
        std::fs::write(&path, &bytes).unwrap();
        let ended = fuld(folder.path(), &command).with(1, &["run/checkpoint.bin", says]);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        assert!(std::fs::read(&path).unwrap() == bytes);
    }
}
