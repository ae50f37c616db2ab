//! Every system and integrator runs with its defaults and samples the expected law.

use super::{WELL, json, scratch};
use crate::program::fuld;

/// Systems, with α = 1.5 if they have one, and whether they leave e^(−f) invariant.
const SYSTEMS: [(&str, bool); 11] = [
    ("fuld --alpha 1.5", true),
    ("fuld-beta-free --alpha 1.5", true),
    ("fuld-gaussian --alpha 1.5", true),
    ("uncorrected --alpha 1.5", false),
    ("underdamped-langevin", true),
    ("momentum", false),
    ("fhd --alpha 1.5", false),
    ("overdamped-langevin", true),
    ("uncorrected-overdamped --alpha 1.5", false),
    ("flmc --alpha 1.5", true),
    ("flmc-approximate --alpha 1.5", false),
];

/// With about ten thousand effective draws, the distance of an exact system exceeds 0.02 for one
/// seed in a thousand; the biases of the others are 0.02 to 0.03. The seed is fixed.
#[test]
fn every_system_samples_its_law_with_its_defaults() {
    let folder = scratch();
    for (system, exact) in SYSTEMS {
        let output = json(folder.path(), &format!("{WELL} --system {system} --fresh"));
        let summary = &output["summary"];
        assert_eq!(
            (&summary["diverged"], &summary["exact_dynamics"]),
            (&0.into(), &exact.into()),
            "{system}"
        );
        let ks = summary["coordinates"][0]["ks"]["distance"].as_f64().unwrap();
        if exact {
            assert!(ks < 0.02, "{system} {ks}");
        } else {
            let noise = summary["coordinates"][0]["ks"]["noise"].as_f64().unwrap();
            assert!(ks > 0.02 && ks > 1.5 * noise, "{system} {ks} {noise}");
        }
    }
}

/// At β = 1/4 the paper's field samples another law than the target, and ours samples the target.
#[test]
fn beta_is_the_inverse_temperature_of_the_target() {
    let folder = scratch();
    let ks = |system: &str| {
        let output = json(
            folder.path(),
            &format!("{WELL} --system {system} --alpha 1.5 --beta 0.25 --fresh"),
        );
        output["summary"]["coordinates"][0]["ks"]["distance"].as_f64().unwrap()
    };
    let (exact, free) = (ks("fuld"), ks("fuld-beta-free"));
    assert!(exact < 0.02 && free > 2.0 * exact && free > 0.03, "{exact} {free}");
}

#[test]
fn integrators_run_only_with_the_systems_they_suit() {
    let folder = scratch();
    let few = format!("{WELL} --chains 4 --draws 50 --fresh -q");
    for (integrator, system) in [
        ("euler", "fuld"),
        ("baoab", "fuld"),
        ("aboba", "fuld"),
        ("euler", "overdamped-langevin"),
        ("tamed-euler", "overdamped-langevin"),
    ] {
        fuld(folder.path(), &format!("{few} --system {system} --integrator {integrator}"))
            .with(0, &[]);
    }
    for (integrator, system, instead) in [
        ("tamed-euler", "fuld", "BAOAB"),
        ("baoab", "flmc", "tamed Euler"),
        ("aboba", "flmc", "tamed Euler"),
    ] {
        fuld(folder.path(), &format!("{few} --system {system} --integrator {integrator}"))
            .with(2, &["does not suit", instead]);
    }
}

#[test]
fn several_dimensions() {
    let folder = scratch();
    let output =
        json(folder.path(), "sample x^2+y^2+x*y --seed 0 --out run --chains 16 --draws 500");
    let coordinates = output["summary"]["coordinates"].as_array().unwrap();
    assert_eq!(
        (coordinates[0]["name"].as_str(), coordinates[1]["name"].as_str()),
        (Some("x"), Some("y"))
    );
    for coordinate in coordinates {
        let (sd, ks) =
            (coordinate["sd"].as_f64().unwrap(), coordinate["ks"]["distance"].as_f64().unwrap());
        assert!((sd - (2f64 / 3.0).sqrt()).abs() < 0.05 && ks < 0.05, "{coordinate}");
    }
    // A separable potential: the exact law is known in any dimension, and flmc can sample it.
    let twelve = "sample double_well --dim 12 --param b=2 --chains 8 --seed 0 --fresh --out run";
    let output = json(folder.path(), &format!("{twelve} --draws 200 --system flmc"));
    let coordinates = output["summary"]["coordinates"].as_array().unwrap();
    assert_eq!(coordinates.len(), 12);
    for coordinate in coordinates {
        let ks = |key: &str| coordinate["ks"][key].as_f64().unwrap();
        // The noise is the 95 % quantile 1.358/√n of the distance of n effective draws. The 99.9 %
        // quantile is 1.949/√n, and n is at most 1600.
        let bound = 1.949 / 1.358 * ks("noise");
        assert!(ks("distance") < bound && bound < 0.2, "{coordinate}");
    }
    let many = twelve.replace("--dim 12", "--dim 22");
    let shown = fuld(folder.path(), &format!("{many} --draws 20")).with(0, &[]).stdout;
    assert!(shown.contains("2 more are left out"), "{shown}");
    let csv = std::fs::read_to_string(folder.path().join("run/summary.csv")).unwrap();
    assert_eq!(csv.lines().count(), 23);
}
