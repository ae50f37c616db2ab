//! Agreement with the values of ArviZ and scipy in `expected.csv` for the draws of `draws.csv`.

use fuld::diagnostics::{Chains, GeneralizedPareto, Sample, Tail, autocorrelation, kolmogorov_sf};
use levy_stable::SymmetricStable;
use std::collections::BTreeMap;
use std::path::Path;

/// Largest relative difference allowed, which covers a different order of summation.
const TOLERANCE: f64 = 1e-11;

/// Returns the lines of a golden file without comments and header.
fn rows(file: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Returns the difference relative to the golden value. NaN equals NaN, and values below 1e-15
/// equal 0, because ArviZ has rounding errors where our value is 0.
fn difference(ours: f64, golden: f64) -> f64 {
    if ours == golden || (ours.is_nan() && golden.is_nan()) || (ours == 0.0 && golden.abs() < 1e-15)
    {
        0.0
    } else if ours.is_nan() || golden.is_nan() || golden.is_infinite() {
        f64::INFINITY
    } else {
        (ours - golden).abs() / golden.abs()
    }
}

fn all_chains() -> BTreeMap<String, Vec<Vec<f64>>> {
    let mut all: BTreeMap<String, Vec<Vec<f64>>> = BTreeMap::new();
    for row in rows("draws.csv") {
        all.entry(row[0].clone()).or_default().push(row[2..].iter().map(|x| number(x)).collect());
    }
    all
}

/// Returns our value of a quantity of the golden file.
fn ours(draws: &[Vec<f64>], quantity: &str, argument: f64) -> f64 {
    let chains = Chains::new(draws).unwrap();
    let sample = |x: &[Vec<f64>]| Sample::new(x.concat()).unwrap();
    let magnitudes = || -> Vec<f64> { draws.concat().iter().map(|x| x.abs()).collect() };
    let fit = || {
        let mut x = magnitudes();
        x.sort_by(f64::total_cmp);
        GeneralizedPareto::fit(&x).unwrap()
    };
    match quantity {
        "r_hat" => chains.r_hat(),
        "ess_bulk" => chains.ess_bulk(),
        "ess_tail" => chains.ess_tail(),
        "ess_mean" => chains.ess_mean(),
        "mcse_mean" => chains.mcse_mean(),
        "ess_quantile" => chains.ess_quantile(argument).unwrap(),
        "mcse_quantile" => chains.mcse_quantile(argument).unwrap(),
        "quantile" => sample(draws).quantile(argument).unwrap(),
        "autocorrelation" => autocorrelation(&draws[0], 100).unwrap()[argument as usize],
        "ks_normal" => {
            let law = SymmetricStable::new(2.0).unwrap().with_scale(1.5 / 2f64.sqrt()).unwrap();
            sample(draws).kolmogorov_smirnov(|x| law.cdf(x - 0.2)).unwrap().distance
        }
        "ks_first_rest" => {
            sample(&draws[..1]).kolmogorov_smirnov_between(&sample(&draws[1..])).distance
        }
        "w1_first_rest" => sample(&draws[..1]).wasserstein_between(&sample(&draws[1..])),
        "w1_cauchy" => {
            let law = SymmetricStable::new(1.0).unwrap();
            sample(draws).wasserstein(|x| law.cdf(x), -argument, argument).unwrap()
        }
        "pareto_k_abs" => {
            Sample::new(magnitudes()).unwrap().pareto_k(Tail::Right, argument).unwrap()
        }
        "gpd_k" => fit().k,
        "gpd_scale" => fit().scale,
        "kolmogorov_sf" => kolmogorov_sf(argument),
        other => panic!("unknown quantity {other}"),
    }
}

#[test]
fn agrees_with_arviz() {
    let all = all_chains();
    let mut worst: BTreeMap<String, (f64, String)> = BTreeMap::new();
    let expected = rows("expected.csv");
    assert!(expected.len() > 500 && all.len() >= 18, "the golden files are cut");
    for row in expected {
        let [set, quantity, argument, value] = row.as_slice() else { panic!("{row:?}") };
        let argument_value = if argument.is_empty() { f64::NAN } else { number(argument) };
        // A quantity that does not depend on draws is still called with some.
        let draws = all.get(if set.is_empty() { "odd" } else { set }).unwrap();
        let ours = ours(draws, quantity, argument_value);
        let golden = number(value);
        let difference = difference(ours, golden);
        let tolerance = match (set.as_str(), quantity.as_str()) {
            // The golden sum that stands for the integral over the Cauchy law has four million
            // terms, not infinitely many.
            (_, "w1_cauchy") => 1e-8,
            // Draws around 1e8: both means are rounded to 1e-8.
            ("large_offset", _) => 1e-6,
            _ => TOLERANCE,
        };
        assert!(difference <= tolerance, "{set} {quantity}({argument}): {ours}, expected {golden}");
        let entry = worst.entry(quantity.clone()).or_default();
        if difference >= entry.0 && set != "large_offset" {
            *entry = (difference, format!("{set} {argument}"));
        }
    }
    for (quantity, (difference, at)) in worst {
        println!("{quantity:>16} {difference:9.1e}  {at}");
    }
}
