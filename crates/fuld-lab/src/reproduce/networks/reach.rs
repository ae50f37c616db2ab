//! How far momenta get on the way to where the field bends.

use super::arm::{ALPHA, Arm};
use super::plan::Plan;
use crate::data::DataSet;
use crate::settings::Subject;
use crate::train::Trainer;
use burn::backend::Flex;
use fuld::Control;
use levy_stable::SymmetricStable;
use rayon::prelude::*;

/// Steps that are looked at: more than enough to leave the plateau that deep networks start on.
const STEPS: u64 = 2_000;

/// The largest |v| that any weight had, at any step, and what the field makes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reach {
    /// max |v|
    pub(super) largest: f64,
    /// 1 − ∇G_α(v)/(∇G_α′(0) v) there: by what part of itself the field is off the straight line of SGD.
    pub(super) bent: f64,
}

impl Reach {
    /// Of a |v|, for the paper's formula.
    pub(super) fn of(largest: f64) -> anyhow::Result<Self> {
        let law = SymmetricStable::kinetic(ALPHA)?;
        let straight = law.score_derivative(0.0) * largest;
        let bent = if largest > 0.0 { 1.0 - law.score(largest) / straight } else { 0.0 };
        Ok(Self { largest, bent })
    }

    /// Trains the shallowest and the deepest network of each width and looks at every step. None if `watch` says stop.
    pub(super) fn measured(
        plan: &Plan,
        data: &DataSet,
        subject: &Subject,
        watch: &(dyn Fn() -> Control + Sync),
    ) -> anyhow::Result<Option<Self>> {
        let ends = [plan.depths.first(), plan.depths.last()];
        let shapes: Vec<(usize, usize)> = plan
            .widths
            .iter()
            .flat_map(|&width| ends.into_iter().flatten().map(move |&depth| (width, depth)))
            .collect();
        let largest = |&shape: &(usize, usize)| -> anyhow::Result<Option<f64>> {
            let settings = Arm::Paper.settings(&plan.request(shape, plan.seed), subject)?;
            let mut trainer = Trainer::<Flex>::new(data, &[settings], &Default::default())?;
            let mut largest = 0.0f64;
            for _ in 0..plan.iterations.min(STEPS) {
                if watch() == Control::Stop {
                    return Ok(None);
                }
                trainer.step();
                largest = trainer.largest_v().into_iter().flatten().fold(largest, f64::max);
            }
            Ok(Some(largest))
        };
        let all: Vec<Option<f64>> = shapes.par_iter().map(largest).collect::<anyhow::Result<_>>()?;
        match all.into_iter().collect::<Option<Vec<f64>>>() {
            Some(all) => Self::of(all.into_iter().fold(0.0, f64::max)).map(Some),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_straight_at_first_and_bends_near_one() {
        assert!(Reach::of(0.05).unwrap().bent < 2e-3);
        assert!(Reach::of(1.0).unwrap().bent > 0.03);
        assert!(Reach::of(5.0).unwrap().bent > 0.7);
        assert_eq!(Reach::of(0.0).unwrap().bent, 0.0);
    }

    #[test]
    fn momenta_are_seen() {
        let data = DataSet::load("digits", "".as_ref()).unwrap();
        let plan = Plan { widths: vec![16], depths: vec![2], seed: 0, seeds: 1, iterations: 50 };
        let reach = |stop| Reach::measured(&plan, &data, &data.subject(), &|| stop).unwrap();
        // η times the sum of some ten gradients, the largest of which are about 0.1.
        let largest = reach(Control::Continue).unwrap().largest;
        assert!((0.005..0.5).contains(&largest), "{largest}");
        assert_eq!(reach(Control::Stop), None);
    }
}
