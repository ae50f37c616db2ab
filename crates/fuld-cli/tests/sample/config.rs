//! Settings in a file: written, read, and combined with options.

use super::{assert_same_run, scratch};
use crate::program::fuld;
use std::path::Path;

const ODD: &str = "sample double_well --dim 2 --param b=2 --param a=0.5 --system fuld-gaussian --alpha 1.3 --beta 2 --gamma 3 \
    --step 0.01 --step-power 0.3 --half-life 200 --chains 3 --draws 30 --warmup 11 --thin 7 --start 1,-0.5 --velocities --seed 9 \
    --integrator aboba";

fn table(file: &Path) -> toml::Table {
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

#[test]
fn a_configuration_round_trips() {
    let folder = scratch();
    fuld(folder.path(), &format!("{ODD} --save-config a.toml")).with(0, &["--config a.toml"]);
    assert!(!folder.path().join("samples").exists(), "only the file is written");
    fuld(folder.path(), "sample --config a.toml --save-config b.toml").with(0, &[]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("a.toml"), read("b.toml"));
    for line in ["step_power = 0.3", "start = \"1,-0.5\"", "velocities = true", "b = 2.0"] {
        assert!(read("a.toml").contains(line), "{line}");
    }
    fuld(folder.path(), &format!("{ODD} --out one")).with(0, &[]);
    fuld(folder.path(), "sample --config a.toml --out two").with(0, &[]);
    fuld(folder.path(), "sample --config one/config.toml --out three").with(0, &[]);
    assert_same_run(&folder.path().join("one"), &folder.path().join("two"));
    assert_same_run(&folder.path().join("one"), &folder.path().join("three"));
}

/// The scale of gradient noise is a setting of stochastic potentials, and is stored only if it is
/// given.
#[test]
fn gradient_noise_round_trips() {
    let folder = scratch();
    let minibatches = "sample logistic --param batch=16 --step 0.01 --chains 2 --draws 20 --thin 2 --warmup 3 --seed 1";
    let file = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    fuld(folder.path(), &format!("{minibatches} --noise-scale 0.5 --save-config a.toml"))
        .with(0, &[]);
    assert!(file("a.toml").contains("noise_scale = 0.5"));
    fuld(folder.path(), "sample --config a.toml --out one").with(0, &[]);
    assert!(file("one/config.toml").contains("noise_scale = 0.5"));
    fuld(folder.path(), &format!("{minibatches} --noise-scale 0 --save-config b.toml"))
        .with(0, &[]);
    assert!(!file("b.toml").contains("noise_scale"));
    fuld(folder.path(), &format!("{minibatches} --noise-scale 100"))
        .with(2, &["step must be at most 0.0"]);
    fuld(folder.path(), "sample x^2 --integrator baoab --noise-scale 1")
        .with(2, &["requires stochastic gradients"]);
}

#[test]
fn options_take_precedence_over_the_file() {
    let folder = scratch();
    std::fs::write(
        folder.path().join("a.toml"),
        "potential = 'x^2'\nalpha = 1.2\nstart = -2\nchains = 3",
    )
    .unwrap();
    fuld(folder.path(), "sample --config a.toml --alpha 1.7 --save-config b.toml").with(0, &[]);
    let table = table(&folder.path().join("b.toml"));
    assert_eq!(table["alpha"].as_float(), Some(1.7));
    assert_eq!((table["chains"].as_integer(), table["start"].as_str()), (Some(3), Some("-2")));
}

#[test]
fn a_parameter_replaces_only_itself() {
    let folder = scratch();
    fuld(folder.path(), "sample double_well --param b=2 --param a=3 --save-config a.toml")
        .with(0, &[]);
    fuld(folder.path(), "sample --config a.toml --param a=0.5 --save-config b.toml").with(0, &[]);
    let parameters = table(&folder.path().join("b.toml"))["param"].clone();
    assert_eq!((parameters["a"].as_float(), parameters["b"].as_float()), (Some(0.5), Some(2.0)));
    // Another potential has other parameters.
    fuld(folder.path(), "sample harmonic --config a.toml --save-config c.toml").with(0, &[]);
    assert!(!table(&folder.path().join("c.toml")).contains_key("param"));
}

#[test]
fn a_file_can_be_used_with_another_system() {
    let folder = scratch();
    fuld(folder.path(), "sample x^2 --velocities --beta 3 --seed 4 --save-config a.toml")
        .with(0, &[]);
    fuld(folder.path(), "sample --config a.toml --system overdamped-langevin --save-config b.toml")
        .with(0, &[]);
    let other = table(&folder.path().join("b.toml"));
    assert!(
        ["alpha", "gamma", "velocities", "adapt", "path"]
            .iter()
            .all(|key| !other.contains_key(*key)),
        "{other}"
    );
    assert_eq!((other["beta"].as_float(), other["seed"].as_integer()), (Some(3.0), Some(4)));
    assert_eq!(other["integrator"].as_str(), Some("tamed-euler"));
    fuld(folder.path(), "sample --config a.toml --system uncorrected --save-config c.toml")
        .with(0, &[]);
    assert_eq!(table(&folder.path().join("c.toml"))["integrator"].as_str(), Some("baoab"));
    // Settings of exact sampling in a file without an integrator are used.
    std::fs::write(folder.path().join("d.toml"), "potential = 'x^2'\nadapt = false\npath = 2")
        .unwrap();
    fuld(folder.path(), "sample --config d.toml --save-config e.toml").with(0, &[]);
    let kept = table(&folder.path().join("e.toml"));
    assert_eq!((kept["adapt"].as_bool(), kept["path"].as_float()), (Some(false), Some(2.0)));
    // A setting that the system does not have is an error if it is given as an option.
    fuld(folder.path(), "sample --config a.toml --system momentum --alpha 1.2")
        .with(2, &["momentum has no alpha"]);
}

#[test]
fn start_may_be_a_list_and_eta_is_an_alias_of_step() {
    let folder = scratch();
    let file = folder.path().join("a.toml");
    std::fs::write(&file, "potential = 'x^2+y^2'\nstart = [1, -2.5]\neta = 0.125").unwrap();
    fuld(folder.path(), "sample --config a.toml --save-config b.toml").with(0, &[]);
    let read = table(&folder.path().join("b.toml"));
    assert_eq!((read["start"].as_str(), read["step"].as_float()), (Some("1,-2.5"), Some(0.125)));
    std::fs::write(&file, "potential = 'x^2'\nstep = 0.1\neta = 0.125").unwrap();
    fuld(folder.path(), "sample --config a.toml").with(2, &["step and eta"]);
    std::fs::write(&file, "potential = 'x^2'\nstart = [true]").unwrap();
    fuld(folder.path(), "sample --config a.toml").with(2, &["start", "normal:SD"]);
}

#[test]
fn errors_name_the_invalid_key_or_value() {
    let folder = scratch();
    let refused = |text: &str, says: &[&str]| {
        std::fs::write(folder.path().join("a.toml"), text).unwrap();
        fuld(folder.path(), "sample --config a.toml").with(2, says);
    };
    refused("alpa = 1.5", &["a.toml", "`alpa`", "did you mean `alpha`?"]);
    refused("quux = 1.5", &["`quux`", "the settings are potential, dim"]);
    refused("alpha = 'two'", &["a.toml", "alpha"]);
    refused("system = 'fudl'", &["a.toml", "system", "`fudl`", "did you mean `fuld`?"]);
    refused("system = 1", &["a.toml", "system", "1"]);
    refused("integrator = 'eular'", &["a.toml", "integrator", "did you mean `euler`?"]);
    refused("potential = ", &["a.toml"]);
    refused("alpha = 1.5", &["say what to sample from"]);
    fuld(folder.path(), "sample --config none.toml").with(2, &["none.toml"]);
}

/// The bytes must not change, because folders are named by their hash and runs are found by them.
#[test]
fn the_format_of_settings_is_pinned() {
    let folder = scratch();
    fuld(folder.path(), &format!("{ODD} --save-config a.toml")).with(0, &[]);
    let odd = "# Run it with: fuld sample --config FILE. Options on the command line take precedence.\n\
        potential = \"double_well\"\ndim = 2\nbeta = 2.0\nsystem = \"fuld-gaussian\"\nintegrator = \"aboba\"\nalpha = 1.3\n\
        gamma = 3.0\nstep = 0.01\nstep_power = 0.3\nhalf_life = 200.0\nchains = 3\ndraws = 30\nwarmup = 11\nthin = 7\n\
        start = \"1,-0.5\"\nvelocities = true\nseed = 9\n\n[param]\na = 0.5\nb = 2.0\n";
    assert_eq!(std::fs::read_to_string(folder.path().join("a.toml")).unwrap(), odd);
    fuld(
        folder.path(),
        "sample x^2+y^2 --start 2 --system flmc-approximate --alpha 1.5 --draws 20 --chains 2 --seed 0",
    )
    .with(0, &[]);
    let plain = "# Run it with: fuld sample --config FILE. Options on the command line take precedence.\n\
        potential = \"x^2+y^2\"\ndim = 2\nbeta = 1.0\nsystem = \"flmc-approximate\"\nintegrator = \"tamed-euler\"\nalpha = 1.5\n\
        step = 0.002\nchains = 2\ndraws = 20\nwarmup = 25000\nthin = 250\nstart = \"2\"\nseed = 0\n";
    let run =
        folder.path().join("samples/formula-flmc-approximate-alpha1.5-seed0-3c8abe288fc50bc8");
    assert_eq!(std::fs::read_to_string(run.join("config.toml")).unwrap(), plain);
}

#[test]
fn names_ignore_case_and_accept_underscores() {
    let folder = scratch();
    std::fs::write(
        folder.path().join("a.toml"),
        "potential = 'x^2'\nsystem = 'FULD_Gaussian'\nintegrator = 'BAOAB'",
    )
    .unwrap();
    fuld(folder.path(), "sample --config a.toml --save-config b.toml").with(0, &[]);
    let read = table(&folder.path().join("b.toml"));
    assert_eq!(
        (read["system"].as_str(), read["integrator"].as_str()),
        (Some("fuld-gaussian"), Some("baoab"))
    );
    for spelling in ["Overdamped-Langevin", "OVERDAMPED_LANGEVIN"] {
        let options = format!("--system {spelling} --integrator Tamed_Euler --save-config c.toml");
        fuld(folder.path(), &format!("sample x^2 {options}")).with(0, &[]);
        let read = table(&folder.path().join("c.toml"));
        assert_eq!(
            (read["system"].as_str(), read["integrator"].as_str()),
            (Some("overdamped-langevin"), Some("tamed-euler"))
        );
    }
}
