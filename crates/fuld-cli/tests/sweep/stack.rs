//! Runs that are trained together give the same results as single runs.

use fuld::Control;
use fuld_train::data::DataSet;
use fuld_train::network::Network;
use fuld_train::run_all::Workers;
use fuld_train::run_folder::DataLocation;
use fuld_train::spec::{Device, TrainRequest, TrainSpec};
use fuld_train::sweep::{
    SweepCounts, SweepEvent, SweepRun, grid_requests, into_stacks, sweep, sweep_runs,
};
use fuld_train::train::{RunResult, RunStatus, TrainOutcome, TrainProgress, train};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

const NOISY: &str = "\
    width = 12\n\
    depth = 3\n\
    batch = 20\n\
    iterations = 300\n\
    measure_every = 30\n\
    seed = [0, 5]\n\
    inject_noise = ['1.5,1e-3', '1.8,1e-4']\n\
    alpha = [2, 1.6]\n";

fn spec(grid: &str) -> Vec<TrainSpec> {
    let description = digits().description();
    grid_requests(grid, &[])
        .unwrap()
        .iter()
        .map(|request: &TrainRequest| request.spec(&description, Device::Cpu).unwrap())
        .collect()
}

fn digits() -> DataSet {
    DataSet::load("digits", Path::new("nowhere")).unwrap()
}

fn location() -> DataLocation {
    DataLocation { source: "digits".into(), data_dir: "nowhere".into() }
}

/// The bits of all weights, and the result.
type Trained = (Vec<Vec<u32>>, RunResult);

/// Trains to the end, with an interruption after every `session` steps.
fn trained(spec: &[TrainSpec], session: u64) -> Vec<Trained> {
    let folder = TempDir::new().unwrap();
    let checkpoint = folder.path().join("checkpoint.bin");
    let data = digits();
    for _ in 0..20 {
        let mut stop = |progress: TrainProgress<'_>| {
            if progress.iteration >= progress.began + session {
                Control::Stop
            } else {
                Control::Continue
            }
        };
        let ended = train(&data, spec, &checkpoint, Duration::from_secs(5), &mut stop);
        if let TrainOutcome::Finished(results, networks) = ended.unwrap() {
            let bits = |network: &Network| {
                let layers = network.layers.iter();
                layers.map(|layer| layer.weights.iter().map(|w| w.to_bits()).collect()).collect()
            };
            return networks.iter().map(bits).zip(results).collect();
        }
    }
    panic!("no progress between sessions")
}

#[track_caller]
fn assert_same(one: &Trained, other: &Trained) {
    let ((weights, result), (others, expected)) = (one, other);
    assert_eq!(result.spec, expected.spec);
    assert!(weights == others, "other weights: {:?}", result.spec);
    assert_eq!((result.status, &result.measurements), (expected.status, &expected.measurements));
    assert_eq!(result.tails, expected.tails);
    assert_eq!(result.summary, expected.summary);
}

#[test]
fn a_stack_gives_the_same_results_as_single_runs_even_if_interrupted() {
    let spec = spec(NOISY);
    assert_eq!(spec.len(), 8);
    let stack = trained(&spec, u64::MAX);
    let stopped = trained(&spec, 70);
    for (run, spec) in spec.iter().enumerate() {
        let alone = &trained(std::slice::from_ref(spec), u64::MAX)[0];
        assert_same(&stack[run], alone);
        assert_same(&stopped[run], alone);
        assert_eq!((stack[run].1.stack, alone.1.stack), (8, 1));
    }
    assert!(stack[0].0 != stack[1].0, "the runs differ from each other");
}

#[test]
fn a_diverged_run_does_not_affect_the_others() {
    let few = NOISY.replace("iterations = 300", "iterations = 40").replace(", '1.8,1e-4'", "");
    let spec = spec(&format!(
        "tail_index = 40\n{few}[[grid]]\nalpha = 1.6\n[[grid]]\nseed = 2\nalpha = 2\ninject_noise = '0.5,1e9'\n"
    ));
    assert_eq!(spec.len(), 3);
    let stack = trained(&spec, u64::MAX);
    let diverged: Vec<_> =
        stack.iter().filter(|(_, result)| result.status != RunStatus::Finished).collect();
    assert_eq!(diverged.len(), 1);
    for (run, spec) in spec.iter().enumerate() {
        let alone = &trained(std::slice::from_ref(spec), u64::MAX)[0];
        if alone.1.status == RunStatus::Finished {
            assert_same(&stack[run], alone);
        } else {
            // The weights of a diverged run may be NaN, so only its status and measurements are
            // compared.
            let text = |result: &RunResult| {
                format!("{:?} {:?} {:?}", result.status, result.measurements, result.tails)
            };
            assert_eq!(text(&stack[run].1), text(&alone.1));
        }
    }
}

/// Sweeps stacks to the end, with an interruption at the first progress after every `session`
/// steps.
fn swept(stacks: &[Vec<SweepRun>], out: &Path, session: u64) -> (SweepCounts, usize) {
    let data = HashMap::from([(digits().description().fingerprint, (digits(), location()))]);
    let mut sessions = 0;
    loop {
        sessions += 1;
        assert!(sessions < 20, "no progress between sessions");
        let began = std::sync::atomic::AtomicU64::new(u64::MAX);
        let watch = |event: SweepEvent<'_>| match event {
            SweepEvent::Progress { iteration, .. } => {
                let began =
                    began.fetch_min(iteration, std::sync::atomic::Ordering::Relaxed).min(iteration);
                if iteration - began >= session { Control::Stop } else { Control::Continue }
            }
            _ => Control::Continue,
        };
        let counts =
            sweep(stacks, &data, out, Workers::single_threaded(1), Duration::from_secs(5), &watch)
                .unwrap();
        if !counts.stopped {
            return (counts, sessions);
        }
    }
}

#[test]
fn a_sweep_of_stacks_writes_the_same_files_as_a_sweep_of_runs() {
    let (alone, together) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let all = |out: &Path, most: usize| into_stacks(sweep_runs(spec(NOISY), out, None), most);
    let (counts, _) = swept(&all(alone.path(), 1), alone.path(), u64::MAX);
    assert_eq!(counts, SweepCounts { done: 8, ..SweepCounts::default() });
    let stacks = all(together.path(), 5);
    assert_eq!(stacks.iter().map(Vec::len).collect::<Vec<_>>(), [5, 3]);
    let (counts, sessions) = swept(&stacks, together.path(), 120);
    assert_eq!((counts.done + counts.before, counts.failed), (8, 0));
    assert!(sessions >= 3, "{sessions} sessions");
    for run in stacks.iter().flatten() {
        let name = run.folder.file_name().unwrap();
        for file in ["weights.safetensors", "metrics.csv"] {
            let one = std::fs::read(alone.path().join("runs").join(name).join(file)).unwrap();
            assert!(one == std::fs::read(run.folder.join(file)).unwrap(), "{file} of {name:?}");
        }
    }
    // The checkpoints of the stacks are deleted.
    let left: Vec<_> =
        std::fs::read_dir(together.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["runs"]);
    let (counts, _) = swept(&stacks, together.path(), u64::MAX);
    assert_eq!(counts, SweepCounts { before: 8, ..SweepCounts::default() });
}

/// Simulates a kill between storing two results of a stack, or another process that trained some of
/// its runs.
#[test]
fn a_partly_finished_stack_continues_from_its_checkpoint() {
    let (alone, together) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let of = |out: &Path| into_stacks(sweep_runs(spec(NOISY), out, None), 8);
    let (whole, stacks) = (of(alone.path()), of(together.path()));
    swept(&whole, alone.path(), u64::MAX);
    let data = HashMap::from([(digits().description().fingerprint, (digits(), location()))]);
    let until = |last: u64| {
        let first = std::sync::atomic::AtomicU64::new(u64::MAX);
        let watch = |event: SweepEvent<'_>| {
            if let SweepEvent::Progress { iteration, .. } = event {
                first.fetch_min(iteration, std::sync::atomic::Ordering::Relaxed);
                return if iteration >= last { Control::Stop } else { Control::Continue };
            }
            Control::Continue
        };
        sweep(
            &stacks,
            &data,
            together.path(),
            Workers::single_threaded(1),
            Duration::from_secs(5),
            &watch,
        )
        .unwrap();
        first.into_inner()
    };
    assert_eq!(until(150), 0);
    // Copy the results of two of the runs.
    for run in &stacks[0][..2] {
        let there = alone.path().join("runs").join(run.folder.file_name().unwrap());
        for file in ["result.toml", "weights.safetensors", "metrics.csv"] {
            std::fs::copy(there.join(file), run.folder.join(file)).unwrap();
        }
    }
    assert!(until(u64::MAX) >= 150, "the stack continued from its checkpoint");
    for run in &stacks[0] {
        let there = alone.path().join("runs").join(run.folder.file_name().unwrap());
        for file in ["weights.safetensors", "metrics.csv"] {
            assert!(
                std::fs::read(there.join(file)).unwrap()
                    == std::fs::read(run.folder.join(file)).unwrap()
            );
        }
    }
    assert!(!std::fs::read_dir(together.path()).unwrap().any(|e| e.unwrap().file_name() != "runs"));
}
