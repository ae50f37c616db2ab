//! The summary: the right numbers for the tails, and what is said of chains that went wrong.

use crate::program::fuld;
use crate::{WELL, json, scratch};

/// A Cauchy law has no mean, whatever the draws look like: medians stand for it. The median is beyond five of its errors once in a
/// million seeds; this one is fixed.
#[test]
fn a_law_without_mean_has_none_in_its_summary() {
    let folder = scratch();
    let told = json(folder.path(), "sample cauchy --alpha 1 --draws 500 --thin 200 --out run");
    let x = &told["summary"]["coordinates"][0];
    assert!(
        x["tails"] == "no_mean" && x["mean"].is_null() && x["sd"].is_null() && x["mcse_mean"].is_null(),
        "{x}"
    );
    assert!((x["tail_exponent"].as_f64().unwrap() - 1.0).abs() < 0.01, "{x}");
    let number = |key: &str| x[key].as_f64().unwrap();
    assert!(number("median").abs() < 5.0 * number("mcse_median"), "{x}");
    assert!((number("half_iqr") - 1.0).abs() < 0.1, "{x}");
    assert!(x["ks"]["distance"].as_f64().unwrap() < 0.03, "{x}");
    let csv = std::fs::read_to_string(folder.path().join("run/summary.csv")).unwrap();
    let cell = |column: &str| {
        let place = csv.lines().next().unwrap().split(',').position(|name| name == column).unwrap();
        csv.lines().nth(1).unwrap().split(',').nth(place).unwrap().to_owned()
    };
    assert_eq!((cell("sd"), cell("mcse_mean")), (String::new(), String::new()));
    assert_eq!(cell("median").parse::<f64>().unwrap(), number("median"));
    let shown = fuld(folder.path(), "sample --resume --out run")
        .with(0, &["P(|x| > r) ~ r^-1.00", "the median stands for it"]);
    assert!(shown.stdout.contains("half IQR") && !shown.stdout.contains("mean "), "{}", shown.stdout);
}

#[test]
fn the_terminal_gets_a_table_and_a_histogram() {
    let folder = scratch();
    let ended = fuld(folder.path(), WELL).with(0, &[]);
    for text in ["mean", "MCSE", "ESS bulk", "R-hat", "KS distance", "█", "•", "page.html"] {
        assert!(ended.stdout.contains(text), "{text}:\n{}", ended.stdout);
    }
    assert!(
        ended.stdout.lines().all(|line| line.chars().count() <= 120) && ended.stderr.is_empty(),
        "{ended:?}"
    );
    assert!(!ended.stdout.contains('\u{1b}'), "no colours where there is no terminal");
    let page = std::fs::read_to_string(folder.path().join("run/page.html")).unwrap();
    assert!(page.len() < 1_500_000 && page.matches("<svg").count() >= 4, "{} bytes", page.len());
    assert!(!page.contains("NaN") && !page.contains("http://") && !page.contains("https://"));
}

#[test]
fn few_draws_are_not_trusted() {
    let folder = scratch();
    fuld(folder.path(), &format!("{WELL} --chains 2 --draws 20 --thin 1 --warmup 0"))
        .with(0, &["warning: x: R-hat above 1.01 or fewer than 400 effective draws"]);
}

#[test]
fn divergence_is_counted_and_told() {
    let folder = scratch();
    let wild = "sample x^4/4 --system overdamped-langevin --integrator euler --out run --fresh";
    let ended =
        fuld(folder.path(), &format!("{wild} --step 5 --start 10")).with(3, &["all 64 chains", "--step"]);
    assert!(!ended.stderr.contains("panicked"));
    let told = json(folder.path(), &format!("{wild} --step 0.19 --thin 5 --warmup 5"));
    let diverged = told["summary"]["diverged"].as_u64().unwrap();
    assert!((1..64).contains(&diverged), "{told}");
    fuld(folder.path(), "sample --resume --out run")
        .with(0, &[&format!("{diverged} of 64 chains diverged and are left out")]);
}

/// Chains at rest have no tails, and what is left of a run that is finished has no speed.
#[test]
fn nothing_is_said_of_what_was_not_measured() {
    let folder = scratch();
    let rest = "sample double_well --system momentum --integrator aboba --out run";
    let ended = fuld(folder.path(), rest).with(0, &["no noise"]);
    assert!(!ended.stderr.contains("tails"), "{}", ended.stderr);
    assert!(ended.stdout.contains("steps/s"), "{}", ended.stdout);
    let again = fuld(folder.path(), "sample --resume --out run").with(0, &[]);
    assert!(again.stdout.contains("1000 draws of 64 chains\n"), "{}", again.stdout);
}

/// One of two modes, 6 standard deviations from the other.
#[test]
fn draws_far_from_the_exact_law_are_told() {
    let folder = scratch();
    let lost = "sample double_well --param b=40 --alpha 2 --start 1 --draws 400 --out run";
    fuld(folder.path(), lost).with(0, &["warning: x: a KS distance of 0.5"]);
}

/// What starts where there is a value but no gradient.
#[test]
fn a_start_without_gradient_is_named() {
    let folder = scratch();
    let ended = fuld(folder.path(), "sample x+sqrt(x) --start 0 --draws 20 --out run").with(3, &["--start"]);
    assert!(!ended.stderr.contains("--system fuld"), "{}", ended.stderr);
}

/// What does not move, and what cannot be normalised, has a summary all the same.
#[test]
fn odd_targets() {
    let folder = scratch();
    fuld(folder.path(), &format!("{WELL} --system momentum")).with(0, &["no noise"]);
    fuld(folder.path(), "sample x --chains 4 --draws 50 --out slope")
        .with(0, &["the exact law is not known", "still falls"]);
    fuld(folder.path(), "sample rosenbrock --dim 3 --chains 4 --draws 20 --out curved").with(0, &[]);
    fuld(folder.path(), "sample logistic --chains 4 --draws 20 --thin 2 --step 0.01 --out many").with(0, &[]);
}
