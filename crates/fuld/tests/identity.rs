//! A run continues only from files of its own specification, and errors name the first difference.

use crate::parameters::underdamped;
use crate::wells::{run, wells};
use fuld::chains::{
    Callback, CheckpointError, Control, DYNAMICS_VERSION, RunError, RunSpec, ZarrSink,
};
use fuld::dynamics::{CustomKinetic, DifferentiableFunction};
use fuld::potential::{Formula, FromFn1, LogisticRegression};
use fuld::{Integrator, Potential, Run, Schedule, Specification, System, ZarrDraws};
use std::path::{Path, PathBuf};

fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A short run with a checkpoint.
fn short(checkpoint: &Path) -> Run {
    let system = System::fuld(underdamped(1.5, 2.0, 1.0)).unwrap();
    let run = Run::new(system, Integrator::Baoab, Schedule::constant(0.05).unwrap());
    Run { chains: 3, warmup: 5, draws: 10, checkpoint: Some(checkpoint.into()), ..run }
}

fn attempt(run: &Run, potential: &dyn Potential) -> Result<(), RunError> {
    let mut sink = Callback(|_, _: &[f64]| Ok(()));
    run.stream(potential, &mut sink, &mut |_| Control::Continue).map(|_| ())
}

/// Writes a checkpoint of the first run, and returns the difference that the second is refused
/// with.
fn difference(name: &str, first: (&Run, &dyn Potential), second: (&Run, &dyn Potential)) -> String {
    let path = scratch(name).join("run.ckpt");
    let at = |run: &Run| Run { checkpoint: Some(path.clone()), ..run.clone() };
    attempt(&at(first.0), first.1).unwrap();
    attempt(&at(first.0), first.1).unwrap();
    match attempt(&at(second.0), second.1) {
        Err(RunError::Checkpoint(CheckpointError::OtherRun { difference, .. })) => difference,
        other => panic!("not refused as another run: {other:?}"),
    }
}

#[test]
fn batch_prior_and_data_of_a_posterior_are_part_of_a_run() {
    let run = short(Path::new("unused"));
    let posterior =
        |sd: f64, batch| LogisticRegression::breast_cancer(sd).unwrap().with_batch(batch).unwrap();
    let small = |x: f64| {
        let features = [vec![1.0, 2.0], vec![0.5, x], vec![-1.0, 0.0]];
        LogisticRegression::new(&features, &[true, false, true], 1.0).unwrap()
    };
    let refused = |name, first: &LogisticRegression, second: &LogisticRegression| {
        difference(name, (&run, first), (&run, second))
    };
    let batch = refused("batch", &posterior(2.0, 64), &posterior(2.0, 32));
    assert_eq!(
        batch,
        "stored potential.parameters.batch: 64, requested potential.parameters.batch: 32"
    );
    let prior = refused("prior", &posterior(2.0, 64), &posterior(4.0, 64));
    assert!(prior.contains("prior_precision: 0.25, requested"), "{prior}");
    let data = refused("data", &small(0.25), &small(0.125));
    assert!(data.contains("data_sha256"), "{data}");
}

/// Two formulas with the same values and gradients at the three points at which potentials used to
/// be compared.
#[test]
fn formulas_are_compared_by_their_text() {
    let run = short(Path::new("unused"));
    let square: Formula = "x^2/2".parse().unwrap();
    let wavy: Formula = "x^2/2 + (x-0.3)^2*(x-0.7)^2*(x-1.1)^2".parse().unwrap();
    for x in [0.3, 0.7, 1.1] {
        let slope = |f: &Formula| {
            let mut g = [0.0];
            f.gradient(&[x], &mut g);
            g[0]
        };
        assert_eq!((square.value(&[x]), slope(&square)), (wavy.value(&[x]), slope(&wavy)));
    }
    let difference = difference("formulas", (&run, &square), (&run, &wavy));
    assert!(difference.contains("potential.parameters.text"), "{difference}");
    // Spelling does not matter, the formula does.
    let same: Formula = "x^2 / 2".parse().unwrap();
    assert_eq!(run.spec(&square).unwrap(), run.spec(&same).unwrap());
}

#[test]
fn closures_require_a_name() {
    let path = scratch("closures").join("run.ckpt");
    let run = short(&path);
    let square = || FromFn1::new(|x| 0.5 * x * x, |x| x);
    let error = attempt(&run, &square()).unwrap_err();
    assert!(
        matches!(error, RunError::Unspecified) && error.to_string().contains("FromFn::named"),
        "{error}"
    );
    assert!(!path.exists());
    // Without a checkpoint no name is required.
    run.sample(&square()).unwrap();
    let difference = difference(
        "named",
        (&run, &square().named("square")),
        (&run, &square().named(Specification::new("square").with("stiffness", 1.0))),
    );
    assert_eq!(
        difference,
        "stored potential.parameters: null, requested potential.parameters: {\"stiffness\":1.0}"
    );
}

#[test]
fn custom_schedules_and_kinetic_energies_are_part_of_a_run() {
    let run = short(Path::new("unused"));
    let scheduled = |power: f64| {
        let specification = Specification::new("harmonic decay").with("power", power);
        Run {
            schedule: Schedule::custom(specification, move |k| {
                0.05 * (1.0 + k as f64).powf(-power)
            }),
            ..run.clone()
        }
    };
    let schedule =
        difference("schedule", (&scheduled(0.5), &wells(1)), (&scheduled(0.25), &wells(1)));
    assert_eq!(
        schedule,
        "stored schedule.parameters.power: 0.5, requested schedule.parameters.power: 0.25"
    );
    let steps = difference("steps", (&run, &wells(1)), (&scheduled(0.5), &wells(1)));
    assert!(steps.contains("schedule"), "{steps}");
    let quartic = |strength: f64| {
        let energy = DifferentiableFunction {
            value: move |v: f64| 0.5 * v * v + strength * v.powi(4),
            derivative: move |v: f64| v + 4.0 * strength * v.powi(3),
        };
        let p = underdamped(1.7, 1.0, 1.0);
        let kinetic = CustomKinetic::new(p.alpha, p.beta, energy).unwrap();
        let specification = Specification::new("quartic").with("strength", strength);
        Run { system: System::underdamped(specification, kinetic, p.gamma).unwrap(), ..run.clone() }
    };
    let energy = difference("energy", (&quartic(0.1), &wells(1)), (&quartic(0.2), &wells(1)));
    assert!(
        energy.contains("strength: 0.1, requested") && energy.contains("strength: 0.2"),
        "{energy}"
    );
}

/// The specification is stored as text that reads back to itself, in checkpoints and in stores.
#[test]
fn files_hold_the_specification() {
    let directory = scratch("specification");
    let checkpoint = directory.join("run.ckpt");
    let run = Run { checkpoint: Some(checkpoint.clone()), ..run(Integrator::Baoab) };
    let store = directory.join("draws.zarr");
    run.stream(&wells(2), &mut ZarrSink::new(&store), &mut |_| Control::Continue).unwrap();
    let spec = run.spec(&wells(2)).unwrap();
    assert_eq!(spec.dynamics_version, DYNAMICS_VERSION);
    assert_eq!(serde_json::from_str::<RunSpec>(&spec.to_json()).unwrap(), spec);
    assert_eq!(ZarrDraws::open(&store).unwrap().spec(), &spec);
    let bytes = std::fs::read(&checkpoint).unwrap();
    let text = spec.to_json();
    assert!(bytes.windows(text.len()).any(|window| window == text.as_bytes()));
    assert_eq!(spec.hash().to_string().len(), 64);
    let other = RunSpec { seed: spec.seed + 1, ..spec.clone() };
    assert!(other.hash() != spec.hash());

    // Another format or another shape is refused.
    let attributes = store.join(".zattrs");
    let whole = std::fs::read_to_string(&attributes).unwrap();
    for (from, to, says) in [
        ("version\":1", "version\":7", "format version 7, expected 1"),
        (
            "\\\"chains\\\":37",
            "\\\"chains\\\":36",
            ".zmetadata is damaged: posterior/chain/.zarray: chunks is [37], expected [36]",
        ),
        ("fuld_run", "other", "no fuld_format_version"),
    ] {
        assert!(whole.contains(from), "{whole}");
        std::fs::write(&attributes, whole.replace(from, to)).unwrap();
        let error = ZarrDraws::open(&store).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// Draws of an earlier version of the dynamics are not continued.
#[test]
fn another_version_of_the_dynamics_is_refused() {
    let spec = short(Path::new("unused")).spec(&wells(1)).unwrap();
    let directory = scratch("version");
    let store = directory.join("draws.zarr");
    let run = Run { checkpoint: None, ..short(Path::new("unused")) };
    run.stream(&wells(1), &mut ZarrSink::new(&store), &mut |_| Control::Continue).unwrap();
    let attributes = store.join(".zattrs");
    let whole = std::fs::read_to_string(&attributes).unwrap();
    let version = |n: u32| format!("dynamics_version\\\":{n}");
    let old = whole.replace(&version(spec.dynamics_version), &version(spec.dynamics_version - 1));
    assert!(old != whole);
    std::fs::write(&attributes, old).unwrap();
    let mut sink = ZarrSink::new(&store);
    let layout = run.layout(&wells(1)).unwrap();
    let error = fuld::chains::Sink::begin(&mut sink, &layout, 0).unwrap_err().to_string();
    let (old, new) = (DYNAMICS_VERSION - 1, DYNAMICS_VERSION);
    let says = format!("stored dynamics_version: {old}, requested dynamics_version: {new}");
    assert!(error.contains(&says), "{error}");
}

#[test]
fn a_layout_requires_chains() {
    let run = Run { chains: 0, ..short(Path::new("unused")) };
    let error = run.layout(&wells(1)).unwrap_err().to_string();
    assert_eq!(error, "the number of chains must be at least 1");
    assert!(Run { draws: 0, ..short(Path::new("unused")) }.layout(&wells(1)).is_err());
}
