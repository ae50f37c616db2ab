//! Runs that are stopped or killed continue to the same result, and foreign or damaged files are refused.

use crate::parameters::underdamped;
use crate::wells::{Wells, run, wells};
use fuld::chains::{Callback, CheckpointError, Control, Outcome, Progress, RunError, ZarrSink};
use fuld::potential::{DoubleWell, Harmonic};
use fuld::{Integrator, Potential, Run, Schedule, Specification, System, ZarrDraws};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Creates an empty directory.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Returns the bytes of every file below a directory.
fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                files.insert(path.strip_prefix(root).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn a_stopped_run_continues() {
    let directory = scratch("stopped");
    let (unbroken, broken) = (directory.join("unbroken.zarr"), directory.join("broken.zarr"));
    let long = || Run { chains: 600, draws: 3000, thin: 2, ..run(Integrator::Baoab) };
    let whole = long().stream(&wells(2), &mut ZarrSink::new(&unbroken), &mut |_| Control::Continue).unwrap();
    let mut stops = 0;
    let outcome = loop {
        let mut segments = 0;
        let stop = &mut |_: &_| {
            segments += 1;
            if segments == 2 { Control::Stop } else { Control::Continue }
        };
        let run = Run { checkpoint: Some(directory.join("run.ckpt")), ..long() };
        let outcome = run.stream(&wells(2), &mut ZarrSink::new(&broken), stop).unwrap();
        if !outcome.stopped {
            break outcome;
        }
        stops += 1;
    };
    assert!(stops > 1, "{stops}");
    assert_eq!(outcome, whole);
    assert!(tree(&broken) == tree(&unbroken));
}

/// In one dimension two successive steps share a block of the generator, for the noise and for minibatches. A run that is
/// resumed between them gives the same bytes.
#[test]
fn a_run_resumed_at_an_odd_step_gives_the_same_bytes() {
    let directory = scratch("odd");
    let (unbroken, broken) = (directory.join("unbroken.zarr"), directory.join("broken.zarr"));
    let potential = Wells { dim: 1, stochastic: true };
    let odd = |integrator| Run { warmup: 51, thin: 1, ..run(integrator) };
    for integrator in [Integrator::Baoab, Integrator::Euler] {
        let whole = odd(integrator);
        let whole =
            whole.stream(&potential, &mut ZarrSink::new(&unbroken), &mut |_| Control::Continue).unwrap();
        let resumable = || Run { checkpoint: Some(directory.join("run.ckpt")), ..odd(integrator) };
        // The end of the warmup is the end of a segment, so the run stops at or before it.
        let mut stopped_at = 0;
        while stopped_at < 51 {
            let mut stop = |progress: &Progress| {
                stopped_at = progress.steps;
                Control::Stop
            };
            resumable().stream(&potential, &mut ZarrSink::new(&broken), &mut stop).unwrap();
        }
        assert_eq!(stopped_at, 51);
        let resumed = resumable().stream(&potential, &mut ZarrSink::new(&broken), &mut |_| Control::Continue);
        assert_eq!(resumed.unwrap(), whole);
        assert!(tree(&broken) == tree(&unbroken), "{integrator}");
        for path in [&unbroken, &broken] {
            std::fs::remove_dir_all(path).unwrap();
        }
        std::fs::remove_file(directory.join("run.ckpt")).unwrap();
    }
}

/// The run that [`killed_runs_equal_uninterrupted_ones`] starts in a separate process, to kill it.
fn victim(directory: &Path) -> Result<Outcome, RunError> {
    let run = Run {
        chains: 300,
        draws: 6000,
        thin: 8,
        checkpoint: Some(directory.join("run.ckpt")),
        checkpoint_every: Duration::from_millis(30),
        threads: 1,
        ..run(Integrator::Baoab)
    };
    let mut sink = ZarrSink::new(directory.join("draws.zarr"));
    run.stream(&Wells { dim: 2, stochastic: true }, &mut sink, &mut |_| Control::Continue)
}

#[test]
#[ignore = "kill loop: run by make test-all"]
fn killed_runs_equal_uninterrupted_ones() {
    if let Some(directory) = std::env::var_os("FULD_VICTIM") {
        victim(Path::new(&directory)).unwrap();
        return;
    }
    let unbroken = scratch("unbroken");
    let whole = victim(&unbroken).unwrap();
    let directory = scratch("killed");
    let (mut kills, mut wait) = (0, 60);
    loop {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "resumption::killed_runs_equal_uninterrupted_ones"])
            .env("FULD_VICTIM", &directory)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            break;
        }
        child.kill().unwrap(); // SIGKILL: no chance to clean up
        child.wait().unwrap();
        kills += 1;
        wait += 37 + 11 * (kills % 5);
        assert!(kills < 60, "no progress between kills");
    }
    println!("killed {kills} times");
    assert!(kills >= 3, "killed {kills} times");
    assert_eq!(victim(&directory).unwrap(), whole);
    assert!(tree(&directory.join("draws.zarr")) == tree(&unbroken.join("draws.zarr")));
}

/// A potential that fails after a number of calls.
struct Fails {
    inner: Wells,
    left: AtomicI64,
}

impl Potential for Fails {
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn specification(&self) -> Option<Specification> {
        self.inner.specification()
    }
    fn value(&self, x: &[f64]) -> f64 {
        self.inner.value(x)
    }
    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        self.inner.gradient(x, gradient);
        if self.left.fetch_sub(1, Ordering::Relaxed) < 0 {
            gradient.fill(f64::NAN);
        }
    }
    fn has_failed(&self) -> bool {
        self.left.load(Ordering::Relaxed) < 0
    }
}

/// Draws before the failure are stored, and the run continues to the same result once the potential works again.
#[test]
fn a_run_continues_after_its_potential_failed() {
    let directory = scratch("failed");
    let long = || Run { chains: 3, draws: 50_000, thin: 1, threads: 1, ..run(Integrator::Baoab) };
    let (unbroken, broken) = (directory.join("unbroken.zarr"), directory.join("broken.zarr"));
    long().stream(&wells(1), &mut ZarrSink::new(&unbroken), &mut |_| Control::Continue).unwrap();

    let run = Run { checkpoint: Some(directory.join("run.ckpt")), ..long() };
    let potential = Fails { inner: wells(1), left: AtomicI64::new(90_000) };
    let error = run.stream(&potential, &mut ZarrSink::new(&broken), &mut |_| Control::Continue).unwrap_err();
    assert!(matches!(error, RunError::Potential(step) if step > 10_000), "{error}");
    let (there, whole) = (ZarrDraws::open(&broken).unwrap(), ZarrDraws::open(&unbroken).unwrap());
    assert!(there.draws() > 1000 && there.draws() < 50_000, "{}", there.draws());
    let (there, whole) = (there.coordinate(0).unwrap(), whole.coordinate(0).unwrap());
    assert!(there.iter().zip(&whole).all(|(there, whole)| there[..] == whole[..there.len()]));

    run.stream(&wells(1), &mut ZarrSink::new(&broken), &mut |_| Control::Continue).unwrap();
    assert_eq!(tree(&broken), tree(&unbroken));
}

#[test]
fn foreign_and_damaged_checkpoints_are_refused_and_kept() {
    let path = scratch("refused").join("run.ckpt");
    let attempt = |run: Run| {
        let mut sink = Callback(|_, _: &[f64]| Ok(()));
        Run { checkpoint: Some(path.clone()), ..run }.stream(&wells(1), &mut sink, &mut |_| Control::Continue)
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
    assert!(error.contains(r#"stored integrator: "baoab", requested integrator: "aboba""#), "{error}");
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
        assert!(functions.stream(&wells(2), &mut ZarrSink::new(&store), &mut |_| Control::Continue).is_err());
        run.stream(&wells(2), &mut ZarrSink::new(&store), &mut |_| Control::Continue).unwrap();
    }
}

/// With few chains and costly steps a segment is long, but stops and checkpoints do not wait for its end.
#[test]
fn slow_runs_stop_and_save_in_time() {
    struct Slow;
    impl fuld::Potential for Slow {
        fn dim(&self) -> usize {
            1
        }

        fn specification(&self) -> Option<Specification> {
            Some("slow".into())
        }

        fn value(&self, x: &[f64]) -> f64 {
            0.5 * x[0] * x[0]
        }

        fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
            std::thread::sleep(Duration::from_micros(50));
            gradient[0] = x[0];
        }
    }
    let directory = scratch("slow");
    let path = directory.join("run.ckpt");
    let run =
        Run { chains: 2, draws: 1000, thin: 20, checkpoint: Some(path.clone()), ..run(Integrator::Euler) };
    let mut calls = 0;
    let mut sink = Callback(|_, _: &[f64]| Ok(()));
    let stop = &mut |_: &_| {
        calls += 1;
        if calls == 8 { Control::Stop } else { Control::Continue }
    };
    let outcome = run.stream(&Slow, &mut sink, stop).unwrap();
    assert!(outcome.stopped && outcome.draws < 900, "{} draws", outcome.draws);
    assert!(path.metadata().unwrap().len() > 100);
}

#[test]
fn a_store_is_not_overwritten() {
    let store = scratch("overwrite").join("draws.zarr");
    let go = |store: &Path| {
        run(Integrator::Euler).stream(&wells(1), &mut ZarrSink::new(store), &mut |_| Control::Continue)
    };
    go(&store).unwrap();
    assert!(go(&store).unwrap_err().to_string().contains("already contains draws"));
    let file = store.with_file_name("a file");
    std::fs::write(&file, "").unwrap();
    let error = go(&file.join("draws.zarr")).unwrap_err().to_string();
    assert!(error.contains("draws cannot be written") && error.contains("a file"), "{error}");
}

/// A store contains the same draws as memory: all coordinates, over several segments, even of a run that was stopped.
#[test]
fn a_store_contains_the_same_draws_as_memory() {
    for dim in [1, 3] {
        let path = scratch(&format!("read-back-{dim}"));
        let potential = DoubleWell::new(dim, 1.0, 1.0).unwrap();
        // More than a segment of 2²⁰ numbers.
        let run = Run {
            chains: 64,
            draws: 20_000 / dim as u64,
            warmup: 3,
            velocities: dim == 3,
            ..Run::new(
                System::fuld(underdamped(1.5, 2.0, 1.0)).unwrap(),
                Integrator::Baoab,
                Schedule::constant(0.05).unwrap(),
            )
        };
        let mut sink = ZarrSink::new(&path);
        run.stream(&potential, &mut sink, &mut |_| Control::Continue).unwrap();
        let (store, memory) = (fuld::ZarrDraws::open(&path).unwrap(), run.sample(&potential).unwrap());
        assert_eq!((store.chains(), store.draws(), store.dim()), (64, memory.draws(), dim));
        let draws = || (0..64).flat_map(|chain| memory.chain(chain).chunks(memory.layout().width()));
        let positions: Vec<f64> = draws().flat_map(|draw| &draw[..dim]).copied().collect();
        let velocities: Vec<f64> = draws().flat_map(|draw| &draw[dim..]).copied().collect();
        assert!(store.positions().unwrap() == positions);
        assert!(store.velocities().map(Result::unwrap).unwrap_or_default() == velocities);
        for i in 0..dim {
            assert!(store.coordinate(i).unwrap() == memory.coordinate(i), "coordinate {i} of {dim}");
        }
        std::fs::remove_dir_all(&path).unwrap();
        assert!(fuld::ZarrDraws::open(&path).unwrap_err().to_string().contains(".zmetadata"));
    }
}

/// The descriptions and chunks of a store are compared with its specification, before reading and before a run continues.
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
        ("x", "\"shape\":[3,40,2]", "\"shape\":[3,30,2]".to_owned(), "shape is [3,30,2], expected [3,40,2]"),
        ("x", "\"shape\":[3,40,2]", "\"shape\":[3,41,2]".to_owned(), "shape is [3,41,2], expected [3,40,2]"),
        ("v", "\"shape\":[3,40,2]", "\"shape\":[3,40,1]".to_owned(), "shape is [3,40,1], expected [3,40,2]"),
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
        ("x", "\"dtype\":\"<f8\"", "\"dtype\":\"<f4\"".to_owned(), "dtype is \"<f4\", expected \"<f8\""),
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
    refused(".zattrs", &|whole| whole.replace("draws\\\":40", "draws\\\":0"), "3 chains of 0 draws");

    // A chunk that is cut off or missing. A run that continues would otherwise find it only at its end.
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
