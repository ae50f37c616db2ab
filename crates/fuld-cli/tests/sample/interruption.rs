//! A run that was stopped or killed continues to the same bytes.

use super::{assert_same_run, scratch};
use crate::program::{fuld, kill, signal, start, wait, wait_until};
use std::path::Path;

const LONG: &str = "sample x^4/4-x^2/2 --chains 16 --draws 20000 --thin 20 --seed 0 --out run";

/// Returns the number of draws per chain in the checkpoint: all draws, until the first segment of
/// the store is full.
fn saved(run: &Path) -> u64 {
    std::fs::metadata(run.join("checkpoint.bin")).map_or(0, |file| file.len() / (8 * 16))
}

#[test]
fn a_continued_run_gives_the_same_draws() {
    let unbroken = scratch();
    fuld(unbroken.path(), LONG).with(0, &[]);
    let folder = scratch();
    let run = folder.path().join("run");
    let often = format!("{LONG} --checkpoint-every 0.02 --threads 1");
    let mut child = start(folder.path(), &often);
    // Interrupted during the warm-up and in the middle of a segment.
    wait_until(&mut child, || run.join("checkpoint.bin").exists());
    signal(&mut child, "INT");
    wait(child).with(130, &["saved after", "fuld sample --resume --out run"]);
    let mut child = start(folder.path(), &format!("{often} --resume --json"));
    wait_until(&mut child, || saved(&run) > 500);
    signal(&mut child, "INT");
    let ended = wait(child).with(130, &["continue with: fuld sample --resume --out run"]);
    let output: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(
        output["status"] == "interrupted" && output["of"] == 20000 && output["folder"] == "run",
        "{output}"
    );
    let json = std::fs::read_to_string(run.join("draws.zarr/posterior/x/.zarray")).unwrap();
    let (_, shape) = json.split_once("\"shape\":[16,").unwrap();
    let drawn = shape.split_once(']').unwrap().0;
    assert!(
        ended.stderr.contains(&format!("saved after {drawn} of 20000 draws")),
        "{}",
        ended.stderr
    );
    assert!(!run.join("summary.csv").exists());
    let mut child = start(folder.path(), "sample --resume --out run --checkpoint-every 0.02");
    let before = saved(&run);
    wait_until(&mut child, || saved(&run) > before + 500);
    kill(child);
    fuld(folder.path(), "sample --resume --out run").with(0, &[]);
    assert_same_run(&run, &unbroken.path().join("run"));
    // Resuming a finished run changes nothing.
    fuld(folder.path(), "sample --resume --out run").with(0, &[]);
    assert_same_run(&run, &unbroken.path().join("run"));
}

#[test]
fn draws_do_not_depend_on_threads() {
    let folder = scratch();
    let few = "sample double_well --dim 3 --chains 5 --draws 40 --velocities --seed 0";
    for threads in [1, 3] {
        fuld(folder.path(), &format!("{few} --threads {threads} --out {threads}")).with(0, &[]);
    }
    assert_same_run(&folder.path().join("1"), &folder.path().join("3"));
}
