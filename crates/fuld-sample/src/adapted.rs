//! The numbers that exact sampling adapted, by the names that they have in the file beside the
//! draws, in Python and in the summary.

use fuld::chains::Outcome;
use serde::{Deserialize, Serialize};

/// The numbers that exact sampling adapted, and what followed from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Adapted {
    /// Step size, in scaled coordinates.
    pub step: f64,
    /// Mean time of an iteration.
    pub path: f64,
    /// Mean number of gradients per iteration, at all temperatures together.
    pub gradients_per_iteration: f64,
    /// Longest times of an iteration.
    pub paths: Vec<f64>,
    /// Scale of each coordinate.
    pub scales: Vec<f64>,
    /// Inverse temperatures of parallel tempering as fractions of β; None without tempering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inverse_temperatures: Option<Vec<f64>>,
    /// Mean acceptance of exchanges between neighbouring temperatures; None without tempering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange_rates: Option<Vec<f64>>,
    /// Number of positions, of all chains after the warm-up, that went from the hottest temperature
    /// to the first and back; None without tempering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trips: Option<u64>,
}

impl Adapted {
    /// Returns the numbers of a run; None if it adapted none.
    pub fn new(outcome: &Outcome) -> Option<Self> {
        let tuning = outcome.tuning.as_ref()?;
        let tempering = outcome.tempering.as_ref();
        Some(Self {
            step: tuning.step,
            path: tuning.path(),
            gradients_per_iteration: outcome.gradients_per_iteration()?,
            paths: tuning.paths.to_vec(),
            scales: tuning.scales.clone(),
            inverse_temperatures: tempering.map(|tempering| tempering.factors.clone()),
            exchange_rates: tempering.map(|tempering| tempering.acceptance.clone()),
            round_trips: tempering.map(|tempering| tempering.round_trips),
        })
    }

    /// Returns the numbers by name.
    pub fn to_table(&self) -> Result<toml::Table, toml::ser::Error> {
        toml::Table::try_from(self)
    }

    /// Reads the numbers from a table that may also hold other settings; None unless all of them
    /// are there.
    pub fn from_table(table: toml::Table) -> Option<Self> {
        table.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SampleRequest;

    #[test]
    fn everything_adapted_is_in_the_table() {
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
        let adapted = Adapted::new(&outcome).unwrap();
        let mut table = adapted.to_table().unwrap();
        let length = |key: &str| table[key].as_array().unwrap().len();
        assert_eq!([length("scales"), length("paths")], [2, 32]);
        assert_eq!([length("inverse_temperatures"), length("exchange_rates")], [3, 2]);
        assert_eq!(table["step"].as_float(), Some(outcome.tuning.unwrap().step));
        assert!(table["round_trips"].as_integer().is_some());
        // The settings of a run are in the same table.
        table.insert("seed".into(), 7.into());
        assert_eq!(Adapted::from_table(table.clone()), Some(adapted));
        table.remove("scales");
        assert_eq!(Adapted::from_table(table), None);
        assert!(Adapted::new(&Outcome::default()).is_none());
    }
}
