//! Execution of runs whose results are stored in a folder.
//!
//! [`run_stored`] trains a run only if the folder does not contain its result by the current version
//! of the rule, and continues a stopped run from its checkpoint. The exhibits of `fuld reproduce`
//! use it.

use crate::run_all::{STACK, Workers, into_stacks, run_all};
use crate::stored::{self, Stored, StoredError};
use fuld::Control;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// A run whose result is stored in a folder.
pub trait StoredRun: Sync {
    /// Everything the result depends on, except [`StoredRun::VERSION`].
    type Spec: Serialize;
    /// The result.
    type Outcome: Serialize + DeserializeOwned + Send;

    /// The version of the rule that makes the result; it changes whenever the numbers would.
    const VERSION: u32;

    /// Returns the specification.
    fn spec(&self) -> Self::Spec;

    /// Returns a name that is unique among the runs of a folder and valid as a file name.
    fn name(&self) -> String;

    /// Returns the expected amount of work, in any unit that all runs share, such as seconds.
    fn work(&self) -> f64;

    /// Returns whether this run is trained together with another one that has not been trained.
    fn stacks_with(&self, _other: &Self) -> bool {
        false
    }

    /// Trains a stack of runs to the end and returns their results in order, or `None` if `watch`
    /// returned [`Control::Stop`]. A run that stacks with no other is a stack of one.
    ///
    /// `watch` is called regularly with the completed share of the runs, from 0 to 1. The stack may
    /// save its state in the file `checkpoint` and continue from it.
    fn run(
        stack: &[&Self],
        checkpoint: &Path,
        watch: &mut dyn FnMut(f64) -> Control,
    ) -> Result<Option<Vec<Self::Outcome>>, Box<dyn Error + Send + Sync>>;

    /// Returns the version of the rule that made a checkpoint of this run, if the run does not
    /// continue from it because of that.
    fn stale_checkpoint(&self, _checkpoint: &Path) -> Option<u32> {
        None
    }

    /// Reads the result of this run in a folder.
    fn stored(&self, folder: &Path) -> Result<Stored<Self::Outcome>, StoredError> {
        stored::read(&result_file(folder, &self.name()), Self::VERSION, &self.spec())
    }
}

fn result_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.toml"))
}

/// Returns the file in which a run of this name saves its state in a folder.
pub fn checkpoint_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.checkpoint"))
}

/// Returns the names of the files in a folder that [`run_stored`] wrote: results with their
/// checksum, and checkpoints, which `is_checkpoint` recognises. Other files with such names, and
/// symbolic links, are not listed.
pub fn stored_files(
    folder: &Path,
    is_checkpoint: impl Fn(&Path) -> bool,
) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let (entry, path) = entry.map(|entry| (entry.file_type(), entry.path()))?;
        let is_ours = match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => stored::is_sealed(&path),
            Some("checkpoint") => is_checkpoint(&path),
            _ => false,
        };
        if let (true, true, Some(name)) = (entry?.is_file(), is_ours, path.file_name()) {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

/// An error of [`run_stored`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunAllError {
    /// A result cannot be read or written.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// The folder or a thread failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Some runs failed. The same call tries them again.
    #[error("{count} runs failed; the same command tries them again. The first is {name}: {error}")]
    Failed {
        /// The number of failed runs.
        count: usize,
        /// The name of the first failed run.
        name: String,
        /// The error of the first failed run.
        error: String,
    },
}

/// Trains the runs that have no current result in `folder`, and returns all results in the order of
/// the runs.
///
/// `watch` receives the work done so far, in the unit of [`StoredRun::work`]; runs that had a
/// result before do not count. If it returns [`Control::Stop`], checkpoints are written and `None`
/// is returned. The same call continues from there. If a run fails, the others are still trained.
pub fn run_stored<R: StoredRun>(
    runs: &[R],
    folder: &Path,
    workers: Workers,
    watch: &(dyn Fn(f64) -> Control + Sync),
) -> Result<Option<Vec<R::Outcome>>, RunAllError> {
    std::fs::create_dir_all(folder)?;
    let mut outcomes = Vec::with_capacity(runs.len());
    for run in runs {
        outcomes.push(match run.stored(folder)? {
            Stored::Current(outcome) => Some(outcome),
            Stored::Missing | Stored::OtherVersion(_) | Stored::OtherSpec(_) => None,
        });
    }
    let mut stacks = into_stacks(0..runs.len(), STACK, |&a, &b| runs[a].stacks_with(&runs[b]));
    for stack in &mut stacks {
        // An unfinished stack continues as a whole, even if some of its runs have a result by now:
        // its checkpoint fits no other stack.
        let is_begun = stack.len() > 1 && checkpoint_of(runs, folder, stack).exists();
        let is_finished = stack.iter().all(|&run| outcomes[run].is_some());
        if !is_begun || is_finished {
            stack.retain(|&run| outcomes[run].is_none());
        }
    }
    stacks.retain(|stack| !stack.is_empty());
    let done = Mutex::new(vec![0.0; stacks.len()]);
    let trained = Mutex::new(Vec::new());
    let failed: Mutex<Vec<(String, String)>> = Mutex::default();
    let work = |_: usize, place: &usize| -> Result<Control, RunAllError> {
        let places = &stacks[*place];
        let stack: Vec<&R> = places.iter().map(|&run| &runs[run]).collect();
        let work: f64 = stack.iter().map(|run| run.work()).sum();
        let mut watch_stack = |share: f64| {
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done[*place] = share * work;
            watch(done.iter().sum())
        };
        let checkpoint = checkpoint_of(runs, folder, places);
        match R::run(&stack, &checkpoint, &mut watch_stack) {
            Ok(Some(results)) => {
                for ((&place, run), outcome) in places.iter().zip(&stack).zip(results) {
                    let file = result_file(folder, &run.name());
                    stored::write(&file, R::VERSION, &run.spec(), &outcome)?;
                    let mut trained = trained.lock().unwrap_or_else(PoisonError::into_inner);
                    trained.push((place, outcome));
                }
                let _ = std::fs::remove_file(checkpoint);
                Ok(watch_stack(1.0))
            }
            Ok(None) => Ok(Control::Stop),
            Err(error) => {
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.extend(stack.iter().map(|run| (run.name(), error.to_string())));
                drop(failed);
                Ok(watch_stack(1.0))
            }
        }
    };
    let places: Vec<usize> = (0..stacks.len()).collect();
    run_all(&places, workers, &work)?;
    for (run, outcome) in trained.into_inner().unwrap_or_else(PoisonError::into_inner) {
        outcomes[run] = Some(outcome);
    }
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((name, error)) = failed.first().cloned() {
        return Err(RunAllError::Failed { count: failed.len(), name, error });
    }
    // All results are present if `watch` asked to stop only after the last run had ended.
    Ok(outcomes.into_iter().collect())
}

/// Returns the checkpoint of a stack. A stack of one has that of its run.
fn checkpoint_of<R: StoredRun>(runs: &[R], folder: &Path, stack: &[usize]) -> PathBuf {
    let names: Vec<String> = stack.iter().map(|&run| runs[run].name()).collect();
    match &names[..] {
        [name] => checkpoint_file(folder, name),
        _ => {
            let hash = fuld::durable::fingerprint(names.join("\n").as_bytes());
            checkpoint_file(folder, &format!("stack-{hash:016x}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts to `steps`, saves a checkpoint when it is stopped, and fails at the end if `fails` is
    /// set.
    struct Count {
        steps: u64,
        fails: bool,
        stacks: bool,
    }

    #[derive(Serialize)]
    struct CountSpec {
        steps: u64,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Serialize, serde::Deserialize)]
    struct Counted {
        /// The step of the checkpoint.
        from: u64,
        steps: u64,
    }

    impl StoredRun for Count {
        type Spec = CountSpec;
        type Outcome = Counted;
        const VERSION: u32 = 7;

        fn spec(&self) -> CountSpec {
            CountSpec { steps: self.steps }
        }

        fn name(&self) -> String {
            format!("count-{}", self.steps)
        }

        fn work(&self) -> f64 {
            self.steps as f64
        }

        fn stacks_with(&self, other: &Self) -> bool {
            self.stacks && other.stacks
        }

        fn run(
            stack: &[&Self],
            checkpoint: &Path,
            watch: &mut dyn FnMut(f64) -> Control,
        ) -> Result<Option<Vec<Counted>>, Box<dyn Error + Send + Sync>> {
            let from =
                std::fs::read_to_string(checkpoint).map_or(0, |text| text.parse().unwrap_or(0));
            let steps = stack.iter().map(|run| run.steps).max().unwrap_or(0);
            for step in from..steps {
                if watch(step as f64 / steps as f64) == Control::Stop {
                    std::fs::write(checkpoint, step.to_string())?;
                    return Ok(None);
                }
            }
            if stack.iter().any(|run| run.fails) {
                return Err("a deliberate failure".into());
            }
            Ok(Some(stack.iter().map(|run| Counted { from, steps: run.steps }).collect()))
        }
    }

    fn counts(fails: Option<u64>) -> Vec<Count> {
        [10, 20, 30].map(|steps| Count { steps, fails: fails == Some(steps), stacks: false }).into()
    }

    #[test]
    fn stopped_runs_continue_and_stored_runs_are_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let stop_at = |work: f64| {
            let watch =
                move |done: f64| if done >= work { Control::Stop } else { Control::Continue };
            run_stored(&counts(None), folder.path(), Workers::single_threaded(1), &watch).unwrap()
        };
        // Stops in the middle of the second run.
        assert_eq!(stop_at(15.0), None);
        let all = stop_at(f64::INFINITY).unwrap();
        let counted = |from, steps| Counted { from, steps };
        assert_eq!(all, [counted(0, 10), counted(5, 20), counted(0, 30)]);
        // Nothing is left to do, so `watch` is not called.
        assert_eq!(stop_at(0.0), Some(all));
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 3, "the checkpoints are deleted");
    }

    /// The first and the last run are trained together. The stack continues from its checkpoint and
    /// its runs are stored singly.
    #[test]
    fn stacks_are_trained_together_and_continue() {
        let folder = tempfile::tempdir().unwrap();
        let mut runs = counts(None);
        (runs[0].stacks, runs[2].stacks) = (true, true);
        let stop_at = |work: f64| {
            let watch =
                move |done: f64| if done >= work { Control::Stop } else { Control::Continue };
            run_stored(&runs, folder.path(), Workers::single_threaded(1), &watch).unwrap()
        };
        assert_eq!(stop_at(20.0), None);
        let counted = |from, steps| Counted { from, steps };
        // A kill after the first result of the stack was stored.
        let file = result_file(folder.path(), "count-10");
        stored::write(&file, Count::VERSION, &runs[0].spec(), &counted(15, 10)).unwrap();
        let all = [counted(15, 10), counted(0, 20), counted(15, 30)];
        assert_eq!(stop_at(f64::INFINITY).unwrap(), all);
        let mut files = stored_files(folder.path(), |_| true).unwrap();
        files.sort();
        assert_eq!(files, ["count-10.toml", "count-20.toml", "count-30.toml"]);
    }

    #[test]
    fn results_of_another_version_or_specification_are_recomputed() {
        let folder = tempfile::tempdir().unwrap();
        let run = || {
            run_stored(&counts(None), folder.path(), Workers::single_threaded(2), &|_| {
                Control::Continue
            })
            .unwrap()
            .unwrap()
        };
        let first = run();
        let wrong = Counted { from: 99, steps: 99 };
        stored::write(&result_file(folder.path(), "count-10"), 6, &CountSpec { steps: 10 }, &wrong)
            .unwrap();
        stored::write(&result_file(folder.path(), "count-20"), 7, &CountSpec { steps: 21 }, &wrong)
            .unwrap();
        assert_eq!(run(), first);
    }

    #[test]
    fn only_files_of_stored_runs_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        run_stored(&counts(None), folder.path(), Workers::single_threaded(1), &|_| {
            Control::Continue
        })
        .unwrap();
        std::fs::write(folder.path().join("count-40.checkpoint"), "FULDNET2 and more").unwrap();
        for name in ["notes.toml", "notes.checkpoint", "count-10"] {
            std::fs::write(folder.path().join(name), "mine = 1\n").unwrap();
        }
        let mut files = stored_files(folder.path(), crate::train::is_checkpoint).unwrap();
        files.sort();
        assert_eq!(
            files,
            ["count-10.toml", "count-20.toml", "count-30.toml", "count-40.checkpoint"]
        );
    }

    #[test]
    fn a_failed_run_does_not_affect_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let error =
            run_stored(&counts(Some(10)), folder.path(), Workers::single_threaded(2), &|_| {
                Control::Continue
            })
            .unwrap_err();
        assert!(
            matches!(&error, RunAllError::Failed { count: 1, name, .. } if name == "count-10"),
            "{error}"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        assert_eq!(
            run_stored(&counts(None), folder.path(), Workers::single_threaded(2), &|_| {
                Control::Continue
            })
            .unwrap()
            .unwrap()
            .len(),
            3
        );
    }
}
