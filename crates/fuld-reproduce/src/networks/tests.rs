use super::*;
use crate::study::{LabelledRun, continues, digits, longest_first, run_until, test_rows};
use fuld_train::spec::{Device, FieldFormula, Optimizer, TrainSpec};
use fuld_train::sweep::grid_requests;
use fuld_train::train::NetworkRun;
use tempfile::TempDir;

fn small() -> NetworkGrids {
    NetworkGrids::of_sizes(vec![8], vec![2, 3], 3..5, 150)
}

fn planned(data: &str, full: bool, seed: u64) -> Vec<LabelledRun> {
    all_runs(&NetworkGrids::new(data, full, seed).grids, &test_rows::description(data)).unwrap()
}

fn study(context: &Context<'_>) -> anyhow::Result<Networks> {
    Networks::of_grids(context, &small())
}

#[test]
fn an_interrupted_study_continues_to_the_same_numbers() {
    continues("networks", 20, study);
}

#[test]
fn tables_have_figures_claims_and_a_sweep() {
    let folder = TempDir::new().unwrap();
    let results = run_until(&folder, f64::INFINITY, study).1.unwrap();
    let figures = results.figures();
    let names: Vec<&str> = figures.iter().map(|figure| figure.figure.name()).collect();
    assert_eq!(names, ["networks-digits-train", "networks-digits-test", "networks-digits-gain"]);
    assert_eq!(results.runs.len(), 20);
    assert!(results.runs.iter().all(|row| row.is_stable() && row.train_loss.is_some()));
    let momenta = &results.momenta;
    assert_eq!(
        momenta.iter().map(|row| (row.depth, row.seed)).collect::<Vec<_>>(),
        [(2, 3), (2, 4), (3, 3), (3, 4)]
    );
    // η times the sum of some ten gradients, the largest about 0.1.
    assert!(
        momenta.iter().all(|row| row.steps == 150 && (0.005..0.5).contains(&row.largest_v)),
        "{momenta:?}"
    );
    let claims = results.claims();
    assert!(claims.iter().all(|claim| claim.says.contains("the digits")), "{claims:#?}");
    assert!(results.text().contains("20 runs, 2 seeds"));
    // The sweep is the same runs.
    let sweep = std::fs::read_to_string(folder.path().join("sweep.toml")).unwrap();
    let data = digits().description();
    let planned: Vec<TrainSpec> =
        all_runs(&small().grids, &data).unwrap().into_iter().map(|run| run.spec).collect();
    let requests = grid_requests(&sweep, &[]).unwrap();
    let mut swept: Vec<TrainSpec> =
        requests.iter().map(|r| r.spec(&data, Device::Cpu).unwrap()).collect();
    assert_eq!(swept.len(), planned.len());
    swept.retain(|spec| !planned.contains(spec));
    assert!(swept.is_empty(), "{swept:#?}");
}

#[test]
fn the_full_grid_is_that_of_the_paper() {
    let runs = planned("mnist", true, 0);
    assert_eq!(runs.len(), 5 * 9 * 5 * 5);
    let spec = |run: &LabelledRun| (run.spec.iterations, run.spec.batch, run.spec.measure_every);
    assert!(runs.iter().all(|run| spec(run) == (10_000, 100, 9_900)));
    // The order depends on measured times; here the number of weights stands for them.
    let data = digits();
    let weights = |spec: &TrainSpec| spec.width * (784 + spec.width * spec.depth);
    let run = |run: &LabelledRun| NetworkRun {
        spec: run.spec.clone(),
        data: &data,
        seconds: weights(&run.spec) as f64,
    };
    let runs: Vec<NetworkRun<'_>> = runs.iter().map(run).collect();
    let first = &longest_first(&runs)[0].spec;
    assert_eq!((first.width, first.depth), (512, 10));
}

#[test]
fn every_seed_has_others_after_it() {
    assert_eq!(planned("digits", false, u64::MAX).len(), 3 * 5 * 5 * 5);
}

#[test]
fn treatments_differ_in_what_they_are_named_for() {
    for (set, momentum) in [("digits", 0.99), ("cifar10", 0.91)] {
        let runs = planned(set, false, 7);
        let of = |treatment| {
            &runs.iter().find(|run| run.treatment == treatment && run.spec.seed == 7).unwrap().spec
        };
        let [gaussian, paper, control, authors, authors_control] = Treatment::PAPER.map(of);
        assert_eq!((gaussian.alpha, paper.alpha, authors.alpha), (2.0, 1.75, 1.75));
        assert_eq!((paper.field, authors.field), (None, Some(FieldFormula::Authors)));
        for control in [control, authors_control] {
            assert_eq!(control.optimizer, Optimizer::Sgdm);
            assert!((control.momentum.unwrap() - momentum).abs() < 1e-12);
        }
        assert!(control.step() > 0.0110 && authors_control.step() < 0.0052);
    }
}

#[test]
fn the_full_grid_has_the_figures_of_the_paper() {
    let names = |set: &str| {
        let Grid { widths, depths, .. } = &NetworkGrids::new(set, true, 0).grids[0];
        let mut runs = test_rows::grid(widths, depths, |_, _, depth, _| (depth as f64, 0.5));
        let data = crate::study::ImageSet::named(set);
        runs.rows.iter_mut().for_each(|run| run.data = data);
        figures::figures(&runs)
            .iter()
            .map(|figure| figure.figure.name().to_string())
            .collect::<Vec<_>>()
    };
    let mnist = ["fig5-mnist-train", "fig6-mnist-test", "supplement-mnist-widths"];
    assert_eq!(names("mnist")[..3], mnist);
    assert_eq!(names("mnist")[3..], ["networks-mnist-gain", "networks-mnist-gain-widths"]);
    assert_eq!(names("cifar10")[..2], ["fig7-cifar10-train", "fig8-cifar10-test"]);
    assert_eq!(names("digits")[2], "networks-digits-widths");
}
