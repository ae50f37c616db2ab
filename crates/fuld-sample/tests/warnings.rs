//! Which warnings the draws of a run have.

use fuld::potential::{GaussianMixture, Harmonic};
use fuld_sample::{Adapted, Exact, Remark, SampleRequest, Section, Summary, Target};

/// Samples, and returns the summary with its remarks.
fn summarise(request: &SampleRequest, target: &Target) -> (Summary, Vec<Remark>) {
    let spec = SampleRequest { seed: Some(1), ..request.clone() }.complete_on(target).unwrap();
    let samples = spec.run(target).unwrap().sample(target.potential()).unwrap();
    let (lost, adapted) = (samples.outcome.divergences.len(), Adapted::new(&samples.outcome));
    let exact = Exact::new(&spec, target);
    let summary =
        Summary::new(&samples.draws, lost, adapted, &spec, target.names(), &exact, &|_| false)
            .unwrap();
    let remarks = summary.remarks(&spec);
    (summary, remarks)
}

/// Returns the sections of the warnings.
fn warnings(request: &SampleRequest, target: &Target) -> Vec<Section> {
    let (_, remarks) = summarise(request, target);
    remarks.iter().filter(|remark| remark.is_warning).map(|remark| remark.section).collect()
}

/// Returns equal modes in `dim` dimensions, whose first coordinates are these.
fn modes(dim: usize, at: &[&[f64]]) -> Target {
    let mean = |first: &&[f64]| first.iter().copied().chain(vec![0.0; dim - first.len()]).collect();
    let means: Vec<Vec<f64>> = at.iter().map(mean).collect();
    let ones = vec![1.0; at.len()];
    Target::from_potential(Box::new(GaussianMixture::new(&ones, &means, &ones).unwrap()))
}

/// Tempering finds 25 modes at the default settings with thousands of round trips. With 4 chains
/// there are too few of them. In 20 dimensions three temperatures do not cross between modes that
/// are 20 standard deviations apart, which R-hat finds: positions travel nevertheless.
#[test]
fn few_round_trips_are_warned_of() {
    let grid: Vec<[f64; 2]> =
        (0..25).map(|i| [8.0 * f64::from(i / 5 - 2), 8.0 * f64::from(i % 5 - 2)]).collect();
    let grid = modes(2, &grid.iter().map(|at| &at[..]).collect::<Vec<_>>());
    let request = SampleRequest { temper: Some(8), ..SampleRequest::default() };
    let (summary, remarks) = summarise(&request, &grid);
    println!("{}", summary.text());
    assert!(remarks.is_empty(), "{remarks:?}");
    let few = SampleRequest { chains: Some(4), draws: Some(500), ..request.clone() };
    assert!(warnings(&few, &grid).contains(&Section::RoundTrips));
    let request = SampleRequest { temper: Some(3), ..request };
    let apart = modes(20, &[&[-10.0], &[10.0]]);
    let (summary, remarks) = summarise(&request, &apart);
    println!("{}\n{remarks:?}", summary.text());
    let r_hat = remarks.iter().find(|remark| remark.section == Section::RHat);
    // Chains that are far apart may also follow a log density of the wrong sign.
    assert!(
        r_hat.is_some_and(|remark| remark.text.contains("minus the log density")),
        "{remarks:?}"
    );
    // Draws of two distant places are no heavy tails.
    assert!(remarks.iter().all(|remark| remark.section != Section::HeavyTails), "{remarks:?}");
}

/// Thousands of short chains of a Gaussian have R-hat above 1.01, because each has few effective
/// draws, but agree. If 2 % of them stay in another mode, they do not.
#[test]
fn short_chains_agree_unless_some_stay_elsewhere() {
    let request = SampleRequest { chains: Some(4096), draws: Some(50), ..SampleRequest::default() };
    let friction = SampleRequest { gamma: Some(0.2), ..request.clone() };
    let (summary, remarks) = summarise(
        &friction,
        &Target::from_potential(Box::new(Harmonic::isotropic(1, 1.0).unwrap())),
    );
    println!("{}", summary.text());
    assert!(summary.coordinates[0].r_hat > 1.01, "{summary:?}");
    assert!(remarks.iter().all(|remark| !remark.is_warning), "{remarks:?}");
    let starts = (0..4096).map(|chain| vec![if chain % 50 == 0 { 12.0 } else { 0.0 }]).collect();
    let start = Some(fuld_sample::StartingPoint(fuld::Start::Points(starts)));
    let apart = SampleRequest { start, ..request };
    assert!(warnings(&apart, &modes(1, &[&[0.0], &[12.0]])).contains(&Section::RHat));
}

/// A friction keeps a part of the energy by design.
#[test]
fn slow_energies_are_no_warning_with_a_friction() {
    let target = Target::from_potential(Box::new(Harmonic::isotropic(50, 1.0).unwrap()));
    let request =
        SampleRequest { gamma: Some(0.05), draws: Some(4000), ..SampleRequest::default() };
    let (summary, remarks) = summarise(&request, &target);
    println!("{}\n{remarks:?}", summary.text());
    assert!(remarks.iter().all(|remark| remark.section != Section::Energy), "{remarks:?}");
}

/// A variable that does not occur in a formula is named.
#[test]
fn flat_coordinates_are_named() {
    let target = Target::new("x1^2 + x2^2", Some(3), &[]).unwrap();
    let request = SampleRequest {
        chains: Some(4),
        warmup: Some(20),
        draws: Some(20),
        ..SampleRequest::default()
    };
    let (_, remarks) = summarise(&request, &target);
    assert_eq!(remarks[0].section, Section::NotNormalised);
    assert!(remarks[0].text.contains("f does not depend on x3"), "{}", remarks[0]);
}
