//! Foreign and damaged checkpoints and stores are refused, and left as they are.

use crate::resumption::{scratch, tree};
use crate::wells::{run, wells};
use fuld::chains::{Callback, CheckpointError, Control, RunError, ZarrSink};
use fuld::potential::Harmonic;
use fuld::{Integrator, Run, ZarrDraws};
use std::path::Path;

#[test]
fn foreign_and_damaged_checkpoints_are_refused_and_kept() {
    let path = scratch("refused").join("run.ckpt");
    let attempt = |run: Run| {
        let mut sink = Callback(|_, _: &[f64]| Ok(()));
        Run { checkpoint: Some(path.clone()), ..run }
            .stream(&wells(1), &mut sink, &mut |_| Control::Continue)
    };
    attempt(run(Integrator::Baoab)).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let error = attempt(run(Integrator::Baoab)).unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "the file was left in place");
        error
    };
    // Truncated at any byte, or with any byte changed.
    for cut in [0, 4, 8, 15, 20, 100, whole.len() / 2, whole.len() - 1] {
        let error = refused(&whole[..cut]).to_string();
        assert!(error.contains("damaged") || error.contains("not a checkpoint"), "{error}");
    }
    for at in (16..whole.len()).step_by(97) {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        assert!(
            matches!(refused(&changed), RunError::Checkpoint(CheckpointError::Damaged { .. })),
            "byte {at}"
        );
    }
    assert!(refused(b"something else entirely").to_string().contains("not a checkpoint of fuld"));
    let mut newer = whole.clone();
    newer[8] = 9;
    assert!(refused(&newer).to_string().contains("version 9"));
    // A valid checkpoint of another run.
    std::fs::write(&path, &whole).unwrap();
    let error = attempt(Run { seed: 12, ..run(Integrator::Baoab) }).unwrap_err().to_string();
    assert!(error.contains("stored seed: 11, requested seed: 12"), "{error}");
    let error = attempt(run(Integrator::Aboba)).unwrap_err().to_string();
    assert!(
        error.contains(r#"stored integrator: "baoab", requested integrator: "aboba""#),
        "{error}"
    );
}

/// A store, a potential or functions of another run are refused.
#[test]
fn parts_of_different_runs_are_not_mixed() {
    let directory = scratch("mixed");
    let long = |seed| Run { chains: 600, draws: 12_000, seed, ..run(Integrator::Baoab) };
    let other = directory.join("other.zarr");
    long(7).stream(&wells(2), &mut ZarrSink::new(&other), &mut |_| Control::Continue).unwrap();
    let before = tree(&other);
    let stop_after = |run: &Run, store: &str, calls: usize| {
        let mut count = 0;
        let stop = &mut |_: &_| {
            count += 1;
            if count == calls { Control::Stop } else { Control::Continue }
        };
        run.stream(&wells(2), &mut ZarrSink::new(directory.join(store)), stop).unwrap()
    };
    for (calls, checkpoint) in [(1, "warm.ckpt"), (12, "later.ckpt")] {
        let run = Run { checkpoint: Some(directory.join(checkpoint)), ..long(1) };
        assert!(stop_after(&run, &format!("{calls}.zarr"), calls).stopped);
        let resumed = run.stream(&wells(2), &mut ZarrSink::new(&other), &mut |_| Control::Continue);
        let error = resumed.unwrap_err().to_string();
        assert!(error.contains("another run"), "{error}");
        assert!(tree(&other) == before, "the other store was left alone");
        let store = directory.join(format!("{calls}.zarr"));
        let noisy = Harmonic::isotropic(2, 1.0).unwrap();
        let resumed = run.stream(&noisy, &mut ZarrSink::new(&store), &mut |_| Control::Continue);
        let error = resumed.unwrap_err().to_string();
        assert!(error.contains("potential"), "{error}");
        let functions = Run { functions: Vec::new(), ..run.clone() }.averaging("x", |x| x[0]);
        assert!(
            functions
                .stream(&wells(2), &mut ZarrSink::new(&store), &mut |_| Control::Continue)
                .is_err()
        );
        run.stream(&wells(2), &mut ZarrSink::new(&store), &mut |_| Control::Continue).unwrap();
    }
}

#[test]
fn a_store_is_not_overwritten() {
    let store = scratch("overwrite").join("draws.zarr");
    let go = |store: &Path| {
        run(Integrator::Euler)
            .stream(&wells(1), &mut ZarrSink::new(store), &mut |_| Control::Continue)
    };
    go(&store).unwrap();
    assert!(go(&store).unwrap_err().to_string().contains("already contains draws"));
    let file = store.with_file_name("a file");
    std::fs::write(&file, "").unwrap();
    let error = go(&file.join("draws.zarr")).unwrap_err().to_string();
    assert!(error.contains("draws cannot be written") && error.contains("a file"), "{error}");
}

/// The descriptions and chunks of a store are compared with its specification, before reading and
/// before a run continues.
#[test]
fn damaged_stores_are_refused() {
    let directory = scratch("damaged-store");
    let (store, checkpoint) = (directory.join("draws.zarr"), directory.join("run.ckpt"));
    let run = Run {
        chains: 3,
        draws: 40,
        velocities: true,
        checkpoint: Some(checkpoint),
        ..run(Integrator::Baoab)
    };
    let go = || run.stream(&wells(2), &mut ZarrSink::new(&store), &mut |_| Control::Continue);
    go().unwrap();
    let refused = |name: &str, change: &dyn Fn(&str) -> String, says: &str| {
        let file = store.join(name);
        let whole = std::fs::read_to_string(&file).unwrap();
        let changed = change(&whole);
        assert!(changed != whole, "{whole}");
        std::fs::write(&file, changed).unwrap();
        let error = ZarrDraws::open(&store).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData, "{error}");
        let says = format!("{} is damaged: {says}", file.display());
        assert!(error.to_string().starts_with(&says), "{error}\n{says}");
        std::fs::write(&file, whole).unwrap();
    };
    let huge = usize::MAX;
    for (array, from, to, says) in [
        (
            "x",
            "\"shape\":[3,40,2]",
            "\"shape\":[3,30,2]".to_owned(),
            "shape is [3,30,2], expected [3,40,2]",
        ),
        (
            "x",
            "\"shape\":[3,40,2]",
            "\"shape\":[3,41,2]".to_owned(),
            "shape is [3,41,2], expected [3,40,2]",
        ),
        (
            "v",
            "\"shape\":[3,40,2]",
            "\"shape\":[3,40,1]".to_owned(),
            "shape is [3,40,1], expected [3,40,2]",
        ),
        (
            "x",
            "\"chunks\":[3,40,2]",
            "\"chunks\":[3,20,2]".to_owned(),
            "chunks is [3,20,2], expected [3,40,2]",
        ),
        (
            "x",
            "\"chunks\":[3,40,2]",
            "\"chunks\":[1,40,2]".to_owned(),
            "chunks is [1,40,2], expected [3,40,2]",
        ),
        (
            "x",
            "\"chunks\":[3,40,2]",
            format!("\"chunks\":[3,{huge},2]"),
            "chunks is [3,18446744073709551615,2]",
        ),
        (
            "x",
            "\"dtype\":\"<f8\"",
            "\"dtype\":\"<f4\"".to_owned(),
            "dtype is \"<f4\", expected \"<f8\"",
        ),
    ] {
        let name = format!("posterior/{array}/.zarray");
        refused(&name, &|whole| whole.replacen(from, &to, 1), says);
        // The same damage in the copy that readers of Zarr use.
        let at = format!("\"{name}\":");
        let change = |whole: &str| {
            let (before, after) = whole.split_once(&at).unwrap();
            format!("{before}{at}{}", after.replacen(from, &to, 1))
        };
        refused(".zmetadata", &change, "posterior/");
    }
    refused(
        ".zattrs",
        &|whole| whole.replace("chains\\\":3", &format!("chains\\\":{huge}")),
        "18446744073709551615 chains",
    );
    refused(
        ".zattrs",
        &|whole| whole.replace("draws\\\":40", "draws\\\":0"),
        "3 chains of 0 draws",
    );

    // A chunk that is cut off or missing. A run that continues would otherwise find it only at its
    // end.
    let chunk = store.join("posterior/v/0.0.0");
    let whole = std::fs::read(&chunk).unwrap();
    std::fs::write(&chunk, &whole[1..]).unwrap();
    for missing in [false, true] {
        if missing {
            std::fs::remove_file(&chunk).unwrap();
        }
        let says = format!("{} is damaged", chunk.display());
        let error = ZarrDraws::open(&store).unwrap_err().to_string();
        assert!(error.starts_with(&says), "{error}");
        let error = go().unwrap_err().to_string();
        assert!(error.contains(&says), "{error}");
    }
    std::fs::write(&chunk, &whole).unwrap();
    assert_eq!(ZarrDraws::open(&store).unwrap().draws(), 40);
    go().unwrap();
}
