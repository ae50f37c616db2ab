use super::grids::Network;
use super::*;
use crate::study::{continues, run_until};
use tempfile::TempDir;

const NETWORK: Network = Network { width: 8, depth: 2, batch: 20, iterations: 60, seeds: 3..5 };

/// Small runs of every group.
fn study(context: &Context<'_>) -> anyhow::Result<Calibration> {
    let mut grids = NETWORK.noisy(&[1.5], &[1e-3], &[0.01, 0.1]);
    grids.extend([NETWORK.clean(&[8], &[2, 3], 60), NETWORK.edge(0.1, 3..6), NETWORK.rates(&[0.9])]);
    Calibration::of_grids(context, &grids)
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
    let grids = [NETWORK.clean(&[8, 8], &[2, 3], 60), NETWORK.edge(0.1, 3..6)];
    let study = |context: &Context<'_>| Calibration::of_grids(context, &grids);
    let (notes, results) = run_until(&folder, f64::INFINITY, study);
    assert!(notes.starts_with("calibration on the digits: 14 runs;"), "{notes}");
    assert_eq!(results.unwrap().runs.len(), 22);
}
