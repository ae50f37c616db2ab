use super::grids::Network;
use super::*;
use crate::study::{continues, run_until};
use tempfile::TempDir;

const NETWORK: Network = Network { width: 8, depth: 2, batch: 20, iterations: 60, seeds: 3..5 };

/// Small runs of every group.
fn study(context: &Context<'_>) -> anyhow::Result<Guard> {
    let mut grids = NETWORK.noisy(&[1.5], &[1e-3], &[0.01, 0.1]);
    grids.extend([
        NETWORK.clean(&[8], &[2, 3], 60),
        NETWORK.edge(0.1, 3..6),
        NETWORK.rates(&[0.9]),
    ]);
    Guard::of_grids(context, &grids)
}

/// Noise: two limits, three norms and six other rules; then five rules with Gaussian noise and in
/// each of two networks, and pairs at nine learning rates and, with three seeds, at the edge.
const RUNS: usize = 2 * (11 + 5 * (1 + 2) + 2 * 9) + 2 * 3;

#[test]
fn an_interrupted_study_continues_to_the_same_numbers() {
    continues("guard", RUNS, study);
}

#[test]
fn tables_have_figures_and_claims() {
    let folder = TempDir::new().unwrap();
    let results = run_until(&folder, f64::INFINITY, study).1.unwrap();
    let figures = results.figures();
    let names: Vec<&str> = figures.iter().map(|figure| figure.figure.name()).collect();
    let groups = ["noise", "adam", "gaussian", "clean", "rates"];
    assert_eq!(names, groups.map(|group| format!("guard-digits-{group}")));
    assert_eq!(results.runs.len(), RUNS);
    let claims = results.claims();
    assert_eq!(claims.len(), 4 + 2 + 3 + 3 + 1 + 2);
    let is_ours = |claim: &Claim| claim.source == crate::Source::Ours;
    assert!(claims.iter().all(|claim| is_ours(claim) && claim.says.contains("the digits")));
    assert_eq!(results.shown().len(), 6);
    assert!(results.text().contains(&format!("{RUNS} runs on the digits, 2 seeds")));
}

#[test]
fn a_run_that_two_groups_ask_for_is_trained_once() {
    let folder = TempDir::new().unwrap();
    let grids = [NETWORK.clean(&[8, 8], &[2, 3], 60), NETWORK.edge(0.1, 3..6)];
    let study = |context: &Context<'_>| Guard::of_grids(context, &grids);
    let (notes, results) = run_until(&folder, f64::INFINITY, study);
    assert!(notes.starts_with("guard on the digits: 26 runs;"), "{notes}");
    assert_eq!(results.unwrap().runs.len(), 46);
}
