use super::plan::{Clean, Edge, Network, Noisy, Rates};
use super::*;
use fuld_train::data::DataSet;
use std::path::Path;
use std::sync::Mutex;
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

/// Noise: two limits, three norms and three other rules; then pairs, at the edge with three seeds.
const RUNS: usize = 2 * (8 + 2 * (1 + 2 + 9)) + 2 * 3;

/// Continues in a folder until this share is done. Returns the notes, and the tables if it came to the end.
fn run(plan: &Plan, folder: &TempDir, until: f64) -> (String, Option<Tables>) {
    let data = DataSet::load("digits", Path::new("")).unwrap();
    let (notes, stop) = (Mutex::new(String::new()), fuld::StopFlag::default());
    let context = Context::new(3, folder.path())
        .with_threads(2)
        .with_data(Some(&data))
        .with_stop(stop.clone())
        .on_note(|note| notes.lock().unwrap().push_str(note))
        .on_progress(|share| {
            if share >= until {
                stop.request();
            }
        });
    let tables = experiment(&context, plan).ok();
    drop(context);
    (notes.into_inner().unwrap(), tables)
}

#[test]
fn an_interrupted_study_continues_to_the_same_numbers() {
    let (whole, parted) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (notes, tables) = run(&small(), &whole, f64::INFINITY);
    assert!(notes.starts_with(&format!("calibration on the digits: {RUNS} runs; about ")), "{notes}");
    assert!(run(&small(), &parted, 0.4).1.is_none());
    let (notes, continued) = run(&small(), &parted, f64::INFINITY);
    assert!(notes.contains("trained before") && !notes.contains(&format!("{RUNS} of them")), "{notes}");
    assert_eq!(continued, tables);
    // Everything is kept: nothing is trained again.
    let (notes, again) = run(&small(), &parted, f64::INFINITY);
    assert!(notes.contains(&format!("{RUNS} of them trained before")) && again == tables, "{notes}");
}

#[test]
fn tables_have_figures_and_claims() {
    let folder = TempDir::new().unwrap();
    let tables = run(&small(), &folder, f64::INFINITY).1.unwrap();
    let figures = (EXHIBIT.figures)(&tables).unwrap();
    let names: Vec<&str> = figures.iter().map(|figure| figure.figure.name()).collect();
    let groups = ["noise", "estimates", "gaussian", "clean", "rates"];
    assert_eq!(names, groups.map(|group| format!("calibration-digits-{group}")));
    assert_eq!(runs(&tables).unwrap().rows.len(), RUNS);
    // Two layers of each of two seeds, and three seeds at the edge; one network has three layers.
    let estimates: Vec<EstimateRow> = tables.rows("estimates").unwrap();
    assert_eq!(estimates.len(), 2 * (2 + 2 + 2 + 3 + 9 * 2) + 3 * 2);
    let claims = (EXHIBIT.claims)(&tables).unwrap();
    assert_eq!(claims.len(), 10);
    let is_ours = |claim: &Claim| claim.source == crate::claim::Source::Ours;
    assert!(claims.iter().all(|claim| is_ours(claim) && claim.says.contains("the digits")));
    assert_eq!((EXHIBIT.shown)(&tables).unwrap().len(), 5);
    assert!((EXHIBIT.text)(&tables).unwrap().contains(&format!("{RUNS} runs on the digits, 2 seeds")));
}

#[test]
fn a_run_that_two_groups_ask_for_is_trained_once() {
    let folder = TempDir::new().unwrap();
    let mut plan = small();
    (plan.noisy, plan.clean.widths, plan.rates.momenta) = (None, vec![8, 8], Vec::new());
    let (notes, tables) = run(&plan, &folder, f64::INFINITY);
    assert!(notes.starts_with("calibration on the digits: 14 runs;"), "{notes}");
    assert_eq!(runs(&tables.unwrap()).unwrap().rows.len(), 22);
}
