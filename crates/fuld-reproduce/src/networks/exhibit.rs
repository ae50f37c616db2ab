//! The section of the report about the networks of one data set.

use super::arm::Arm;
use super::claims::claims;
use super::figures;
use super::plan::Plan;
use super::reach::Reach;
use super::results::{Measure, Outcome, Results};
use crate::gap;
use crate::set::Set;
use crate::unported::{Exhibit, Table};
use fuld_plot::Figure;
use fuld_train::spec::{DataDescription, TrainSpec};

/// Widths of the paper's main text; the others are in its supplement.
const MAIN: [usize; 2] = [128, 256];

/// Figures, tables and claims from the runs of a data set.
pub(super) fn exhibit(
    plan: &Plan,
    subject: &DataDescription,
    runs: &[(Arm, TrainSpec)],
    results: &Results,
    reach: Reach,
) -> Exhibit {
    let set = Set::of(&subject.name);
    let id = id(&subject.name);
    let gamma = runs.iter().find_map(|(_, spec)| spec.gamma).unwrap_or(f64::NAN);
    let exploded: usize = Arm::ALL.iter().map(|&arm| results.exploded(arm)).sum();
    let text = format!(
        "Fully connected ReLU networks on {}: {} runs, {} seeds for each width, depth and optimizer, {} iterations with η = 0.1, γ = {gamma}, \
         batches of 100; means of the last two measurements, 100 iterations apart, with one standard error over seeds. α = 1.75 is run by the \
         paper's formula and by the field that its authors' code computes, s(αv)/2, and beside each SGD with momentum at the step to which the \
         field comes down for small gradients, {:.2} and {:.2} times that of α = 2: what is gained over α = 2 but not over that is gained \
         by the learning rate. {} A difference counts if it exceeds {} standard errors.",
        set.name(),
        results.outcomes.len(),
        plan.seeds,
        plan.iterations,
        step(runs, Arm::PaperControl) / step(runs, Arm::Gauss).powi(2),
        step(runs, Arm::AuthorsControl) / step(runs, Arm::Gauss).powi(2),
        match exploded {
            0 => "No run exploded.".into(),
            n => format!(
                "{n} of the runs exploded, their loss no number or more than twice that of a guess in the end: they are in no mean, and their \
                 optimizers have lost where they did."
            ),
        },
        gap::SURE,
    );
    Exhibit {
        id,
        title: format!("Networks on {}", set.name()),
        text,
        figures: pictures(&subject.name, results),
        data: vec![every_run(id, results), means(id, results)],
        tables: vec![differences(id, results)],
        settings: configuration(plan, runs, reach),
        claims: claims(set, results, reach),
    }
}

fn id(set: &str) -> &'static str {
    match set {
        "mnist" => "networks-mnist",
        "cifar10" => "networks-cifar10",
        _ => "networks-digits",
    }
}

fn step(runs: &[(Arm, TrainSpec)], arm: Arm) -> f64 {
    runs.iter().find(|(other, _)| *other == arm).map_or(f64::NAN, |(_, spec)| spec.step())
}

/// The figures as the paper numbers them, and what is gained against what.
fn pictures(set: &str, results: &Results) -> Vec<(Figure, String)> {
    const TRAIN: [Measure; 2] = [Measure::TrainLoss, Measure::TrainAccuracy];
    const TEST: [Measure; 2] = [Measure::TestLoss, Measure::TestAccuracy];
    let (train, test, supplement, numbers) = match set {
        "mnist" => ("fig5-mnist-train", "fig6-mnist-test", "supplement-mnist-widths", Some((5, 6))),
        "cifar10" => ("fig7-cifar10-train", "fig8-cifar10-test", "supplement-cifar10-widths", Some((7, 8))),
        _ => ("networks-digits-train", "networks-digits-test", "networks-digits-widths", None),
    };
    let all = results.widths();
    // Three panels fit beside each other.
    let (main, others) = match numbers {
        None if all.len() <= 3 => (all, Vec::new()),
        _ => all.into_iter().partition(|width| MAIN.contains(width)),
    };
    let figure =
        |name: &str, widths: &[usize], rows: &[Measure]| figures::measures(name, results, widths, rows);
    let (trained, tested) = match numbers {
        None => ("Training on the digits.".into(), "The same networks on the test set.".into()),
        Some((train, test)) => {
            (format!("The paper's Figure {train}: training."), format!("The paper's Figure {test}: test."))
        }
    };
    let mut pictures = vec![(figure(train, &main, &TRAIN), trained), (figure(test, &main, &TEST), tested)];
    if !others.is_empty() {
        let caption = "The widths of the paper's supplement, training and test.".into();
        pictures.push((figure(supplement, &others, &Measure::ALL), caption));
    }
    for (name, widths) in [("gain", main), ("gain-widths", others)] {
        let caption = "By how much α = 1.75 lowers the test loss, seed by seed: a row by the paper's formula, a row as the authors' code \
                       computes it; against α = 2, and against SGD with momentum at the matched step.";
        if !widths.is_empty() {
            pictures.push((figures::gains(&format!("{}-{name}", id(set)), results, &widths), caption.into()));
        }
    }
    pictures
}

fn every_run(id: &str, results: &Results) -> Table {
    let mut table = Table::new(
        format!("{id}-runs"),
        &[
            "optimizer",
            "width",
            "depth",
            "seed",
            "status",
            "iterations",
            "train_loss",
            "train_accuracy",
            "test_loss",
            "test_accuracy",
        ],
    );
    for run in &results.outcomes {
        let Outcome { arm, width, depth, seed, summary, reached } = run;
        let status = match (summary, run.sound()) {
            (None, _) => "diverged",
            (_, None) => "exploded",
            _ => "finished",
        };
        let [a, b, c, d] = Measure::ALL.map(|measure| {
            let value = summary.as_ref().map(|s| measure.of(s) / if measure.is_loss() { 1.0 } else { 100.0 });
            value.map_or(String::new(), |value| value.to_string())
        });
        let [width, depth] = [width, depth].map(ToString::to_string);
        let [seed, reached] = [seed, reached].map(ToString::to_string);
        table.row([arm.name().into(), width, depth, seed, status.into(), reached, a, b, c, d]);
    }
    table
}

fn means(id: &str, results: &Results) -> Table {
    let mut table = Table::new(
        format!("{id}-means"),
        &["optimizer", "measure", "width", "depth", "finished", "exploded", "mean", "standard_error"],
    );
    for arm in Arm::ALL {
        for measure in Measure::ALL {
            for cell in results.cells() {
                let finished = results.of(arm, cell).filter(|run| run.sound().is_some()).count();
                let exploded = results.of(arm, cell).count() - finished;
                let numbers = results.mean(arm, cell, measure);
                let text = |number: Option<f64>| {
                    number.filter(|x| x.is_finite()).map_or(String::new(), |x| x.to_string())
                };
                table.row([
                    arm.name().into(),
                    measure.label().into(),
                    cell.0.to_string(),
                    cell.1.to_string(),
                    finished.to_string(),
                    exploded.to_string(),
                    text(numbers.map(|numbers| numbers.0)),
                    text(numbers.map(|numbers| numbers.1)),
                ]);
            }
        }
    }
    table
}

/// For the reader: each comparison, averaged over all widths and depths.
fn differences(id: &str, results: &Results) -> Table {
    let mut table = Table::new(
        format!("{id}-differences"),
        &["α = 1.75 less its rival", "training loss", "training accuracy", "test loss", "test accuracy"],
    );
    let pairs = [
        ("formula − α = 2", Arm::Paper, Arm::Gauss),
        ("formula − SGDm at its step", Arm::Paper, Arm::PaperControl),
        ("code − α = 2", Arm::Authors, Arm::Gauss),
        ("code − SGDm at its step", Arm::Authors, Arm::AuthorsControl),
    ];
    let cells = results.cells();
    for (name, arm, other) in pairs {
        let [a, b, c, d] = Measure::ALL.map(|measure| {
            let gap = results.gap(arm, other, measure, &cells);
            let (sign, digits) = if measure.is_loss() { (-1.0, 4) } else { (1.0, 2) };
            format!("{:+.digits$} ± {:.digits$}", sign * gap.mean, gap.error).replace('-', "−")
        });
        table.row([name.into(), a, b, c, d]);
    }
    table
}

/// The settings of each optimizer, the grid, and how far momenta were followed.
fn configuration(plan: &Plan, runs: &[(Arm, TrainSpec)], reach: Reach) -> toml::Table {
    let list = |numbers: &[usize]| toml::Value::Array(numbers.iter().map(|&n| (n as i64).into()).collect());
    let mut table = toml::Table::new();
    table.insert("width".into(), list(&plan.widths));
    table.insert("depth".into(), list(&plan.depths));
    table.insert("seed".into(), format!("{}..{}", plan.seed, plan.seed + plan.seeds).into());
    for arm in Arm::ALL {
        // Seeds are those of the grid; one that TOML has no number for must not lose the rest.
        let spec = runs.iter().find(|(other, _)| *other == arm);
        let spec = spec.map(|(_, spec)| TrainSpec { seed: 0, ..spec.clone() });
        let Some(Ok(mut of)) = spec.map(toml::Table::try_from) else { continue };
        for varying in ["width", "depth", "seed"] {
            of.remove(varying);
        }
        table.insert(arm.name().into(), of.into());
    }
    let shapes: Vec<String> = Reach::shapes(plan).map(|(width, depth)| format!("{width}x{depth}")).collect();
    let mut momenta = toml::Table::new();
    momenta.insert("optimizer".into(), Arm::Paper.name().into());
    momenta.insert("shapes".into(), shapes.into());
    momenta.insert("seed".into(), table["seed"].clone());
    momenta.insert("steps".into(), (reach.steps as i64).into());
    table.insert("momenta".into(), momenta.into());
    table
}
