//! `fuld reproduce` as it is typed, and its report in a real browser.

mod browser;
#[path = "../program/mod.rs"]
mod program;

use program::{fuld, signal, start, wait, wait_until};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

/// Every address of a page that is not of another place or of the page itself.
fn links(page: &str) -> Vec<&str> {
    let targets = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    targets.filter(|target| !target.starts_with('#') && !target.contains(':')).collect()
}

/// The claim whose text begins so, in an exhibit.
fn claim<'a>(told: &'a Value, exhibit: &str, says: &str) -> &'a Value {
    let exhibits = told["exhibits"].as_array().unwrap();
    let claims = exhibits.iter().find(|e| e["id"] == exhibit).unwrap()["claims"].as_array().unwrap();
    claims.iter().find(|claim| claim["says"].as_str().unwrap().starts_with(says)).unwrap()
}

/// The number after a word of what was measured.
fn number(claim: &Value, after: &str) -> f64 {
    let text = claim["measured"].as_str().unwrap();
    let rest = text.split(after).nth(1).unwrap_or_else(|| panic!("{after:?} is not in {text:?}"));
    let digits: String =
        rest.trim_start().chars().take_while(|c| c.is_ascii_digit() || "+-.".contains(*c)).collect();
    digits.trim_end_matches('.').parse().unwrap_or_else(|_| panic!("no number after {after:?} in {text:?}"))
}

/// The README's first command, whole: some minutes.
#[test]
fn the_whole_report() {
    let folder = TempDir::new().unwrap();
    let ended = fuld(folder.path(), "reproduce --json")
        .with(0, &["networks on the digits", "calibration on the digits"]);
    let told: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(told["exhibits"].as_array().unwrap().len(), 15);

    // What the paper's Figure 3 must show.
    for alpha in ["1", "1.9"] {
        let fuld = claim(&told, "fig3", &format!("FULD captures exp(−f) very accurately at α = {alpha}."));
        assert!(fuld["verdict"] == "holds" && number(fuld, "KS distance") <= 0.02, "{fuld}");
    }
    let uncorrected = claim(&told, "fig3", "At α = 1 the measure of the uncorrected");
    assert!(
        number(uncorrected, "KS distance") > 0.1 && number(uncorrected, "modes at ±") > 1.4,
        "{uncorrected}"
    );

    let out = folder.path().join("reproduction");
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    let links = links(&page);
    assert!(links.len() > 60, "{}", links.len());
    for link in links {
        let file = std::fs::read(out.join(link)).unwrap_or_else(|error| panic!("{link}: {error}"));
        match link.rsplit('.').next() {
            Some("png") => assert!(file.starts_with(b"\x89PNG"), "{link}"),
            Some("svg") => assert!(file.starts_with(b"<svg") && file.ends_with(b"</svg>\n"), "{link}"),
            Some("csv") => assert!(file.iter().filter(|&&byte| byte == b'\n').count() > 1, "{link}"),
            _ => assert!(!file.is_empty(), "{link}"),
        }
    }
    browser::opens(&out.join("report.html"));

    // The networks are there, so this is quick; the other parts of the report stay as they are.
    let again = fuld(folder.path(), "reproduce --only networks,calibration --quiet").with(0, &[]);
    assert!(
        again.stdout.contains("report-networks-calibration.html") && again.stderr.is_empty(),
        "{again:?}"
    );
    assert_eq!(std::fs::read_to_string(out.join("report.html")).unwrap(), page);
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn the_seed_is_all_that_matters() {
    let folder = TempDir::new().unwrap();
    for (out, options) in [("one", "--threads 1"), ("two", "--threads 2"), ("other", "--seed 1")] {
        fuld(folder.path(), &format!("reproduce --only fig1,overdamped --out {out} {options}")).with(0, &[]);
    }
    for part in ["fig1", "overdamped"] {
        let of = |out: &str| files(&folder.path().join(out).join(part));
        assert!(of("one") == of("two"), "{part}");
        assert!(of("one") != of("other"), "{part}");
    }
}

#[test]
fn an_interrupted_report_keeps_what_is_finished() {
    let folder = TempDir::new().unwrap();
    let mut running = start(folder.path(), "reproduce --only fig1,orders");
    let page = folder.path().join("reproduction/report-fig1-orders.html");
    wait_until(&mut running, || page.exists());
    signal(&mut running, "INT");
    wait(running).with(130, &["interrupted"]);
    assert!(std::fs::read_to_string(page).unwrap().contains("fig1/fig1.svg"));
    assert!(folder.path().join("reproduction/fig1/densities.csv").exists());
    assert!(!folder.path().join("reproduction/orders").exists());
}

#[test]
fn mistakes_are_named() {
    let folder = TempDir::new().unwrap();
    let says =
        |arguments: &str, code: i32, says: &[&str]| drop(fuld(folder.path(), arguments).with(code, says));
    says("reproduce --only fig9", 2, &["\"fig9\"", "fig1, systems"]);
    says("reproduce --threads 0", 2, &["--threads"]);
    says("reproduce --data nowhere", 1, &["nowhere"]);
    assert!(!folder.path().join("reproduction").exists(), "it is noticed before anything is made");
    says("reproduce --only fig1 --full", 2, &["--full", "add networks or calibration"]);
    says("reproduce --seed 18446744073709551615", 2, &["18446744073709551615"]);
    std::fs::write(folder.path().join("file"), "").unwrap();
    says("reproduce --only fig1 --out file", 1, &["making file"]);
}
