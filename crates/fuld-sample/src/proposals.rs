//! Statistics of the proposals of exact sampling, with the warnings that they give rise to.

use crate::adapted::Adapted;
use crate::draw_source::DrawSource;
use crate::remark::{ESS, Remark, Section};
use crate::spec::SampleSpec;
use serde::Serialize;
use std::io;

/// Smallest fraction of the energy's variance that one iteration may change (Betancourt 2016).
const LEAST_BFMI: f64 = 0.3;
/// Smallest acceptance of exchanges at which temperatures still help each other.
const LEAST_EXCHANGES: f64 = 0.1;
/// Smallest number of round trips at which the weights of modes are reliable: each brings at most
/// one independent choice of a mode to the draws, and a coordinate requires as many effective
/// draws.
const LEAST_TRIPS: u64 = ESS as u64;
/// Acceptance probabilities between these are close enough to the target of the adaptation.
const ACCEPTANCE: std::ops::RangeInclusive<f64> = 0.7..=0.98;

/// Acceptance and energies of exact sampling, and what it adapted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proposals {
    /// What was adapted; None if step and path were given.
    pub adapted: Option<Adapted>,
    /// Mean acceptance probability.
    pub acceptance_rate: f64,
    /// Number of proposals whose energy grew without bound.
    pub divergent: usize,
    /// Number of proposals at which f was not finite.
    pub outside: usize,
    /// Smallest E(ΔE²)/Var(E) of a chain, where E is the energy and ΔE its change from draw to
    /// draw; None if a friction was given, which keeps a part of the velocity and so of the energy.
    pub bfmi: Option<f64>,
}

impl Proposals {
    /// Computes the statistics; None if the run was not exact.
    pub fn new(
        draws: &dyn DrawSource,
        adapted: Option<Adapted>,
        spec: &SampleSpec,
    ) -> io::Result<Option<Self>> {
        let statistic = |number| draws.statistic(number);
        let (Some(acceptance), Some(energy), Some(diverging)) =
            (statistic(1)?, statistic(2)?, statistic(3)?)
        else {
            return Ok(None);
        };
        let chains = energy.chunks_exact(draws.draws().max(1));
        let bfmi = spec.gamma.is_none().then(|| chains.map(bfmi).fold(f64::INFINITY, f64::min));
        Ok(Some(Self {
            adapted,
            acceptance_rate: acceptance.iter().sum::<f64>() / acceptance.len() as f64,
            divergent: diverging.iter().filter(|&&diverging| diverging == 1.0).count(),
            outside: acceptance.iter().zip(&diverging).filter(|&pair| pair == (&0.0, &0.0)).count(),
            bfmi,
        }))
    }

    /// Returns step, path and acceptance in one line.
    pub fn line(&self) -> String {
        let accepted = format!("accepted {:.0} %", 100.0 * self.acceptance_rate);
        let Some(adapted) = &self.adapted else { return accepted };
        let Adapted { step, path, gradients_per_iteration, .. } = adapted;
        format!(
            "adapted: step {step:.3}, path {path:.3} ({gradients_per_iteration:.1} gradients per iteration); {accepted}{}",
            exchange_text(adapted)
        )
    }

    /// Returns warnings.
    pub fn warnings(&self) -> Vec<Remark> {
        let mut warnings = Vec::new();
        if self.divergent > 0 {
            let text = format!(
                "{} proposals diverged: near them f is too steep for the step, so its neighbourhood is missing from the draws; \
                 scale or transform the variables, or lower the step",
                self.divergent
            );
            warnings.push(Remark::warning(Section::Divergences, text));
        }
        if self.outside > 0 {
            let text = format!(
                "f was not finite at {} proposals, which were rejected: right if its domain ends there, and faster if the \
                 variables are transformed to the whole line; otherwise correct f",
                self.outside
            );
            warnings.push(Remark::warning(Section::OutsideTheDomain, text));
        }
        if !ACCEPTANCE.contains(&self.acceptance_rate) {
            let change =
                if self.acceptance_rate < *ACCEPTANCE.start() { "shorter" } else { "longer" };
            let text = format!(
                "{:.0} % of the proposals were accepted, 90 % is best: use a {change} step, or a longer warmup",
                100.0 * self.acceptance_rate
            );
            warnings.push(Remark::warning(Section::Acceptance, text));
        }
        if let Some(rates) =
            self.adapted.as_ref().and_then(|adapted| adapted.exchange_rates.as_ref())
            && let Some((level, rate)) = (1..).zip(rates).find(|(_, rate)| **rate < LEAST_EXCHANGES)
        {
            let text = format!(
                "{:.0} % of the exchanges between temperatures {level} and {} were accepted, 50 % is best: use a longer warmup",
                100.0 * rate,
                level + 1
            );
            warnings.push(Remark::warning(Section::Exchanges, text));
        }
        if let Some(trips) = self.adapted.as_ref().and_then(|adapted| adapted.round_trips)
            && trips < LEAST_TRIPS
        {
            let text = format!(
                "only {trips} round trips from the hottest temperature to the first and back, and {LEAST_TRIPS} are needed to trust the \
                 weights of modes: take more draws or chains"
            );
            warnings.push(Remark::warning(Section::RoundTrips, text));
        }
        if let Some(bfmi) = self.bfmi.filter(|bfmi| *bfmi < LEAST_BFMI) {
            let text = format!(
                "the energy changes too little per iteration (E-BFMI {bfmi:.2}, at least {LEAST_BFMI} is good): the tails may be \
                 missing from the draws; scale or transform the variables"
            );
            warnings.push(Remark::warning(Section::Energy, text));
        }
        warnings
    }
}

/// Returns the hottest temperature, the rarest exchange and the round trips; nothing without
/// tempering.
fn exchange_text(adapted: &Adapted) -> String {
    let Adapted {
        inverse_temperatures: Some(factors),
        exchange_rates: Some(rates),
        round_trips: Some(trips),
        ..
    } = adapted
    else {
        return String::new();
    };
    let hottest = factors.last().map_or(1.0, |factor| 1.0 / factor);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    format!(
        "; {} temperatures up to {hottest:.0} times the first, exchanges accepted at least {:.0} %, {trips} round trips",
        factors.len(),
        100.0 * least
    )
}

fn bfmi(energy: &[f64]) -> f64 {
    let mean = energy.iter().sum::<f64>() / energy.len() as f64;
    let variance: f64 = energy.iter().map(|e| (e - mean).powi(2)).sum();
    let change: f64 = energy.array_windows().map(|[a, b]| (b - a).powi(2)).sum();
    change / variance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_name_the_value() {
        let adapted = Adapted {
            step: 0.5,
            path: 1.0,
            gradients_per_iteration: 2.5,
            paths: vec![2.0; 32],
            scales: vec![1.0],
            inverse_temperatures: None,
            exchange_rates: None,
            round_trips: None,
        };
        let good = Proposals {
            adapted: Some(adapted.clone()),
            acceptance_rate: 0.9,
            divergent: 0,
            outside: 0,
            bfmi: Some(0.9),
        };
        assert!(good.warnings().is_empty());
        assert_eq!(
            good.line(),
            "adapted: step 0.500, path 1.000 (2.5 gradients per iteration); accepted 90 %"
        );
        let tempered = Adapted {
            inverse_temperatures: Some(vec![1.0, 0.5, 0.1]),
            exchange_rates: Some(vec![0.5, 0.04]),
            round_trips: Some(399),
            ..adapted
        };
        let tempered = Proposals { adapted: Some(tempered), ..good.clone() };
        assert!(tempered.line().ends_with(
            "3 temperatures up to 10 times the first, exchanges accepted at least 4 %, 399 round trips"
        ));
        assert!(
            tempered.warnings()[0]
                .text
                .contains("4 % of the exchanges between temperatures 2 and 3")
        );
        assert!(tempered.warnings()[1].text.contains("only 399 round trips from the hottest"));
        let bad =
            Proposals { acceptance_rate: 0.2, divergent: 7, outside: 5, bfmi: Some(0.1), ..good };
        let text = bad.warnings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        for says in [
            "7 proposals diverged",
            "not finite at 5 proposals",
            "20 % of the proposals",
            "E-BFMI 0.10",
        ] {
            assert!(text.contains(says), "{text}");
        }
    }

    /// Independent energies change by twice their variance; a random walk of n steps by 6/n of it
    /// or so.
    #[test]
    fn bfmi_is_small_for_slow_energies() {
        let alternating: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert!((bfmi(&alternating) - 3.96).abs() < 0.01);
        let slow: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(bfmi(&slow) < 0.01);
    }
}
