//! What makes no sense is refused by name, and makes no folder.

use super::{WELL, scratch};
use crate::program::fuld;

#[test]
fn errors_name_the_invalid_setting() {
    let folder = scratch();
    let refused = |arguments: &str, says: &[&str]| {
        let ended = fuld(folder.path(), arguments).with(2, says);
        assert!(ended.stdout.is_empty() && !ended.stderr.contains("panicked"), "{ended:?}");
        assert!(!folder.path().join("run").exists(), "{arguments} made a folder");
    };
    let settings = |options: &str, says: &[&str]| refused(&format!("{WELL} {options}"), says);
    settings("--alpha 0", &["alpha", "got 0"]);
    settings("--alpha 2.1", &["alpha", "2.1"]);
    settings("--alpha nan", &["alpha", "NaN"]);
    settings("--step -1", &["step size must be positive", "-1"]);
    settings("--eta -1", &["step size must be positive", "-1"]);
    settings("--beta 0", &["beta", "got 0"]);
    settings("--gamma -2", &["gamma", "-2"]);
    settings("--system fudl", &["fudl", "did you mean `fuld`?"]);
    settings("--integrator eular", &["eular", "did you mean `euler`?"]);
    settings("--chains 0", &["chains must be at least 1, got 0"]);
    settings("--draws 3", &["draws must be at least 4, got 3"]);
    settings("--thin 0", &["thin must be at least 1"]);
    settings("--draws 9999999999999", &["9999999999999", "exceed 1e11 numbers"]);
    settings("--warmup 18446744073709551615", &["warmup 18446744073709551615", "exceed 1e18"]);
    settings("--alpha 1e-9", &["0.1 <= alpha <= 2", "got 0.000000001"]);
    settings("--start 1,2", &["start must be one number, a point of shape (1,)", "got shape (2,)"]);
    settings("--start 1;2", &["of shape (64, 1)", "got shape (2, 1)"]);
    settings("--start here", &["here", "normal:SD"]);
    settings("--half-life 10", &["`half_life` requires `step_power`"]);
    settings("--step-power -1", &["power", "-1"]);
    settings("--dim 0", &["dimension", "got 0"]);
    settings("--param a=2", &["parameters like `a`", "formula"]);
    settings("--param two", &["two", "NAME=NUMBER"]);
    settings("--system flmc --gamma 1", &["flmc has no friction gamma"]);
    settings("--system momentum --beta 2", &["momentum has no beta"]);
    settings("--system underdamped-langevin --alpha 1.5", &["underdamped-langevin has no alpha"]);
    settings("--system flmc --velocities", &["flmc has no velocities"]);
    settings("--system fhd --alpha 0.9", &["1 < alpha <= 2", "0.9"]);
    settings("--threads 100000", &["100000"]);
    settings("--resume --fresh", &["--fresh"]);
    refused("sample", &["a formula", "--config"]);
    refused("sample harmonics --out run", &["did you mean `harmonic`?"]);
    refused("sample harmonic --param lamda=2 --out run", &["did you mean `lambda`?"]);
    refused("sample x^2+y^2 --system flmc --out run", &["sum of one function", "the system fuld"]);
    refused("sample -x^2 --system flmc --out run", &[]);
    refused(
        "sample x-log(x) --integrator baoab --out run",
        &["of 64 chains would start where f is not finite", "choose a start where f is finite"],
    );
    refused("sample x+sqrt(x) --start -1 --out run", &["64 of 64 chains", "at -1"]);
    refused("sample --resume", &["--out"]);
    refused("sample --resume --out run", &["run contains no run to continue"]);
}

#[test]
fn errors_point_at_the_place_in_a_formula() {
    let folder = scratch();
    let ended =
        fuld(folder.path(), "sample x^2+3y").with(2, &["an operator is missing before `y`"]);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let at = lines.iter().position(|line| line.ends_with("x^2+3y")).unwrap();
    assert_eq!(
        lines[at].find("3y").map(|place| place + 1),
        lines[at + 1].find('^'),
        "{}",
        ended.stderr
    );
}

#[test]
fn an_unknown_name_in_a_formula_is_reported_once() {
    let folder = scratch();
    let ended = fuld(folder.path(), "sample cossh(x)").with(2, &["did you mean cosh?"]);
    assert_eq!(ended.stderr.matches("cossh(x)").count(), 1, "{}", ended.stderr);
}

#[test]
fn a_formula_may_start_with_a_minus() {
    let folder = scratch();
    let few = "--chains 2 --draws 10 --out run --fresh";
    fuld(folder.path(), &format!("sample -x^2/2+x^4/4 {few}")).with(0, &[]);
    fuld(folder.path(), &format!("sample -q -log(1-tanh(x)^2) {few} --start -1")).with(0, &[]);
    fuld(folder.path(), "sample -t^2 --out run").with(2, &["-t"]);
}

#[test]
fn a_run_is_overwritten_only_with_fresh() {
    let folder = scratch();
    let few = "sample x^4/4-x^2/2 --out run --chains 2 --draws 10";
    fuld(folder.path(), &format!("{few} --seed 0")).with(0, &[]);
    let before = super::files(&folder.path().join("run"));
    // The same command again prints the same result and changes nothing.
    fuld(folder.path(), &format!("{few} --seed 0")).with(0, &[]);
    assert!(super::files(&folder.path().join("run")) == before, "the finished run was changed");
    fuld(folder.path(), &format!("{few} --seed 1")).with(
        2,
        &[
            "run contains a run with other settings: stored seed = 0, requested seed = 1",
            "--out",
            "--fresh",
        ],
    );
    fuld(folder.path(), &format!("{few} --seed 1 --resume")).with(
        2,
        &[
            "run contains a run with other settings: stored seed = 0, requested seed = 1",
            "--out",
            "--fresh",
        ],
    );
    fuld(folder.path(), "sample --resume --out run --step-power 0.5")
        .with(2, &["stored no step_power, requested step_power = 0.5"]);
    assert!(super::files(&folder.path().join("run")) == before, "the run was changed");
    fuld(folder.path(), &format!("{few} --seed 1 --fresh")).with(0, &[]);
    assert!(super::files(&folder.path().join("run"))["config.toml"] != before["config.toml"]);
}
