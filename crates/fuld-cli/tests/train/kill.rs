//! A run that is killed many times gives the same result as an uninterrupted one.

use super::{assert_same, finished, scratch};
use crate::program::{Chance, KILLS, fuld, kill, reached, start, wait_until};

/// Kills a run after increasing times, so that kills happen while it loads, trains, measures and
/// saves.
fn assert_killed_runs_equal_uninterrupted_ones(options: &str, seed: u64) {
    let command = format!(
        "train --width 24 --depth 3 --batch 50 --iterations 4000 --measure-every 10 --tail-index every=1000 --out run {options}"
    );
    let unbroken = finished(&command);
    let folder = scratch();
    let run = folder.path().join("run");
    let mut chance = Chance::new(seed);
    for kills in 0..KILLS {
        let before = reached(&run);
        let mut child = start(folder.path(), &format!("{command} --checkpoint-every 0"));
        if kills % 5 == 4 {
            // A kill at a random time, perhaps while the program still loads.
            chance.sleep_below(20);
        } else {
            let steps = 1 + chance.below(20 + 15 * kills);
            wait_until(&mut child, || reached(&run) >= before + steps);
            chance.sleep_below(4);
        }
        kill(child);
        let after = reached(&run);
        assert!(after >= before, "{before} steps became {after}");
    }
    let before = reached(&run);
    println!("{before} steps in {KILLS} processes");
    fuld(folder.path(), &command).with(0, &[]);
    assert!(before > 0 && !run.join("checkpoint.bin").exists());
    assert_same(&folder, &unbroken, &["weights.safetensors", "metrics.csv", "tail-index.csv"]);
}

#[test]
#[ignore = "kill loop: run by make test-all"]
fn killed_runs_of_fuld_with_noise_are_unaffected() {
    assert_killed_runs_equal_uninterrupted_ones("--alpha 1.6 --inject-noise 1.5,1e-3", 1);
}

#[test]
#[ignore = "kill loop: run by make test-all"]
fn killed_runs_of_adam_are_unaffected() {
    assert_killed_runs_equal_uninterrupted_ones("--optimizer adam", 2);
}

#[test]
#[ignore = "kill loop: run by make test-all"]
fn killed_runs_with_a_guard_are_unaffected() {
    assert_killed_runs_equal_uninterrupted_ones(
        "--optimizer adam --guard 3 --inject-noise 1.5,1e-3",
        4,
    );
}
