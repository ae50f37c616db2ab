//! Signals: the run is saved, and the same command continues it.

use super::{assert_same, finished, scratch};
use crate::program::{fuld, kill, reached, signal, start, wait, wait_until};

const LONG: &str =
    "train --width 24 --depth 3 --batch 50 --iterations 4000 --measure-every 10 --out run";

#[test]
fn a_signal_saves_and_the_same_command_continues() {
    let unbroken = finished(LONG);
    let folder = scratch();
    let run = folder.path().join("run");
    for name in ["INT", "TERM", "INT"] {
        let before = reached(&run);
        // Checkpoints are frequent, so that progress is visible before the signal causes another
        // one.
        let mut child = start(folder.path(), &format!("{LONG} --checkpoint-every 0.02"));
        wait_until(&mut child, || reached(&run) > before + 100);
        let observed = reached(&run);
        signal(&mut child, name);
        let ended = wait(child).with(130, &["the same command continues"]);
        let saved = reached(&run);
        assert!(
            ended.stderr.contains(&format!("saved after {saved} iterations")),
            "{}",
            ended.stderr
        );
        assert!(saved >= observed && !run.join("result.toml").exists());
    }
    fuld(folder.path(), LONG).with(0, &[]);
    assert_same(&folder, &unbroken, &["weights.safetensors", "metrics.csv"]);
}

#[test]
fn a_folder_belongs_to_one_process_at_a_time() {
    let folder = scratch();
    let run = folder.path().join("run");
    let longer = LONG.replace("4000", "100000");
    let mut child = start(folder.path(), &format!("{longer} --checkpoint-every 0.02"));
    wait_until(&mut child, || reached(&run) > 0);
    for second in [longer.clone(), format!("{longer} --fresh"), LONG.into()] {
        fuld(folder.path(), &second).with(1, &["run is in use by another process"]);
    }
    let before = reached(&run);
    wait_until(&mut child, || reached(&run) > before);
    kill(child);
    // Nothing stays locked.
    fuld(folder.path(), &format!("{LONG} --fresh")).with(0, &[]);
}
