use super::plan::{Clean, Edge, Network, Noisy, Rates};
use super::*;
use crate::study::driver::tests::{continues, run_until};
use tempfile::TempDir;

/// Small runs of every group.
fn small() -> Plan {
    let network = Network { width: 8, depth: 2, batch: 20, iterations: 60 };
    Plan {
        seeds: 3..5,
        noisy: Some(Noisy { network, alphas: vec![1.5], scales: vec![1e-3], limits: vec![0.01, 0.1] }),
        clean: Clean { widths: vec![8], depths: vec![2, 3], iterations: 60 },
        edge: Edge { network, lr: 0.1, seeds: 3..6 },
        rates: Rates { network, momenta: vec![0.9] },
    }
}

fn study(context: &Context<'_>) -> anyhow::Result<Calibration> {
    Calibration::of_plan(context, &small())
}

/// Noise: two limits, three norms and three other rules; then pairs, at the edge with three seeds.
const RUNS: usize = 2 * (8 + 2 * (1 + 2 + 9)) + 2 * 3;

#[test]
fn an_interrupted_study_continues_to_the_same_numbers() {
    continues("calibration", RUNS, study);
}

#[test]
fn tables_have_figures_and_claims() {
    let folder = TempDir::new().unwrap();
    let results = run_until(&folder, f64::INFINITY, study).1.unwrap();
    let figures = results.figures();
    let names: Vec<&str> = figures.iter().map(|figure| figure.figure.name()).collect();
    let groups = ["noise", "estimates", "gaussian", "clean", "rates"];
    assert_eq!(names, groups.map(|group| format!("calibration-digits-{group}")));
    assert_eq!(results.runs.len(), RUNS);
    // Two layers of each of two seeds, and three seeds at the edge; one network has three layers.
    assert_eq!(results.estimates.len(), 2 * (2 + 2 + 2 + 3 + 9 * 2) + 3 * 2);
    let claims = results.claims();
    assert_eq!(claims.len(), 10);
    let is_ours = |claim: &Claim| claim.source == crate::Source::Ours;
    assert!(claims.iter().all(|claim| is_ours(claim) && claim.says.contains("the digits")));
    assert_eq!(results.shown().len(), 5);
    assert!(results.text().contains(&format!("{RUNS} runs on the digits, 2 seeds")));
}

#[test]
fn a_run_that_two_groups_ask_for_is_trained_once() {
    let folder = TempDir::new().unwrap();
    let mut plan = small();
    (plan.noisy, plan.clean.widths, plan.rates.momenta) = (None, vec![8, 8], Vec::new());
    let study = |context: &Context<'_>| Calibration::of_plan(context, &plan);
    let (notes, results) = run_until(&folder, f64::INFINITY, study);
    assert!(notes.starts_with("calibration on the digits: 14 runs;"), "{notes}");
    assert_eq!(results.unwrap().runs.len(), 22);
}
