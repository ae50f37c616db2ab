//! The section of the report about calibration on one data set.

use super::outcome::{Outcome, Results};
use super::plan::{Plan, Run, Study};
use super::{clean, edge, estimates, gaussian, noise, rates};
use crate::set::Set;
use crate::unported::{Exhibit, Table};
use fuld_train::spec::{DataDescription, TrainSpec};
use std::collections::BTreeSet;
use std::ops::Range;

/// Figures, tables and claims from the runs of a data set.
pub(super) fn exhibit(plan: &Plan, subject: &DataDescription, runs: &[Run], results: &Results) -> Exhibit {
    let set = Set::of(&subject.name);
    let mut exhibit = Exhibit {
        id: id(set),
        title: format!("Calibration on {}", set.name()),
        text: text(plan, set, results),
        figures: Vec::new(),
        data: Vec::new(),
        tables: Vec::new(),
        settings: configuration(plan, runs),
        claims: Vec::new(),
    };
    exhibit.data.extend([every_run(exhibit.id, results), estimates::table(exhibit.id, results)]);
    for study in Study::ALL {
        let results = results.of(study);
        if results.outcomes.is_empty() {
            continue;
        }
        match study {
            Study::Noise => {
                noise::show(&mut exhibit, set, &results);
                estimates::show(&mut exhibit, set, &results);
            }
            Study::Gaussian => gaussian::show(&mut exhibit, set, &results),
            Study::Clean => clean::show(&mut exhibit, set, &results),
            Study::Edge => edge::show(&mut exhibit, set, &results),
            Study::Rates => rates::show(&mut exhibit, set, &results),
        }
    }
    exhibit
}

fn id(set: Set) -> &'static str {
    match set {
        Set::Mnist => "calibration-mnist",
        Set::Cifar10 => "calibration-cifar10",
        Set::Digits => "calibration-digits",
    }
}

fn text(plan: &Plan, set: Set, results: &Results) -> String {
    let noisy = plan.noisy.as_ref().map_or(String::new(), |noisy| {
        format!(
            " Noise is added to the gradients of a network of {} layers, {} units wide, {} steps on batches of {}.",
            noisy.network.depth, noisy.network.width, noisy.network.iterations, noisy.network.batch
        )
    });
    let rates = plan.rates.network;
    format!(
        "The rule with α and scale set to auto finds both from the gradients it sees; beside it SGD with momentum, clipped or not, and \
         the rule that is told the noise, all at the same learning rate. {} runs on {}, {} seeds for each unless said otherwise.{noisy} Networks of all widths and \
         depths take {} steps; learning rates are tried on {} layers, {} units wide, in {} steps. Accuracies are means of the last two \
         measurements, 100 steps apart, with one standard error over seeds. A run whose loss is no number or more than twice that of a guess in \
         the end is diverged, and one whose test accuracy is that of a guess is dead; both are lost.",
        results.outcomes.len(),
        set.name(),
        plan.seeds.end - plan.seeds.start,
        plan.clean.iterations,
        rates.depth,
        rates.width,
        rates.iterations,
    )
}

fn every_run(id: &str, results: &Results) -> Table {
    let mut table = Table::new(
        format!("{id}-runs"),
        &[
            "study",
            "optimizer",
            "noise_alpha",
            "noise_scale",
            "width",
            "depth",
            "lr",
            "momentum",
            "seed",
            "fate",
            "iterations",
            "train_loss",
            "train_accuracy",
            "test_loss",
            "test_accuracy",
        ],
    );
    for run in &results.outcomes {
        let Outcome { study, arm, cell, seed, summary, reached, .. } = run;
        let noise = |of: fn(fuld_train::spec::InjectedNoise) -> f64| {
            cell.noise.map_or(String::new(), |n| of(n).to_string())
        };
        let measured = |of: fn(&fuld_train::train::FinalMeans) -> f64| {
            summary.as_ref().map_or(String::new(), |summary| of(summary).to_string())
        };
        table.row([
            study.name().into(),
            arm.name(),
            noise(|noise| noise.alpha),
            noise(|noise| noise.scale),
            cell.width.to_string(),
            cell.depth.to_string(),
            cell.lr.to_string(),
            cell.momentum.to_string(),
            seed.to_string(),
            run.fate().name().into(),
            reached.to_string(),
            measured(|summary| summary.train_loss),
            measured(|summary| summary.train_accuracy),
            measured(|summary| summary.test_loss),
            measured(|summary| summary.test_accuracy),
        ]);
    }
    table
}

/// What every run of a study has in common, and what of it varies.
fn configuration(plan: &Plan, runs: &[Run]) -> toml::Table {
    let mut all = toml::Table::new();
    let seeds = |seeds: &Range<u64>| format!("{}..{}", seeds.start, seeds.end).into();
    all.insert("seed".into(), seeds(&plan.seeds));
    for study in Study::ALL {
        let of: Vec<toml::Table> = runs
            .iter()
            .filter(|run| run.study == study)
            // One seed that TOML has no number for must not lose the rest.
            .filter_map(|run| toml::Table::try_from(TrainSpec { seed: 0, ..run.spec.clone() }).ok())
            .collect();
        let names: BTreeSet<&String> =
            of.iter().flat_map(|table| table.keys()).filter(|name| *name != "seed").collect();
        let mut table = toml::Table::new();
        for name in names {
            let mut values: Vec<&toml::Value> = Vec::new();
            for value in of.iter().filter_map(|table| table.get(name)) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            let value = match values[..] {
                [value] => value.clone(),
                _ => toml::Value::Array(values.into_iter().cloned().collect()),
            };
            table.insert(name.clone(), value);
        }
        if study == Study::Edge {
            table.insert("seed".into(), seeds(&plan.edge.seeds));
        }
        if !table.is_empty() {
            all.insert(study.name().into(), table.into());
        }
    }
    all
}
