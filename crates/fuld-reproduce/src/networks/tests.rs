//! From nothing to a section of the report, at once and in pieces.

use super::*;
use crate::unported::Table;
use fuld::Control;
use fuld_train::spec::DataDescription;
use std::path::PathBuf;
use std::sync::Mutex;
use tempfile::TempDir;

fn training(data: Option<PathBuf>) -> Training {
    Training { data, full: false, seed: 3, threads: 2 }
}

/// Twenty small runs.
fn small(out: &Path) -> Vec<Work> {
    let plan = Plan { widths: vec![8], depths: vec![2, 3], seed: 3, seeds: 2, iterations: 150 };
    vec![Work::new(DataSet::load("digits", "".as_ref()).unwrap(), plan, out).unwrap()]
}

/// Goes on in a folder until so much is done; what was said before the start, and the sections if it got to its end.
fn go_on(folder: &TempDir, until: f64) -> (String, Option<Vec<Exhibit>>) {
    let said = Mutex::new(String::new());
    let watch = |news: News<'_>| match news {
        News::Plan(text) => {
            *said.lock().unwrap() += text;
            Control::Continue
        }
        News::Done(share) if share >= until => Control::Stop,
        News::Done(_) => Control::Continue,
    };
    let exhibits = complete(&training(None), &small(folder.path()), folder.path(), &watch).unwrap();
    (said.into_inner().unwrap(), exhibits)
}

#[test]
fn what_was_stopped_goes_on_to_the_same_numbers() {
    let (whole, parted) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (said, exhibits) = go_on(&whole, f64::INFINITY);
    assert!(said.starts_with("networks on the digits: 20 runs; about "), "{said}");
    let [exhibit] = &exhibits.unwrap()[..] else { panic!("one data set, one section") };
    let (_, stopped) = go_on(&parted, 0.4);
    assert!(stopped.is_none());
    let (said, exhibits) = go_on(&parted, f64::INFINITY);
    let before: usize = said.split(&[' ', ','][..]).filter_map(|word| word.parse().ok()).nth(1).unwrap();
    assert!((1..20).contains(&before) && said.contains("done before"), "{said}");
    let other = &exhibits.unwrap()[0];
    let csv = |exhibit: &Exhibit| exhibit.data.iter().map(Table::csv).collect::<String>();
    assert_eq!(csv(exhibit), csv(other));
    assert_eq!(exhibit.claims, other.claims);
    // Everything is there: nothing is trained again.
    let (said, exhibits) = go_on(&parted, f64::INFINITY);
    assert!(said.contains("20 of them done before") && exhibits.is_some(), "{said}");
}

#[test]
fn a_section_has_figures_data_settings_and_claims() {
    let folder = TempDir::new().unwrap();
    let exhibit = go_on(&folder, f64::INFINITY).1.unwrap().remove(0);
    let names: Vec<&str> = exhibit.figures.iter().map(|(figure, _)| figure.name()).collect();
    assert_eq!(names, ["networks-digits-train", "networks-digits-test", "networks-digits-gain"]);
    assert_eq!(exhibit.data[0].rows().len(), 20);
    assert_eq!(exhibit.data[1].rows().len(), 2 * 5 * 4);
    assert!(exhibit.claims.iter().all(|claim| claim.says.contains("the digits")), "{:#?}", exhibit.claims);
    let authors = exhibit.settings["alpha-1.75-authors"].as_table().unwrap();
    assert_eq!((authors["field"].as_str(), authors["eta"].as_float()), (Some("authors"), Some(0.1)));
    assert_eq!(exhibit.settings["seed"].as_str(), Some("3..5"));
    let momenta = exhibit.settings["momenta"].as_table().unwrap();
    assert_eq!((momenta["seed"].as_str(), momenta["steps"].as_integer()), (Some("3..5"), Some(150)));
    assert_eq!(momenta["shapes"].as_array().unwrap().len(), 2);
    let run = std::fs::read_dir(folder.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    assert!(run.join("result.toml").exists() && !run.join("weights.safetensors").exists());
}

#[test]
fn the_full_grid_has_the_figures_of_the_paper() {
    let figures = |set: &str| {
        let plan = Plan::of(set, true, 0);
        let subject = DataDescription {
            name: set.into(),
            fingerprint: "1".into(),
            images: 50_000,
            inputs: 784,
            classes: 10,
        };
        let results = made::made(&plan.widths, &plan.depths, |_, _, depth, _| (depth as f64, 0.5));
        let (runs, reach) = (plan.runs(&subject).unwrap(), Reach::of(&plan, vec![0.04]).unwrap());
        let exhibit = exhibit::exhibit(&plan, &subject, &runs, &results, reach);
        exhibit.figures.iter().map(|(figure, _)| figure.name().to_string()).collect::<Vec<_>>()
    };
    let mnist = ["fig5-mnist-train", "fig6-mnist-test", "supplement-mnist-widths"];
    assert_eq!(figures("mnist")[..3], mnist);
    assert_eq!(figures("mnist")[3..], ["networks-mnist-gain", "networks-mnist-gain-widths"]);
    assert_eq!(figures("cifar10")[..2], ["fig7-cifar10-train", "fig8-cifar10-test"]);
    assert_eq!(figures("digits")[2], "networks-digits-widths");
}
