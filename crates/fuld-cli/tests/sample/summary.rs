//! The summary: statistics that suit the tails, and notes about chains with problems.

use super::{WELL, json, scratch};
use crate::program::fuld;

/// A Cauchy law has no mean, so the median is reported. The median deviates by more than five
/// standard errors for one seed in a million; the seed is fixed.
#[test]
fn the_summary_of_a_law_without_mean_has_no_mean() {
    let folder = scratch();
    let output =
        json(folder.path(), "sample cauchy --alpha 1 --draws 500 --thin 200 --seed 0 --out run");
    let x = &output["summary"]["coordinates"][0];
    assert!(
        x["tails"] == "no_mean"
            && x["mean"].is_null()
            && x["sd"].is_null()
            && x["mcse_mean"].is_null(),
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
    assert!(
        shown.stdout.contains("half IQR") && !shown.stdout.contains("mean "),
        "{}",
        shown.stdout
    );
}

#[test]
fn a_table_and_a_histogram_are_printed() {
    let folder = scratch();
    let ended = fuld(folder.path(), WELL).with(0, &[]);
    for text in ["mean", "MCSE", "ESS bulk", "R-hat", "KS distance", "█", "•", "page.html"] {
        assert!(ended.stdout.contains(text), "{text}:\n{}", ended.stdout);
    }
    assert!(
        ended.stdout.lines().all(|line| line.chars().count() <= 120) && ended.stderr.is_empty(),
        "{ended:?}"
    );
    assert!(!ended.stdout.contains('\u{1b}'), "no colours without a terminal");
    let page = std::fs::read_to_string(folder.path().join("run/page.html")).unwrap();
    assert!(page.len() < 1_500_000 && page.matches("<svg").count() >= 4, "{} bytes", page.len());
    assert!(!page.contains("NaN") && !page.contains("http://") && !page.contains("https://"));
}

#[test]
fn few_effective_draws_cause_a_warning() {
    let folder = scratch();
    fuld(folder.path(), &format!("{WELL} --chains 2 --draws 20 --thin 1 --warmup 0")).with(
        0,
        &[
            "warning: x: fewer than 400 effective draws",
            "see docs/sampling.md#fewer-than-400-effective-draws",
        ],
    );
}

#[test]
fn diverged_chains_are_counted_and_reported() {
    let folder = scratch();
    let wild =
        "sample x^4/4 --system overdamped-langevin --integrator euler --seed 0 --out run --fresh";
    let ended = fuld(folder.path(), &format!("{wild} --step 5 --start 10"))
        .with(3, &["all 64 chains", "--step"]);
    assert!(!ended.stderr.contains("panicked"));
    let output = json(folder.path(), &format!("{wild} --step 0.19 --thin 5 --warmup 5"));
    let diverged = output["summary"]["diverged"].as_u64().unwrap();
    assert!((1..64).contains(&diverged), "{output}");
    fuld(folder.path(), "sample --resume --out run")
        .with(0, &[&format!("warning: {diverged} of 64 chains left for infinity")]);
}

/// Chains that do not move have no tails, and a run that had finished before has no speed.
#[test]
fn tails_and_speed_are_reported_only_if_measured() {
    let folder = scratch();
    let rest = "sample double_well --system momentum --integrator aboba --out run";
    let ended = fuld(folder.path(), rest).with(0, &["no noise"]);
    assert!(!ended.stderr.contains("tails"), "{}", ended.stderr);
    assert!(ended.stdout.contains("steps/s"), "{}", ended.stdout);
    let again = fuld(folder.path(), "sample --resume --out run").with(0, &[]);
    assert!(again.stdout.contains("1000 draws of 64 chains\n"), "{}", again.stdout);
}

/// All chains are in one of two modes, which are 6 standard deviations apart.
#[test]
fn a_large_distance_from_the_exact_law_causes_a_warning() {
    let folder = scratch();
    let lost = "sample double_well --param b=40 --alpha 2 --start 1 --draws 400 --seed 0 --out run";
    fuld(folder.path(), lost).with(0, &["warning: x: a KS distance of 0."]);
}

/// At the start f is finite, but its gradient is not.
#[test]
fn a_start_without_gradient_is_an_error() {
    let folder = scratch();
    let ended = fuld(folder.path(), "sample x+sqrt(x) --start 0 --draws 20 --out run")
        .with(2, &["choose another start"]);
    assert!(!ended.stderr.contains("continues"), "{}", ended.stderr);
    let baoab = "sample x+sqrt(x) --start 0 --draws 20 --integrator baoab --out other";
    let ended = fuld(folder.path(), baoab).with(3, &["--start"]);
    assert!(!ended.stderr.contains("--system fuld"), "{}", ended.stderr);
}

/// Chains without noise, and targets that cannot be normalised, have a summary too.
#[test]
fn unusual_targets_have_a_summary() {
    let folder = scratch();
    fuld(folder.path(), &format!("{WELL} --system momentum")).with(0, &["no noise"]);
    fuld(folder.path(), "sample x --chains 4 --draws 50 --out slope")
        .with(0, &["warning: exp(-beta f) cannot be normalised", "still falls"]);
    fuld(folder.path(), "sample rosenbrock --dim 3 --chains 4 --draws 20 --out curved")
        .with(0, &[]);
    fuld(folder.path(), "sample logistic --chains 4 --draws 20 --thin 2 --step 0.01 --out many")
        .with(0, &[]);
}
