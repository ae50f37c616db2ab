//! The numbers that exact sampling adapted, as a file beside the draws.

use fuld::chains::Outcome;
use serde::Serialize;

/// The contents of the file.
#[derive(Serialize)]
struct Adapted<'a> {
    step: f64,
    path: f64,
    gradients_per_iteration: Option<f64>,
    paths: &'a [f64],
    scales: &'a [f64],
    temperatures: Option<&'a [f64]>,
    exchange_rates: Option<&'a [f64]>,
}

/// Returns the numbers that exact sampling adapted as TOML, by their names in Python; None if there are none.
pub fn adapted_text(outcome: &Outcome) -> Option<String> {
    let tuning = outcome.tuning.as_ref()?;
    let tempering = outcome.tempering.as_ref();
    let adapted = Adapted {
        step: tuning.step,
        path: tuning.path(),
        gradients_per_iteration: outcome.gradients_per_iteration(),
        paths: &tuning.paths,
        scales: &tuning.scales,
        temperatures: tempering.map(|tempering| &tempering.factors[..]),
        exchange_rates: tempering.map(|tempering| &tempering.acceptance[..]),
    };
    toml::to_string(&adapted).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SampleRequest;

    #[test]
    fn everything_adapted_is_in_the_file() {
        let request = SampleRequest {
            potential: Some("x^2 + y^2".into()),
            temper: Some(3),
            chains: Some(4),
            warmup: Some(40),
            draws: Some(10),
            ..SampleRequest::default()
        };
        let (spec, target) = request.complete().unwrap();
        let outcome = spec.run(&target).unwrap().sample(target.potential()).unwrap().outcome;
        let file: toml::Table = adapted_text(&outcome).unwrap().parse().unwrap();
        let length = |key: &str| file[key].as_array().unwrap().len();
        assert_eq!([length("scales"), length("paths")], [2, 32]);
        assert_eq!([length("temperatures"), length("exchange_rates")], [3, 2]);
        assert_eq!(file["step"].as_float(), Some(outcome.tuning.unwrap().step));
        assert!(adapted_text(&Outcome::default()).is_none());
    }
}
