//! From nothing to a section of the report, at once and in pieces.

use super::plan::{Clean, Edge, Network, Noisy, Rates};
use super::*;
use crate::unported::Table;
use fuld::Control;
use std::sync::Mutex;
use tempfile::TempDir;

/// Small runs of every study.
fn small(out: &Path) -> Vec<Work> {
    let network = Network { width: 8, depth: 2, batch: 20, iterations: 60 };
    let plan = Plan {
        seeds: 3..5,
        noisy: Some(Noisy { network, alphas: vec![1.5], scales: vec![1e-3], limits: vec![0.01, 0.1] }),
        clean: Clean { widths: vec![8], depths: vec![2, 3], iterations: 60 },
        edge: Edge { network, lr: 0.1, seeds: 3..6 },
        rates: Rates { network, momenta: vec![0.9] },
    };
    vec![Work::new(DataSet::load("digits", "".as_ref()).unwrap(), plan, out).unwrap()]
}

/// Noise: two limits, three norms and three other rules; then pairs, at the edge with three seeds.
const RUNS: usize = 2 * (8 + 2 * (1 + 2 + 9)) + 2 * 3;

/// Goes on in a folder until so much is done; what was said before the start, and the sections if it got to its end.
fn go_on(folder: &TempDir, until: f64) -> (String, Option<Vec<Exhibit>>) {
    watched(&small(folder.path()), folder, until)
}

fn watched(works: &[Work], folder: &TempDir, until: f64) -> (String, Option<Vec<Exhibit>>) {
    let said = Mutex::new(String::new());
    let watch = |news: News<'_>| match news {
        News::Plan(text) => {
            *said.lock().unwrap() += text;
            Control::Continue
        }
        News::Done(share) if share >= until => Control::Stop,
        News::Done(_) => Control::Continue,
    };
    let training = Training { data: None, full: false, seed: 3, threads: 2 };
    let exhibits = complete(&training, works, folder.path(), &watch).unwrap();
    (said.into_inner().unwrap(), exhibits)
}

#[test]
fn what_was_stopped_goes_on_to_the_same_numbers() {
    let (whole, parted) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (said, exhibits) = go_on(&whole, f64::INFINITY);
    assert!(said.starts_with(&format!("calibration on the digits: {RUNS} runs; about ")), "{said}");
    let [exhibit] = &exhibits.unwrap()[..] else { panic!("one data set, one section") };
    assert!(go_on(&parted, 0.4).1.is_none());
    let (said, exhibits) = go_on(&parted, f64::INFINITY);
    assert!(said.contains("done before") && !said.contains(&format!("{RUNS} of them")), "{said}");
    let other = &exhibits.unwrap()[0];
    let csv =
        |exhibit: &Exhibit| exhibit.data.iter().chain(&exhibit.tables).map(Table::csv).collect::<String>();
    assert_eq!(csv(exhibit), csv(other));
    assert_eq!(exhibit.claims, other.claims);
    // The report can be made from what is there: nothing is trained again.
    let (said, exhibits) = go_on(&parted, f64::INFINITY);
    assert!(said.contains(&format!("{RUNS} of them done before")) && exhibits.is_some(), "{said}");
}

#[test]
fn a_section_has_figures_data_settings_and_claims() {
    let folder = TempDir::new().unwrap();
    let exhibit = go_on(&folder, f64::INFINITY).1.unwrap().remove(0);
    let names: Vec<&str> = exhibit.figures.iter().map(|(figure, _)| figure.name()).collect();
    assert_eq!(
        names,
        ["noise", "estimates", "gaussian", "clean", "rates"]
            .map(|study| format!("calibration-digits-{study}"))
    );
    assert_eq!(exhibit.data[0].rows().len(), RUNS);
    // Two layers of each of two seeds, and three at the edge; one network has three layers.
    assert_eq!(exhibit.data[1].rows().len(), 2 * (2 + 2 + 2 + 3 + 9 * 2) + 3 * 2);
    assert!(exhibit.claims.iter().all(|claim| claim.ours && claim.says.contains("the digits")));
    assert_eq!(exhibit.settings["seed"].as_str(), Some("3..5"));
    assert_eq!(exhibit.settings["edge"]["seed"].as_str(), Some("3..6"));
    let noise = exhibit.settings["noise"].as_table().unwrap();
    assert_eq!((noise["lr"].as_float(), noise["inject_noise"].as_str()), (Some(0.01), Some("1.5,0.001")));
    assert_eq!(exhibit.settings["rates"]["lr"].as_array().unwrap().len(), 9);
}

#[test]
fn a_run_that_two_studies_ask_for_is_trained_once() {
    let folder = TempDir::new().unwrap();
    let Work { data, mut plan, .. } = small(folder.path()).remove(0);
    (plan.noisy, plan.clean.widths, plan.rates.momenta) = (None, vec![8, 8], Vec::new());
    let twice = [Work::new(data, plan, folder.path()).unwrap()];
    let (said, exhibits) = watched(&twice, &folder, f64::INFINITY);
    assert!(said.contains(": 14 runs;"), "{said}");
    assert_eq!(exhibits.unwrap()[0].data[0].rows().len(), 22);
}
