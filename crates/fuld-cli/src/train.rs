//! `fuld train`: one network, one optimizer.

use super::bar::style;
use super::checkpoints::Checkpoints;
use super::device::Where;
use super::output::Output;
use super::{DIVERGED, INTERRUPTED};
use crate::interrupt;
use crate::stderr::say;
use anyhow::Context;
use burn::backend::Flex;
use burn::tensor::backend::Backend;
use fuld::{Control, StopFlag};
use fuld_sample::aligned;
use fuld_train::data::DataSet;
use fuld_train::mlp::Shape;
use fuld_train::run_folder::{RunFolder, Weights};
use fuld_train::settings::{Bend, Device, Optimizer, Request, Settings};
use fuld_train::train::{Ended, Progress, RunResult, Status, train};
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Train a network under the paper's setting, or yours.
///
/// A fully connected ReLU network without biases, cross entropy, PyTorch's initialisation, as in the paper: batches of 100, loss and
/// accuracy every 100 iterations on training and test set, the mean of the last two reported.
///
/// The step is given in the paper's letters (--eta, --gamma) or in SGD's (--lr = eta², --momentum = 1 - gamma eta); with --scale it is the
/// matched form, which has SGD's own step for small gradients and bends where the scale says. With --scale auto both the tail index and
/// the scale are found from the gradients themselves, layer by layer: what to try first under heavy-tailed noise.
///
/// The same command goes on where it was stopped or killed, to the same result.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fuld train                                            the built-in digits, alpha = 1.75
  fuld train --data mnist --alpha 2                     MNIST (after: fuld data fetch mnist)
  fuld train --field authors                            the field of the authors' code, not the paper's
  fuld train --optimizer clip-value --clip 0.005        SGD with momentum, clipped
  fuld train --inject-noise 1.5,1e-3 --alpha 1.5 --lr 0.01 --scale noise
                                                        noise that kills SGD, and the form that is matched to it
  fuld train --inject-noise 1.5,1e-3 --scale auto       the same, told nothing of the noise
  fuld train --tail-index every=500                     how heavy the gradients' tails are, layer by layer

Exit codes: 0 finished, 1 error, 2 wrong usage, 3 the loss was not a finite number, 130 interrupted and saved.")]
pub(super) struct Train {
    #[command(flatten)]
    request: Request,
    /// Folder for the result [default: runs/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Begin anew, whatever the folder holds
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    checkpoints: Checkpoints,
}

impl Train {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<ExitCode> {
        self.place.check()?;
        let data =
            DataSet::load(self.request.data.as_deref().unwrap_or("digits"), &self.place.data_directory()?)?;
        let settings = self.request.settings(&data.subject(), self.place.device)?;
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(settings.name()));
        let folder = RunFolder::open(&out)?;
        if self.fresh {
            folder.clear()?;
        }
        if let Some(result) = folder.result(&settings)? {
            output.note(|| "this run is finished; --fresh runs it again".into());
            return tell(&result, &data, &folder, output);
        }
        let stop = interrupt::listen()?;
        output.detail(|| {
            format!(
                "{}; {} threads; into {}",
                headline(&settings, &data),
                self.place.threads(),
                out.display()
            )
        });
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.place.threads()).build()?;
        pool.install(|| match self.place.device {
            Device::Cpu => go::<Flex>(&data, &settings, &folder, self.checkpoints, output, &stop),
            #[cfg(feature = "cuda")]
            Device::Cuda => {
                go::<burn::backend::Cuda>(&data, &settings, &folder, self.checkpoints, output, &stop)
            }
            #[cfg(not(feature = "cuda"))]
            Device::Cuda => unreachable!("refused above"),
        })
    }
}

fn go<B: Backend>(
    data: &DataSet,
    settings: &Settings,
    folder: &RunFolder,
    checkpoints: Checkpoints,
    output: &Output,
    stop: &StopFlag,
) -> anyhow::Result<ExitCode> {
    let bar = output.bar(bar(settings.iterations));
    let mut watch = |progress: Progress<'_>| {
        show(&bar, progress, output);
        if stop.is_requested() {
            bar.finish_and_clear();
            return Control::Stop;
        }
        Control::Continue
    };
    let settings = std::slice::from_ref(settings);
    let (path, every) = (folder.checkpoint(), checkpoints.checkpoint_every);
    let ended = train::<B>(data, settings, &Default::default(), &path, every, &mut watch)
        .with_context(|| format!("training in {}", folder.path().display()))?;
    bar.finish_and_clear();
    match ended {
        Ended::Stopped(iteration) => {
            output.result(|| json!({ "status": "interrupted", "iteration": iteration }), || {})?;
            output
                .note(|| format!("saved after {iteration} iterations; the same command goes on from there"));
            Ok(ExitCode::from(INTERRUPTED))
        }
        Ended::Finished(results, net) => {
            folder.keep(&results[0], &Weights::of(&net, 0))?;
            tell(&results[0], data, folder, output)
        }
    }
}

fn bar(iterations: u64) -> ProgressBar {
    ProgressBar::new(iterations).with_style(style("{bar:20} {pos}/{len} {speed}, {eta} left  {wide_msg}"))
}

fn show(bar: &ProgressBar, progress: Progress<'_>, output: &Output) {
    if bar.position() == 0 && progress.began > 0 {
        bar.suspend(|| output.note(|| format!("going on after {} iterations", progress.began)));
        bar.set_position(progress.began);
        bar.reset_eta();
    }
    bar.set_position(progress.iteration);
    if let Some(Some(m)) = progress.measured.first() {
        bar.set_message(format!(
            "train loss {:.4}, test accuracy {:.2} %",
            m.train_loss,
            100.0 * m.test_accuracy
        ));
    }
}

/// Prints what a run left, and says how the program ends.
fn tell(result: &RunResult, data: &DataSet, folder: &RunFolder, output: &Output) -> anyhow::Result<ExitCode> {
    output.result(
        || Told { folder: folder.path().display().to_string(), result },
        || print(result, data, folder),
    )?;
    Ok(match result.status {
        Status::Finished => ExitCode::SUCCESS,
        Status::Diverged { iteration, loss } => {
            let advice = match result.settings.scale {
                Some(Bend::Auto) => {
                    "a smaller step, the noise if you know it (--alpha A --scale noise=S), or clipping"
                }
                _ => "a smaller step, --scale auto, or clipping",
            };
            say(format_args!("diverged: the loss was {loss} at iteration {iteration}; try {advice}"));
            ExitCode::from(DIVERGED)
        }
    })
}

/// A result, and where it is kept.
#[derive(Serialize)]
struct Told<'a> {
    folder: String,
    #[serde(flatten)]
    result: &'a RunResult,
}

fn print(result: &RunResult, data: &DataSet, folder: &RunFolder) {
    let settings = &result.settings;
    println!("{}", headline(settings, data));
    let diverged = matches!(result.status, Status::Diverged { .. });
    if let Some(summary) = &result.summary {
        println!("\n            loss   accuracy");
        println!("train {:>10.4} {:>8.2} %", summary.train_loss, 100.0 * summary.train_accuracy);
        println!("test  {:>10.4} {:>8.2} %", summary.test_loss, 100.0 * summary.test_accuracy);
        let when = if diverged { ", before it diverged" } else { "" };
        match summary.measurements {
            2 => println!("mean of the last two of {} measurements{when}", result.measurements.len()),
            _ => println!("from one measurement{when}"),
        }
    }
    let iterations = result.reached();
    let speed = iterations as f64 / result.seconds;
    println!("\n{iterations} iterations in {:.1} s ({speed:.0}/s, measuring included)", result.seconds);
    tell_found(result);
    tell_tails(result);
    println!("kept in {}", folder.path().display());
}

fn headline(settings: &Settings, data: &DataSet) -> String {
    let Settings { width, depth, optimizer, alpha, .. } = *settings;
    let shape = Shape { inputs: data.train.features(), width, depth, classes: data.classes };
    let mut text =
        format!("{}, {depth} layers of width {width}, {} weights; {optimizer}", data.name, shape.weights());
    if optimizer == Optimizer::Fuld {
        text += &format!(" alpha {alpha}");
    }
    let numbers = [
        ("eta", settings.eta),
        ("gamma", settings.gamma),
        ("beta", settings.beta.filter(|&beta| beta != 1.0)),
        ("lr", settings.lr),
        ("momentum", settings.momentum),
        ("clip", settings.clip),
    ];
    for (name, value) in numbers {
        if let Some(value) = value {
            text += &format!(", {name} {value}");
        }
    }
    if let Some(field) = settings.field {
        text += &format!(", the {field}' field");
    }
    if let Some(scale) = settings.scale {
        text += &format!(", scale {scale}");
    }
    if let Some(noise) = settings.inject_noise {
        text += &format!("; noise SαS({}) of scale {} on the gradients", noise.alpha, noise.scale);
    }
    text
}

/// What `auto` stood for at the end.
fn tell_found(result: &RunResult) {
    let Some(last) = result.found.last() else { return };
    println!("\nfound from the gradients, after {} iterations", last.iteration);
    let mut table = vec![
        ["layer", "noise: alpha", "scale", "in use: alpha", "kappa", "limit", "bent"]
            .map(String::from)
            .to_vec(),
    ];
    for found in result.found.iter().filter(|found| found.iteration == last.iteration) {
        let number = |x: f64| if x.is_finite() { format!("{x:.2e}") } else { "none".into() };
        table.push(vec![
            found.layer.to_string(),
            format!("{:.2}", found.noise_alpha),
            number(found.noise_scale),
            format!("{:.2}", found.alpha),
            number(found.kappa),
            number(found.limit),
            format!("{:.1} %", 100.0 * found.bent),
        ]);
    }
    println!("{}", aligned(&table));
}

fn tell_tails(result: &RunResult) {
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
