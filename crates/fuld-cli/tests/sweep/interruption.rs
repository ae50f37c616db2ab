//! A killed or stopped sweep continues where it was.

use super::table::SweepTable;
use super::{GRID, SWEEP, runs, swept, with_grid};
use crate::program::{Chance, KILLS, fuld, kill, reached, signal, start, wait, wait_until};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;
use tempfile::TempDir;

/// Returns the number of steps of all runs together.
fn steps(folder: &TempDir) -> u64 {
    runs(folder)
        .iter()
        .map(|run| if run.join("result.toml").exists() { 1000 } else { reached(run) })
        .sum()
}

/// Returns every result with the time at which it was written.
fn results(folder: &TempDir) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let paths =
        runs(folder).into_iter().map(|run| run.join("result.toml")).filter(|path| path.exists());
    paths
        .map(|path| {
            let written =
                (std::fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap());
            (path, written)
        })
        .collect()
}

#[test]
#[ignore = "kill loop: run by make test-all"]
fn a_killed_sweep_gives_the_same_results_as_an_uninterrupted_one() {
    let unbroken = swept(GRID);
    let folder = with_grid(GRID);
    let mut chance = Chance::new(3);
    let mut known = results(&folder);
    let mut check = |folder: &TempDir| {
        let now = results(folder);
        for (path, result) in &known {
            assert!(now.get(path) == Some(result), "{} was written again", path.display());
        }
        known = now;
        known.len()
    };
    let mut finished = 0;
    for kills in 0..KILLS {
        let before = steps(&folder);
        let mut child = start(folder.path(), &format!("{SWEEP} --checkpoint-every 0"));
        if kills % 5 == 4 {
            chance.sleep_below(20);
        } else {
            let more = 1 + chance.below(100 + 30 * kills);
            wait_until(&mut child, || steps(&folder) >= before + more);
            chance.sleep_below(4);
        }
        kill(child);
        finished = check(&folder);
    }
    println!("{} steps and {finished} runs in {KILLS} processes", steps(&folder));
    assert!((1..12).contains(&finished), "{finished} runs were finished");
    // The remains of an interrupted write, which was never renamed.
    let open = runs(&folder).into_iter().find(|run| !run.join("result.toml").exists());
    if let Some(run) = open {
        let whole = std::fs::read(runs(&unbroken)[0].join("result.toml")).unwrap();
        std::fs::write(run.join("result.toml.part"), &whole[..whole.len() / 2]).unwrap();
    }
    let ended = fuld(folder.path(), SWEEP).with(0, &[]);
    assert!(ended.stdout.contains(&format!("{finished} already done")), "{}", ended.stdout);
    assert_eq!(check(&folder), 12);
    assert_eq!(SweepTable::of(&folder).timeless(), SweepTable::of(&unbroken).timeless());
    for (ours, theirs) in runs(&folder).iter().zip(runs(&unbroken)) {
        for name in ["weights.safetensors", "metrics.csv"] {
            assert!(
                std::fs::read(ours.join(name)).unwrap()
                    == std::fs::read(theirs.join(name)).unwrap()
            );
        }
    }
    // A third sweep has nothing to do.
    fuld(folder.path(), SWEEP).with(0, &[]);
    assert_eq!(check(&folder), 12);
}

#[test]
fn a_stopped_sweep_saves_and_continues() {
    let folder = with_grid(GRID);
    for name in ["INT", "TERM"] {
        let before = steps(&folder);
        let mut child = start(folder.path(), &format!("{SWEEP} --checkpoint-every 0.02"));
        wait_until(&mut child, || steps(&folder) > before + 300);
        signal(&mut child, name);
        let ended = wait(child).with(130, &["saving"]);
        assert!(
            ended.stdout.contains("stopped and saved: the same command continues"),
            "{}",
            ended.stdout
        );
        assert!(steps(&folder) > before + 300 && results(&folder).len() < 12);
    }
    let checkpoints =
        runs(&folder).iter().filter(|run| run.join("checkpoint.bin").exists()).count();
    assert!((1..=2).contains(&checkpoints), "{checkpoints} runs have a checkpoint");
    fuld(folder.path(), SWEEP).with(0, &[]);
    assert_eq!(SweepTable::of(&folder).timeless(), SweepTable::of(&swept(GRID)).timeless());
}
