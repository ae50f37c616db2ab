//! `fuld train`: trains one network.

use super::checkpoint_args::CheckpointArgs;
use super::compute_args::ComputeArgs;
use super::data_args::DataArgs;
use super::folder_args::FolderArgs;
use super::output::Output;
use super::progress_style::progress_style;
use super::train_args::TrainArgs;
use crate::exit_code::{DIVERGED, INTERRUPTED};
use crate::interrupt;
use crate::stderr::write_line;
use anyhow::Context;
use fuld::StopFlag;
use fuld_train::data::DataSet;
use fuld_train::run_folder::{DataLocation, RunFolder, RunFolderError, StartedRun};
use fuld_train::spec::{Optimizer, TRAINING_VERSION, TrainSpec};
use fuld_train::stored::{Difference, Stored};
use fuld_train::train::{RunResult, RunStatus, TrainOutcome, TrainProgress, train};
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Train a network with the paper's settings, or with yours.
///
/// The network is fully connected with ReLU units and no biases, and is trained with cross entropy
/// from PyTorch's initial weights. As in the paper, minibatches have 100 images, loss and accuracy
/// on training and test set are measured every 100 iterations, and the means of the last two
/// measurements are reported.
///
/// The step is given in the paper's parameters (--eta, --gamma) or in those of SGD (--lr = eta²,
/// --momentum = 1 - gamma eta). With --noise-scale or --kappa it has the matched form: it equals
/// the step of SGD for small gradients, and the knee of the field fits noise of that scale. --guard
/// protects any optimizer from heavy-tailed gradients and requires no scale; try it first.
///
/// Repeat the command to continue an interrupted run. The result is the same as without the
/// interruption.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fuld train                                            the built-in digits, alpha = 1.75
  fuld train --data mnist --alpha 2                     MNIST (first run: fuld data fetch mnist)
  fuld train --field authors                            the field of the authors' code
  fuld train --optimizer clip-value --clip 0.005        SGD with momentum and clipped gradients
  fuld train --inject-noise 1.5,1e-3 --alpha 1.5 --lr 0.01 --noise-scale injected
                                                        heavy-tailed noise and the matched form
  fuld train --inject-noise 1.5,1e-3 --optimizer adam --guard
                                                        any optimizer with guarded gradients
  fuld train --tail-index every=500                     tail index of each layer's gradient noise
  fuld train --resume --out runs/mine                   continue the run in a folder

Exit codes are listed by fuld --help; 3 means that the loss was not finite.",
    mut_arg("out", |arg| arg.help("Folder for the result [default: runs/NAME]")))]
pub(super) struct Train {
    #[command(flatten)]
    settings: TrainArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    compute: ComputeArgs,
    #[command(flatten)]
    checkpoints: CheckpointArgs,
}

/// A run with its data set and its folder.
struct Task {
    data: DataSet,
    location: DataLocation,
    spec: TrainSpec,
    folder: RunFolder,
}

impl Train {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<ExitCode> {
        let task = if self.folder.resume { self.resumed()? } else { self.requested()? };
        let Task { data, location, spec, folder } = &task;
        if self.folder.fresh {
            folder.clear()?;
        }
        match folder.result(spec)? {
            Stored::Current(result) => {
                output.note(|| "this run is finished; --fresh trains it again".into());
                return report(&result, data, folder, output);
            }
            Stored::OtherVersion(version) => {
                output.note(|| stale("the result", version));
                folder.clear()?;
            }
            Stored::Missing | Stored::OtherSpec(_) => {}
        }
        let stop = interrupt::listen()?;
        folder.start(spec, location)?;
        output.detail(|| {
            let (headline, threads) = (headline(spec, data), self.compute.threads.count());
            format!("{headline}; {threads} threads; writing to {}", folder.path().display())
        });
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(self.compute.threads.count()).build()?;
        pool.install(|| execute(&task, self.checkpoints, output, &stop))
    }

    /// Returns the run that the options describe.
    fn requested(&self) -> anyhow::Result<Task> {
        let device = self.compute.device()?;
        ComputeArgs::check(device)?;
        let request = self.settings.request(self.data.single()?);
        let location = DataLocation {
            source: request.data.clone().unwrap_or_else(|| "digits".into()),
            data_dir: self.data.directory()?,
        };
        let data = DataSet::load(&location.source, &location.data_dir)?;
        let spec = request.spec(&data.description(), device)?;
        let out =
            self.folder.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(spec.name()));
        let folder = RunFolder::open(&out)?;
        Ok(Task { data, location, spec, folder })
    }

    /// Returns the run in the folder. Settings that are given beside --resume must be equal to
    /// those of the run.
    ///
    /// The location of the data set is not a setting of the run: --data and --data-dir may name
    /// another copy of it.
    fn resumed(&self) -> anyhow::Result<Task> {
        let path = self.folder.resumed()?.to_path_buf();
        let request = self.settings.request(self.data.single()?);
        let folder = RunFolder::open_existing(&path)?;
        let StartedRun { spec, data: mut location } = folder.started()?;
        let requested = self.compute.requested()?;
        let other_device = || {
            let device = requested.filter(|device| *device != spec.device)?;
            Some(Difference {
                stored: format!("device = {}", spec.device),
                wanted: format!("device = {device}"),
            })
        };
        if let Some(difference) = request.difference(&spec).or_else(other_device) {
            return Err(RunFolderError::OtherRun { path, difference }.into());
        }
        ComputeArgs::check(spec.device)?;
        location.source = request.data.unwrap_or(location.source);
        location.data_dir = self.data.data_dir.clone().unwrap_or(location.data_dir);
        let data = DataSet::load(&location.source, &location.data_dir)?;
        spec.check(&data.description())?;
        Ok(Task { data, location, spec, folder })
    }
}

/// Returns the note that something was made by another version of the training rule.
fn stale(what: &str, version: u32) -> String {
    format!(
        "{what} was made by version {version} of the training rule, now {TRAINING_VERSION}: training again"
    )
}

fn execute(
    task: &Task,
    checkpoints: CheckpointArgs,
    output: &Output,
    stop: &StopFlag,
) -> anyhow::Result<ExitCode> {
    let Task { data, spec, folder, .. } = task;
    let bar = output.bar(bar(spec.iterations));
    let mut begun = false;
    let mut watch = |progress: TrainProgress<'_>| {
        if !std::mem::replace(&mut begun, true) {
            note_start(&bar, progress, output);
        }
        show(&bar, progress);
        if stop.is_requested() {
            bar.finish_and_clear();
        }
        stop.control()
    };
    let specs = std::slice::from_ref(spec);
    let (path, every) = (folder.checkpoint(), checkpoints.checkpoint_every);
    let outcome = train(data, specs, &path, every, &mut watch)
        .with_context(|| format!("training in {}", folder.path().display()))?;
    bar.finish_and_clear();
    match outcome {
        TrainOutcome::Stopped(iteration) => {
            output.result(|| json!({ "status": "interrupted", "iteration": iteration }), || {})?;
            output.note(|| {
                format!("saved after {iteration} iterations; the same command continues from there")
            });
            Ok(ExitCode::from(INTERRUPTED))
        }
        TrainOutcome::Finished(results, networks) => {
            folder.store(&results[0], &networks[0])?;
            report(&results[0], data, folder, output)
        }
    }
}

fn bar(iterations: u64) -> ProgressBar {
    ProgressBar::new(iterations)
        .with_style(progress_style("{bar:10} {pos}/{len} {speed}, {left}  {wide_msg}"))
}

fn note_start(bar: &ProgressBar, progress: TrainProgress<'_>, output: &Output) {
    if let Some(version) = progress.stale_checkpoint {
        bar.suspend(|| output.note(|| stale("the checkpoint", version)));
    }
    if progress.began > 0 {
        bar.suspend(|| output.note(|| format!("continuing after {} iterations", progress.began)));
        bar.set_position(progress.began);
        bar.reset_eta();
    }
}

fn show(bar: &ProgressBar, progress: TrainProgress<'_>) {
    bar.set_position(progress.iteration);
    if let Some(Some(m)) = progress.measured.first() {
        bar.set_message(format!(
            "test accuracy {:.2} %, train loss {:.4}",
            100.0 * m.test_accuracy,
            m.train_loss
        ));
    }
}

/// Prints the result of a run, and returns the program's exit code.
fn report(
    result: &RunResult,
    data: &DataSet,
    folder: &RunFolder,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    output.result(
        || StoredResult { folder: folder.path().display().to_string(), result },
        || print(result, data, folder),
    )?;
    Ok(match result.status {
        RunStatus::Finished => ExitCode::SUCCESS,
        RunStatus::Diverged { iteration, loss } => {
            let advice = if result.spec.guard.is_some() {
                "a smaller step"
            } else {
                "a smaller step or --guard"
            };
            write_line(format_args!(
                "diverged: the loss was {loss} at iteration {iteration}; try {advice}"
            ));
            ExitCode::from(DIVERGED)
        }
    })
}

/// A result and its folder, for JSON.
#[derive(Serialize)]
struct StoredResult<'a> {
    folder: String,
    #[serde(flatten)]
    result: &'a RunResult,
}

fn print(result: &RunResult, data: &DataSet, folder: &RunFolder) {
    println!("{}", headline(&result.spec, data));
    let diverged = matches!(result.status, RunStatus::Diverged { .. });
    if let Some(summary) = &result.summary {
        println!("\n            loss   accuracy");
        println!("train {:>10.4} {:>8.2} %", summary.train_loss, 100.0 * summary.train_accuracy);
        println!("test  {:>10.4} {:>8.2} %", summary.test_loss, 100.0 * summary.test_accuracy);
        let when = if diverged { ", before it diverged" } else { "" };
        match summary.measurements {
            2 => {
                println!("mean of the last two of {} measurements{when}", result.measurements.len())
            }
            _ => println!("from one measurement{when}"),
        }
    }
    let iterations = result.iterations();
    let speed = iterations as f64 / result.seconds;
    println!(
        "\n{iterations} iterations in {:.1} s ({speed:.0}/s, including measurements)",
        result.seconds
    );
    print_tails(result);
    println!("written to {}", folder.path().display());
}

fn headline(spec: &TrainSpec, data: &DataSet) -> String {
    let TrainSpec { width, depth, optimizer, alpha, .. } = *spec;
    let weights = spec.network(data.train.features(), data.classes).weights();
    let layers =
        if depth == 1 { "1 layer".into() } else { format!("{depth} layers of width {width}") };
    let mut text = format!("{}, {layers}, {weights} weights; {optimizer}", data.name);
    if optimizer == Optimizer::Fuld {
        text += &format!(" alpha {alpha}");
    }
    let numbers = [
        ("eta", spec.eta),
        ("gamma", spec.gamma),
        ("beta", spec.beta.filter(|&beta| beta != 1.0)),
        ("lr", spec.lr),
        ("momentum", spec.momentum),
        ("kappa", spec.kappa),
        ("clip", spec.clip),
        ("guard", spec.guard),
    ];
    for (name, value) in numbers {
        if let Some(value) = value {
            text += &format!(", {name} {value}");
        }
    }
    if let Some(field) = spec.field {
        text += &format!(", the {field}' field");
    }
    if let Some(scale) = spec.noise_scale {
        text += &format!(", noise scale {scale}");
    }
    if let Some(noise) = spec.inject_noise {
        text += &format!(
            "; stable noise on the gradients, alpha {}, scale {}",
            noise.alpha, noise.scale
        );
    }
    text
}

fn print_tails(result: &RunResult) {
    let Some(last) = result.tails.last() else { return };
    println!("\ntail index of the gradient noise after {} iterations", last.iteration);
    println!("layer  alpha   90 % interval   Gaussian numbers   silent");
    for tail in result.tails.iter().filter(|tail| tail.iteration == last.iteration) {
        println!(
            "{:>5} {:>6.2}   {:>5.2} to {:<5.2}   {:>16.2}   {:>4.0} %",
            tail.layer,
            tail.alpha,
            tail.low,
            tail.high,
            tail.gaussian,
            100.0 * tail.silent
        );
    }
    println!();
}
