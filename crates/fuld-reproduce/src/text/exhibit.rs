//! The section of the report about text.

use super::arm::{MOMENTUM, TRIALS};
use super::comparison::Comparison;
use super::exam::Exam;
use super::plan::Plan;
use super::tails::Tail;
use super::{claims, figures, gap};
use crate::unported::{Exhibit, Table};
use fuld::optimizer::Estimates;

/// Figures, tables and claims from all runs.
pub(super) fn exhibit(plan: &Plan, comparison: &Comparison, tails: &[Tail]) -> Exhibit {
    let language = plan.language();
    let (entropy, least) = (language.unigram_entropy(), Exam::test(plan, &language).least());
    let shape = plan.shape;
    let text = format!(
        "Words of a made-up language of {} words are as frequent as Zipf's law says, and have hidden topics, so that the words before tell of the \
         next one: the least loss possible, {least:.3} nats a word on the test text, is known, and knowing no more than how often words come \
         costs {entropy:.3}. The model has {:.0} thousand parameters: vectors of {}, one block of causal attention over {} words, a hidden layer. Each \
         optimizer is tuned with {TRIALS} trials (learning rates; learning rates and limits where gradients are clipped) on one seed and a \
         validation text; the best setting is run with {} other seeds of {} steps, {} sentences each and none of them twice, and measured on a \
         test text. A difference counts if it exceeds {} standard errors.",
        shape.words,
        shape.parameters() as f64 / 1e3,
        shape.width,
        shape.context,
        plan.seeds,
        plan.steps,
        plan.batch,
        gap::SURE,
    );
    let figures = vec![
        (
            figures::figure(comparison, plan, entropy - least),
            "Left, every learning rate that was tried, where gradients are clipped with the best limit; validation text, one seed. Right, the best \
             settings, means over seeds; test text."
                .into(),
        ),
        (
            figures::ranks(comparison, plan),
            "The same runs in the end, by how frequent the word is that should have been foreseen: ranks 1 to 10, 11 to 100 and all others, \
             each about a third of the text. One standard error over seeds."
                .into(),
        ),
    ];
    let results = results(comparison);
    Exhibit {
        id: "text",
        title: "Beyond the paper · Text with a power-law vocabulary".into(),
        text,
        figures,
        data: vec![
            trials(comparison),
            curves(comparison),
            noise(tails),
            calibration(plan, comparison),
            results.clone(),
        ],
        tables: vec![results],
        settings: settings(plan, comparison),
        claims: claims::claims(comparison, tails),
    }
}

/// For the reader: what each came to.
fn results(comparison: &Comparison) -> Table {
    let columns = ["optimizer", "best setting", "nats above the least", "words 1–10", "11–100", "others"];
    let mut table = Table::new("text-results", &columns);
    for tuned in &comparison.all {
        let [common, middle, rare] = tuned.by_rank().map(|gap| format!("{:.2}", gap.mean));
        let (label, chosen, result) =
            (tuned.arm.label(), tuned.chosen.to_string(), tuned.result().to_string());
        table.row([label.into(), chosen, result, common, middle, rare]);
    }
    table
}

fn number(x: f64) -> String {
    if x.is_finite() { x.to_string() } else { String::new() }
}

fn trials(comparison: &Comparison) -> Table {
    let mut table = Table::new("text-trials", &["optimizer", "rate", "limit", "validation_excess"]);
    for tuned in &comparison.all {
        for (setting, loss) in &tuned.trials {
            let limit = setting.limit.map_or(String::new(), |limit| limit.to_string());
            table.row([tuned.arm.name().into(), setting.rate.to_string(), limit, number(*loss)]);
        }
    }
    table
}

fn curves(comparison: &Comparison) -> Table {
    let mut table = Table::new("text-curves", &["optimizer", "run", "step", "test_excess"]);
    for tuned in &comparison.all {
        for (run, trained) in tuned.runs.iter().enumerate() {
            for (step, excess) in &trained.curve {
                table.row([tuned.arm.name().into(), run.to_string(), step.to_string(), number(*excess)]);
            }
        }
    }
    table
}

fn noise(tails: &[Tail]) -> Table {
    let mut table =
        Table::new("text-noise", &["tensor", "alpha", "alpha_error", "scale", "scale_error", "silent"]);
    for Tail { tensor, estimate, silent, .. } in tails {
        let numbers = [estimate.alpha, estimate.alpha_error, estimate.scale, estimate.scale_error, *silent];
        table.numbers(*tensor, &numbers);
    }
    table
}

/// What auto found of each tensor by the end of each run, and made of it.
fn calibration(plan: &Plan, comparison: &Comparison) -> Table {
    let columns = ["run", "tensor", "noise_alpha", "noise_scale", "alpha", "bend", "limit", "bent"];
    let mut table = Table::new("text-calibration", &columns);
    for (run, trained) in comparison.all.iter().flat_map(|tuned| tuned.runs.iter().enumerate()) {
        for ((tensor, ..), estimates) in plan.shape.tensors().into_iter().zip(&trained.estimates) {
            let Estimates { noise_alpha, noise_scale, alpha, knee, limit, beyond_knee } = *estimates;
            let [a, b, c, d, e, f] = [noise_alpha, noise_scale, alpha, knee, limit, beyond_knee].map(number);
            table.row([run.to_string(), tensor.into(), a, b, c, d, e, f]);
        }
    }
    table
}

fn settings(plan: &Plan, comparison: &Comparison) -> toml::Table {
    let shape = plan.shape;
    let mut table = toml::Table::new();
    for (name, count) in [
        ("words", shape.words),
        ("topics", plan.topics),
        ("context", shape.context),
        ("width", shape.width),
        ("hidden", shape.hidden),
        ("batch", plan.batch),
        ("sentences", plan.sentences),
    ] {
        table.insert(name.into(), (count as i64).into());
    }
    table.insert("loyalty".into(), plan.loyalty.into());
    table.insert("stay".into(), plan.stay.into());
    table.insert("steps".into(), (plan.steps as i64).into());
    table.insert("momentum".into(), MOMENTUM.into());
    let seeds = plan.test_seeds();
    table.insert("test_seeds".into(), format!("{}..{}", seeds.start, seeds.end).into());
    for tuned in &comparison.all {
        let mut of = toml::Table::new();
        let tried: Vec<String> = tuned.trials.iter().map(|(setting, _)| setting.to_string()).collect();
        of.insert("tried".into(), tried.into());
        of.insert("chosen".into(), tuned.chosen.to_string().into());
        table.insert(tuned.arm.name().into(), of.into());
    }
    table
}
