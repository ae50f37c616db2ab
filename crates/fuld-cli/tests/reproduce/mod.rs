//! Tests of the command `fuld reproduce`, and of its report in a browser.

mod browser;

use crate::program::{fuld, rewrite, signal, start, wait, wait_until};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Returns the relative links of a page to other files.
fn links(page: &str) -> Vec<&str> {
    let targets = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    targets.filter(|target| !target.starts_with('#') && !target.contains(':')).collect()
}

/// Returns the claim of an exhibit whose text starts with `says`.
fn claim<'a>(report: &'a Value, exhibit: &str, says: &str) -> &'a Value {
    let exhibits = report["exhibits"].as_array().unwrap();
    let claims =
        exhibits.iter().find(|e| e["id"] == exhibit).unwrap()["claims"].as_array().unwrap();
    claims.iter().find(|claim| claim["says"].as_str().unwrap().starts_with(says)).unwrap()
}

/// Returns the number after a text in the measured values of a claim.
fn number(claim: &Value, after: &str) -> f64 {
    let text = claim["measured"].as_str().unwrap();
    let rest = text.split(after).nth(1).unwrap_or_else(|| panic!("{after:?} is not in {text:?}"));
    let digits: String = rest
        .trim_start()
        .chars()
        .take_while(|c| c.is_ascii_digit() || "+-.".contains(*c))
        .collect();
    digits
        .trim_end_matches('.')
        .parse()
        .unwrap_or_else(|_| panic!("no number after {after:?} in {text:?}"))
}

/// The first command of the README, which takes some minutes.
#[test]
#[ignore = "makes the whole report and opens it in a browser: run by make test-all"]
fn the_whole_report() {
    let folder = TempDir::new().unwrap();
    let ended = fuld(folder.path(), "reproduce --json")
        .with(0, &["networks on the digits", "guard on the digits"]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["exhibits"].as_array().unwrap().len(), 16);
    // The paper's claims and ours are counted separately; every claim that does not hold is named
    // with a reason.
    for source in ["paper", "ours"] {
        let tally = &report[source]["tally"];
        let count = |key: &str| tally[key].as_u64().unwrap() as usize;
        let exceptions = report[source]["exceptions"].as_array().unwrap();
        assert!(count("hold") > 0, "{tally}");
        assert_eq!(exceptions.len(), count("hold_in_part") + count("do_not_hold"));
        assert!(
            exceptions.iter().all(|claim| claim["why"].as_str().is_some_and(|why| !why.is_empty()))
        );
    }

    // The claims of the paper's Figure 3.
    for alpha in ["1", "1.9"] {
        let fuld = claim(
            &report,
            "fig3",
            &format!("FULD captures exp(−f) very accurately at α = {alpha}."),
        );
        assert!(fuld["verdict"] == "holds" && number(fuld, "KS distance") <= 0.02, "{fuld}");
    }
    let uncorrected = claim(&report, "fig3", "At α = 1 the measure of the uncorrected");
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
            Some("svg") => {
                assert!(file.starts_with(b"<svg") && file.ends_with(b"</svg>\n"), "{link}")
            }
            Some("csv") => {
                assert!(file.iter().filter(|&&byte| byte == b'\n').count() > 1, "{link}")
            }
            _ => assert!(!file.is_empty(), "{link}"),
        }
    }
    browser::opens(&out.join("report.html"));

    // The same command reads the stored results and gives the same claims and page.
    let again = fuld(folder.path(), "reproduce --json --quiet").with(0, &[]);
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    for key in ["exhibits", "paper", "ours"] {
        assert_eq!(again[key], report[key], "{key}");
    }
    assert_eq!(std::fs::read_to_string(out.join("report.html")).unwrap(), page);
    // A selection of exhibits has a separate page; the whole report is not changed.
    let some = fuld(folder.path(), "reproduce --only networks,guard --quiet").with(0, &[]);
    assert!(
        some.stdout.contains("report-networks-guard.html") && some.stderr.is_empty(),
        "{some:?}"
    );
    assert_eq!(std::fs::read_to_string(out.join("report.html")).unwrap(), page);
}

/// All files below a folder with their contents.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path))
        } else {
            all.push((path.file_name().unwrap().into(), std::fs::read(&path).unwrap()))
        }
    }
    all.sort();
    all
}

#[test]
fn results_depend_only_on_the_seed() {
    let folder = TempDir::new().unwrap();
    for (out, options) in [("one", "--threads 1"), ("two", "--threads 2"), ("other", "--seed 1")] {
        fuld(folder.path(), &format!("reproduce --only fig1,overdamped --out {out} {options}"))
            .with(0, &[]);
    }
    for exhibit in ["fig1", "overdamped"] {
        let of = |out: &str| files(&folder.path().join(out).join(exhibit));
        assert!(of("one") == of("two"), "{exhibit}");
        assert!(of("one") != of("other"), "{exhibit}");
    }
}

#[test]
fn an_interrupted_report_contains_the_finished_exhibits() {
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
fn errors_name_the_invalid_option() {
    let folder = TempDir::new().unwrap();
    let says = |arguments: &str, code: i32, says: &[&str]| {
        drop(fuld(folder.path(), arguments).with(code, says))
    };
    says("reproduce --only fig9", 2, &["\"fig9\"", "fig1, systems"]);
    says("reproduce --threads 0", 2, &["--threads"]);
    says("reproduce --data nowhere", 2, &["nowhere"]);
    assert!(
        !folder.path().join("reproduction").exists(),
        "errors are found before anything is computed"
    );
    says("reproduce --data mnist --data-dir elsewhere", 1, &["mnist is not in elsewhere"]);
    says("reproduce --only fig1 --full", 2, &["--full", "add networks or guard"]);
    says("reproduce --seed 18446744073709551615", 2, &["18446744073709551615"]);
    std::fs::write(folder.path().join("file"), "").unwrap();
    says("reproduce --only fig1 --out file", 2, &["file is a file"]);
}

/// Stored exhibits are reused. Those of another version are recomputed, with a note.
#[test]
fn stale_or_damaged_exhibits_are_recomputed() {
    let folder = TempDir::new().unwrap();
    let run = |options: &str, code: i32, says: &[&str]| {
        fuld(folder.path(), &format!("reproduce --only fig2 {options}")).with(code, says)
    };
    run("", 0, &["fig2"]);
    let kept = run("", 0, &["fig2", "kept"]);
    assert!(kept.stdout.contains("The paper's claims: "), "{kept:?}");
    let settings = folder.path().join("reproduction/fig2/settings.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    assert!(text.contains("fuld reproduce --only fig2") && text.contains("dynamics = "), "{text}");
    rewrite(&settings, "dynamics = ", "dynamics = 1");
    run("", 0, &["fig2 is made again: versions.dynamics was 1"]);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), text);
    // Tables of seed 0 do not become those of seed 7 by a change of the settings.
    std::fs::write(&settings, text.replace("seed = 0", "seed = 7")).unwrap();
    run("--seed 7", 0, &["fig2 is made again: its settings.toml is damaged or was changed"]);
    run("--fresh", 0, &["fig2"]);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), text);
    // An exhibit with a damaged table, or one that was changed by hand, is recomputed.
    let table = folder.path().join("reproduction/fig2/growth.csv");
    for changed in ["alpha,rate\n1.5,x\n", "alpha,rate\n1.5,0.5\n"] {
        std::fs::write(&table, changed).unwrap();
        run("", 0, &["fig2 is made again: its tables are damaged"]);
        assert_ne!(std::fs::read_to_string(&table).unwrap(), changed);
    }
    run("--seed 1", 2, &["holds fig2 of seed 0, not 1"]);
    run("--seed 1 --fresh", 0, &["fig2"]);
    fuld(folder.path(), "reproduce --resume").with(0, &["fig2", "kept"]);
    // Settings beside --resume must be equal to the stored ones.
    fuld(folder.path(), "reproduce --resume --only fig2 --seed 1").with(0, &["fig2", "kept"]);
    for (options, says) in [
        ("--seed 0", "stored seed = 1, requested seed = 0"),
        ("--only fig1", "stored only = fig2, requested only = fig1"),
        ("--data digits", "stored no data, requested data = digits"),
        ("--full", "stored full = false, requested full = true"),
    ] {
        fuld(folder.path(), &format!("reproduce --resume {options}"))
            .with(2, &["other settings", says]);
    }
    fuld(folder.path(), "reproduce --resume --out elsewhere")
        .with(2, &["no reproduction to resume in elsewhere"]);
}

#[test]
fn a_foreign_folder_is_not_changed() {
    let folder = TempDir::new().unwrap();
    let mine = folder.path().join("mine");
    std::fs::create_dir(&mine).unwrap();
    std::fs::write(mine.join("report.html"), "mine").unwrap();
    for options in ["", "--fresh"] {
        fuld(folder.path(), &format!("reproduce --only fig2 --out mine {options}"))
            .with(2, &["report.html", "fuld did not write"]);
    }
    assert_eq!(files(&mine), [(PathBuf::from("report.html"), b"mine".to_vec())]);
}

/// Files that the user put into an exhibit's folder stay, and a folder of the user's is not taken
/// for an exhibit's.
#[test]
fn files_of_the_user_stay() {
    let folder = TempDir::new().unwrap();
    let run = |options: &str, code: i32, says: &[&str]| {
        fuld(folder.path(), &format!("reproduce --only fig2 {options}")).with(code, says)
    };
    run("", 0, &["fig2"]);
    let exhibit = folder.path().join("reproduction/fig2");
    let mine = [
        "mine.csv",
        "mine.png",
        "notes.txt",
        "sweep.toml",
        "runs/mine.toml",
        "training/a.toml",
        "training/b.checkpoint",
    ]
    .map(|name| exhibit.join(name));
    for name in ["runs", "training"] {
        std::fs::create_dir_all(exhibit.join(name)).unwrap();
    }
    mine.iter().for_each(|path| std::fs::write(path, "mine").unwrap());
    run("", 0, &["fig2", "kept"]);
    std::fs::write(exhibit.join("growth.csv"), "alpha,rate\n").unwrap();
    run("", 0, &["fig2 is made again"]);
    run("--fresh", 0, &["fig2"]);
    assert!(mine.iter().all(|path| std::fs::read(path).unwrap() == b"mine"));
    std::fs::create_dir(folder.path().join("reproduction/law")).unwrap();
    std::fs::write(folder.path().join("reproduction/law/data.csv"), "mine").unwrap();
    fuld(folder.path(), "reproduce --only law").with(2, &["data.csv", "fuld did not write"]);
}

/// Settings with a valid checksum that list files outside the exhibit's folder delete nothing
/// there.
#[test]
fn only_files_of_the_exhibit_are_deleted() {
    let folder = TempDir::new().unwrap();
    fuld(folder.path(), "reproduce --only fig2").with(0, &[]);
    let precious = folder.path().join("precious.png");
    std::fs::write(&precious, "mine").unwrap();
    let settings = folder.path().join("reproduction/fig2/settings.toml");
    for (name, options) in [
        ("../../precious.png", ""),
        ("../../precious.png", "--fresh"),
        (precious.to_str().unwrap(), "--fresh"),
    ] {
        rewrite(&settings, "files = [", &format!("files = [{name:?}, "));
        fuld(folder.path(), &format!("reproduce --only fig2 {options}"))
            .with(0, &["its settings.toml is damaged or was changed"]);
        assert_eq!(std::fs::read(&precious).unwrap(), b"mine", "{name} {options}");
    }
}
