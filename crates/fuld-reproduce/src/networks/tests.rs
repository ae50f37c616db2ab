use super::*;
use crate::study::driver::steps;
use crate::study::network_runs::made_up;
use fuld_train::data::DataSet;
use fuld_train::spec::{Device, FieldFormula, Optimizer, TrainSpec};
use fuld_train::sweep::grid_requests;
use std::path::Path;
use std::sync::Mutex;
use tempfile::TempDir;

fn small() -> Plan {
    Plan { widths: vec![8], depths: vec![2, 3], seeds: 3..5, iterations: 150 }
}

fn digits() -> DataSet {
    DataSet::load("digits", Path::new("")).unwrap()
}

/// Continues in a folder until this share is done. Returns the notes, and the tables if it came to the end.
fn run(folder: &TempDir, until: f64) -> (String, Option<Tables>) {
    let (data, notes, stop) = (digits(), Mutex::new(String::new()), fuld::StopFlag::default());
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
    let tables = experiment(&context, &small()).ok();
    drop(context);
    (notes.into_inner().unwrap(), tables)
}

#[test]
fn an_interrupted_study_continues_to_the_same_numbers() {
    let (whole, parted) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (notes, tables) = run(&whole, f64::INFINITY);
    assert!(notes.starts_with("networks on the digits: 20 runs; about "), "{notes}");
    assert!(run(&parted, 0.4).1.is_none());
    let (notes, continued) = run(&parted, f64::INFINITY);
    let before: usize = notes.split(&[' ', ','][..]).filter_map(|word| word.parse().ok()).nth(1).unwrap();
    assert!((1..20).contains(&before) && notes.contains("trained before"), "{notes}");
    assert_eq!(continued, tables);
    // Everything is kept: nothing is trained again.
    let (notes, again) = run(&parted, f64::INFINITY);
    assert!(notes.contains("20 of them trained before") && again == tables, "{notes}");
}

#[test]
fn tables_have_figures_claims_and_a_sweep() {
    let folder = TempDir::new().unwrap();
    let tables = run(&folder, f64::INFINITY).1.unwrap();
    let figures = (EXHIBIT.figures)(&tables).unwrap();
    let names: Vec<&str> = figures.iter().map(|figure| figure.figure.name()).collect();
    assert_eq!(names, ["networks-digits-train", "networks-digits-test", "networks-digits-gain"]);
    let rows = runs(&tables).unwrap().rows;
    assert_eq!(rows.len(), 20);
    assert!(rows.iter().all(|row| row.is_stable() && row.train_loss.is_some()));
    let momenta: Vec<MomentumRow> = tables.rows("momenta").unwrap();
    assert_eq!(
        momenta.iter().map(|row| (row.depth, row.seed)).collect::<Vec<_>>(),
        [(2, 3), (2, 4), (3, 3), (3, 4)]
    );
    // η times the sum of some ten gradients, the largest of which are about 0.1.
    assert!(
        momenta.iter().all(|row| row.steps == 150 && (0.005..0.5).contains(&row.largest_v)),
        "{momenta:?}"
    );
    let claims = (EXHIBIT.claims)(&tables).unwrap();
    assert!(claims.iter().all(|claim| claim.says.contains("the digits")), "{claims:#?}");
    assert!((EXHIBIT.text)(&tables).unwrap().contains("20 runs, 2 seeds"));
    // The sweep is the same runs.
    let sweep = std::fs::read_to_string(folder.path().join("sweep.toml")).unwrap();
    let data = digits().description();
    let planned: Vec<TrainSpec> = small().runs(&data).unwrap().into_iter().map(|run| run.spec).collect();
    let requests = grid_requests(&sweep, &[]).unwrap();
    let mut swept: Vec<TrainSpec> = requests.iter().map(|r| r.spec(&data, Device::Cpu).unwrap()).collect();
    assert_eq!(swept.len(), planned.len());
    swept.retain(|spec| !planned.contains(spec));
    assert!(swept.is_empty(), "{swept:#?}");
}

#[test]
fn the_full_grid_is_that_of_the_paper() {
    let runs = Plan::new("mnist", true, 0).runs(&made_up::description("mnist")).unwrap();
    assert_eq!(runs.len(), 5 * 9 * 5 * 5);
    let spec = |run: &PlannedRun| (run.spec.iterations, run.spec.batch, run.spec.measure_every);
    assert!(runs.iter().all(|run| spec(run) == (10_000, 100, 9_900)));
    assert_eq!(steps(10_000).measure_every, Some(9_900));
}

#[test]
fn every_seed_has_others_after_it() {
    let runs = Plan::new("digits", false, u64::MAX).runs(&made_up::description("digits")).unwrap();
    assert_eq!(runs.len(), 3 * 5 * 5 * 5);
}

#[test]
fn treatments_differ_in_what_they_are_named_for() {
    for (set, momentum) in [("digits", 0.99), ("cifar10", 0.91)] {
        let runs = Plan::new(set, false, 7).runs(&made_up::description(set)).unwrap();
        let of = |treatment| {
            &runs.iter().find(|run| run.treatment == treatment && run.spec.seed == 7).unwrap().spec
        };
        let [gaussian, paper, control, authors, authors_control] = Treatment::PAPER.map(of);
        assert_eq!((gaussian.alpha, paper.alpha, authors.alpha), (2.0.into(), 1.75.into(), 1.75.into()));
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
        let plan = Plan::new(set, true, 0);
        let mut runs = made_up::grid(&plan.widths, &plan.depths, |_, _, depth, _| (depth as f64, 0.5));
        let data = crate::study::image_set::ImageSet::named(set);
        runs.rows.iter_mut().for_each(|run| run.data = data);
        figures::figures(&runs).iter().map(|figure| figure.figure.name().to_string()).collect::<Vec<_>>()
    };
    let mnist = ["fig5-mnist-train", "fig6-mnist-test", "supplement-mnist-widths"];
    assert_eq!(names("mnist")[..3], mnist);
    assert_eq!(names("mnist")[3..], ["networks-mnist-gain", "networks-mnist-gain-widths"]);
    assert_eq!(names("cifar10")[..2], ["fig7-cifar10-train", "fig8-cifar10-test"]);
    assert_eq!(names("digits")[2], "networks-digits-widths");
}
