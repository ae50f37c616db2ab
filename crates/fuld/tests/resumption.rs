//! Runs that are stopped or killed continue to the same result.

use crate::parameters::underdamped;
use crate::wells::{Wells, run, wells};
use fuld::chains::{Callback, Control, Outcome, Progress, RunError, ZarrSink};
use fuld::potential::DoubleWell;
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
pub(crate) fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                files.insert(
                    path.strip_prefix(root).unwrap().to_owned(),
                    std::fs::read(&path).unwrap(),
                );
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
    let whole = long()
        .stream(&wells(2), &mut ZarrSink::new(&unbroken), &mut |_| Control::Continue)
        .unwrap();
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

/// In one dimension two successive steps share a block of the generator, for the noise and for
/// minibatches. A run that is resumed between them gives the same bytes.
#[test]
fn a_run_resumed_at_an_odd_step_gives_the_same_bytes() {
    let directory = scratch("odd");
    let (unbroken, broken) = (directory.join("unbroken.zarr"), directory.join("broken.zarr"));
    let potential = Wells { dim: 1, stochastic: true };
    let odd = |integrator| Run { warmup: 51, thin: 1, ..run(integrator) };
    for integrator in [Integrator::Baoab, Integrator::Euler] {
        let whole = odd(integrator);
        let whole = whole
            .stream(&potential, &mut ZarrSink::new(&unbroken), &mut |_| Control::Continue)
            .unwrap();
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
        let resumed =
            resumable().stream(&potential, &mut ZarrSink::new(&broken), &mut |_| Control::Continue);
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

/// Draws before the failure are stored, and the run continues to the same result once the potential
/// works again.
#[test]
fn a_run_continues_after_its_potential_failed() {
    let directory = scratch("failed");
    let long = || Run { chains: 3, draws: 50_000, thin: 1, threads: 1, ..run(Integrator::Baoab) };
    let (unbroken, broken) = (directory.join("unbroken.zarr"), directory.join("broken.zarr"));
    long().stream(&wells(1), &mut ZarrSink::new(&unbroken), &mut |_| Control::Continue).unwrap();

    let run = Run { checkpoint: Some(directory.join("run.ckpt")), ..long() };
    let potential = Fails { inner: wells(1), left: AtomicI64::new(90_000) };
    let error = run
        .stream(&potential, &mut ZarrSink::new(&broken), &mut |_| Control::Continue)
        .unwrap_err();
    assert!(matches!(error, RunError::Potential(step) if step > 10_000), "{error}");
    let (there, whole) = (ZarrDraws::open(&broken).unwrap(), ZarrDraws::open(&unbroken).unwrap());
    assert!(there.draws() > 1000 && there.draws() < 50_000, "{}", there.draws());
    let (there, whole) = (there.coordinate(0).unwrap(), whole.coordinate(0).unwrap());
    assert!(there.iter().zip(&whole).all(|(there, whole)| there[..] == whole[..there.len()]));

    run.stream(&wells(1), &mut ZarrSink::new(&broken), &mut |_| Control::Continue).unwrap();
    assert_eq!(tree(&broken), tree(&unbroken));
}

/// With few chains and costly steps a segment is long, but stops and checkpoints do not wait for
/// its end.
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
    let run = Run {
        chains: 2,
        draws: 1000,
        thin: 20,
        checkpoint: Some(path.clone()),
        ..run(Integrator::Euler)
    };
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

/// A store contains the same draws as memory: all coordinates, over several segments, even of a run
/// that was stopped.
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
        let (store, memory) =
            (fuld::ZarrDraws::open(&path).unwrap(), run.sample(&potential).unwrap());
        assert_eq!((store.chains(), store.draws(), store.dim()), (64, memory.draws(), dim));
        let draws =
            || (0..64).flat_map(|chain| memory.chain(chain).chunks(memory.layout().width()));
        let positions: Vec<f64> = draws().flat_map(|draw| &draw[..dim]).copied().collect();
        let velocities: Vec<f64> = draws().flat_map(|draw| &draw[dim..]).copied().collect();
        assert!(store.positions().unwrap() == positions);
        assert!(store.velocities().map(Result::unwrap).unwrap_or_default() == velocities);
        for i in 0..dim {
            assert!(
                store.coordinate(i).unwrap() == memory.coordinate(i),
                "coordinate {i} of {dim}"
            );
        }
        std::fs::remove_dir_all(&path).unwrap();
        assert!(fuld::ZarrDraws::open(&path).unwrap_err().to_string().contains(".zmetadata"));
    }
}

/// Coordinates have their names in a store, in the fixed-length text of NumPy; stores with numbers
/// are read as well, and named when a run continues.
#[test]
fn stores_name_their_coordinates() {
    let store = scratch("names").join("draws.zarr");
    let run = Run { checkpoint: Some(store.with_file_name("run.ckpt")), ..run(Integrator::Baoab) };
    let go =
        |mut sink: ZarrSink| run.stream(&wells(2), &mut sink, &mut |_| Control::Continue).unwrap();
    let read = |name: &str| std::fs::read(store.join("posterior/coordinate").join(name)).unwrap();
    go(ZarrSink::new(&store));
    let numbered = ZarrDraws::open(&store).unwrap().positions().unwrap();
    assert_eq!(read("0"), [0u64.to_le_bytes(), 1u64.to_le_bytes()].concat());
    go(ZarrSink::new(&store).with_names(&["x".into(), "long α".into()]));
    let text: Vec<char> = "x\0\0\0\0\0long α".chars().collect();
    assert_eq!(
        read("0"),
        text.iter().flat_map(|sign| u32::from(*sign).to_le_bytes()).collect::<Vec<_>>()
    );
    assert!(String::from_utf8(read(".zarray")).unwrap().contains("\"dtype\":\"<U6\""));
    assert_eq!(ZarrDraws::open(&store).unwrap().positions().unwrap(), numbered);
}
