//! How far momenta get on the way to where the field bends.

use super::arm::{ALPHA, Arm};
use super::plan::Plan;
use crate::training::Speed;
use burn::backend::Flex;
use fuld::Control;
use fuld_train::data::DataSet;
use fuld_train::spec::DataDescription;
use fuld_train::train::Trainer;
use levy_stable::SymmetricStable;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Steps that are looked at: more than enough to leave the plateau that deep networks start on.
const STEPS: u64 = 2_000;

/// The field that is off its straight line by less than this part of itself is that of SGD.
pub(super) const STRAIGHT: f64 = 0.01;

/// The largest |v| that any weight of a network had, at any step, and what the field makes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reach {
    /// Networks that were looked at.
    pub(super) networks: usize,
    /// Those of them in which the field was straight all the way.
    pub(super) straight: usize,
    /// Steps that were looked at.
    pub(super) steps: u64,
    /// Steps of a whole run.
    pub(super) iterations: u64,
    /// |v|, the median over networks.
    pub(super) typical: f64,
    /// |v| of the network that went furthest.
    pub(super) largest: f64,
    /// By what part of itself the field is off a straight line there.
    pub(super) bent: f64,
}

impl Reach {
    /// From the largest |v| of each network of a plan, for the paper's formula.
    pub(super) fn of(plan: &Plan, mut networks: Vec<f64>) -> anyhow::Result<Self> {
        networks.sort_by(f64::total_cmp);
        let law = SymmetricStable::kinetic(ALPHA)?;
        // 1 − ∇G_α(v)/(∇G_α′(0) v), which grows with |v|.
        let bent = |v: f64| match v {
            0.0 => 0.0,
            v if v.is_finite() => 1.0 - law.score(v) / (law.score_derivative(0.0) * v),
            _ => 1.0,
        };
        let largest = networks.last().copied().unwrap_or(0.0);
        Ok(Self {
            networks: networks.len(),
            straight: networks.iter().filter(|&&v| bent(v) < STRAIGHT).count(),
            steps: Self::steps(plan),
            iterations: plan.iterations,
            typical: networks.get(networks.len() / 2).copied().unwrap_or(0.0),
            largest,
            bent: bent(largest),
        })
    }

    /// Those that are looked at, with every seed: the shallowest and the deepest of each width.
    pub(super) fn shapes(plan: &Plan) -> impl Iterator<Item = (usize, usize)> {
        let (first, last) = (plan.depths.first(), plan.depths.last());
        // One depth is both, and looked at once.
        let ends = [first, last.filter(|_| last != first)];
        plan.widths
            .iter()
            .flat_map(move |&width| ends.into_iter().flatten().map(move |&depth| (width, depth)))
    }

    fn steps(plan: &Plan) -> u64 {
        plan.iterations.min(STEPS)
    }

    /// Seconds that looking takes on one core, roughly.
    pub(super) fn seconds(plan: &Plan, subject: &DataDescription, speed: &Speed) -> anyhow::Result<f64> {
        let mut whole = 0.0;
        for shape in Self::shapes(plan) {
            whole += speed.seconds(&Arm::Paper.spec(&plan.request(shape, plan.seed), subject)?);
        }
        Ok(whole * plan.seeds as f64 * Self::steps(plan) as f64 / plan.iterations as f64)
    }

    /// Trains these networks and looks at every step. `watch` hears the share of the steps that is done; none if it says stop.
    pub(super) fn measured(
        plan: &Plan,
        data: &DataSet,
        subject: &DataDescription,
        watch: &(dyn Fn(f64) -> Control + Sync),
    ) -> anyhow::Result<Option<Self>> {
        let seeds = plan.seed..plan.seed + plan.seeds;
        let networks: Vec<_> =
            Self::shapes(plan).flat_map(|shape| seeds.clone().map(move |seed| (shape, seed))).collect();
        let steps = Self::steps(plan);
        let all_steps = (networks.len() as u64 * steps) as f64;
        let done = AtomicU64::new(0);
        let largest = |&(shape, seed): &((usize, usize), u64)| -> anyhow::Result<Option<f64>> {
            let spec = Arm::Paper.spec(&plan.request(shape, seed), subject)?;
            let mut trainer = Trainer::<Flex>::new(data, &[spec], &Default::default())?;
            let mut largest = 0.0f64;
            for _ in 0..steps {
                if watch(done.fetch_add(1, Ordering::Relaxed) as f64 / all_steps) == Control::Stop {
                    return Ok(None);
                }
                trainer.step();
                // What is no number any more has gone as far as one can.
                let reached = trainer.largest_v().into_iter().flatten();
                let reached = reached.map(|v| if v.is_nan() { f64::INFINITY } else { v });
                largest = reached.fold(largest, f64::max);
            }
            Ok(Some(largest))
        };
        let all: Vec<Option<f64>> = networks.par_iter().map(largest).collect::<anyhow::Result<_>>()?;
        match all.into_iter().collect::<Option<Vec<f64>>>() {
            Some(all) => Self::of(plan, all).map(Some),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_straight_at_first_and_bends_near_one() {
        let plan = Plan::of("mnist", true, 0);
        let bent = |v: f64| Reach::of(&plan, vec![v]).unwrap().bent;
        assert!(bent(0.05) < 2e-3 && bent(1.0) > 0.03 && bent(5.0) > 0.7, "{} {}", bent(1.0), bent(5.0));
        assert_eq!((bent(0.0), bent(f64::INFINITY)), (0.0, 1.0));
    }

    #[test]
    fn the_network_that_goes_furthest_counts() {
        let reach = Reach::of(&Plan::of("mnist", true, 0), vec![0.1, 240.0, 0.3]).unwrap();
        assert_eq!((reach.typical, reach.largest), (0.3, 240.0));
        assert_eq!((reach.straight, reach.networks), (2, 3));
        assert!(reach.bent > 0.99);
        assert_eq!((reach.steps, reach.iterations), (STEPS, 10_000));
    }

    #[test]
    fn momenta_are_seen() {
        let data = DataSet::load("digits", "".as_ref()).unwrap();
        let plan = Plan { widths: vec![16], depths: vec![2], seed: 0, seeds: 2, iterations: 50 };
        let reach = |stop| Reach::measured(&plan, &data, &data.description(), &|_| stop).unwrap();
        // η times the sum of some ten gradients, the largest of which are about 0.1.
        let Reach { largest, networks, steps, .. } = reach(Control::Continue).unwrap();
        assert!((0.005..0.5).contains(&largest), "{largest}");
        assert_eq!((networks, steps), (2, 50));
        assert_eq!(reach(Control::Stop), None);
    }
}
