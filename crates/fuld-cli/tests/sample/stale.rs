//! Draws of another version of the dynamics are recomputed, with a note.

use super::{assert_same_run, scratch};
use crate::program::fuld;
use fuld::chains::DYNAMICS_VERSION;
use fuld::durable::fingerprint;

const FEW: &str = "sample x^2 --chains 2 --draws 20 --seed 0 --out run";

#[test]
fn stale_draws_are_recomputed() {
    let folder = scratch();
    fuld(folder.path(), FEW).with(0, &[]);
    let file = folder.path().join("run/checkpoint.bin");
    let whole = std::fs::read(&file).unwrap();
    // The same checkpoint with an older version in its specification, and a new checksum.
    let version = |n: u32| format!("\"dynamics_version\":{n}").into_bytes();
    let (now, then) = (version(DYNAMICS_VERSION), version(DYNAMICS_VERSION - 1));
    let at = whole.windows(now.len()).position(|bytes| bytes == now).unwrap();
    let mut old = whole[..whole.len() - 8].to_vec();
    old[at..at + then.len()].copy_from_slice(&then);
    let sum = fingerprint(&old);
    old.extend(sum.to_le_bytes());
    std::fs::write(&file, old).unwrap();
    let fresh = scratch();
    fuld(fresh.path(), FEW).with(0, &[]);
    let ended = fuld(folder.path(), FEW).with(0, &["made by version", "sampling again"]);
    assert!(
        ended.stderr.contains(&format!("version {}", DYNAMICS_VERSION - 1)),
        "{}",
        ended.stderr
    );
    assert_same_run(&folder.path().join("run"), &fresh.path().join("run"));
}
