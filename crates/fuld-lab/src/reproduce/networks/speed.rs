//! How long runs will take: a few steps of each shape, timed.

use super::arm::Arm;
use super::plan::Plan;
use crate::data::DataSet;
use crate::settings::Subject;
use crate::train::Trainer;
use burn::backend::Flex;
use fuld::Control;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Time spent on a shape, or more where a few steps take longer.
const GLANCE: Duration = Duration::from_millis(25);
const FEWEST_STEPS: u32 = 3;
/// Every run is measured at its start and twice at its end.
const MEASUREMENTS: f64 = 3.0;
/// Going forward only, as a measurement does, takes about this part of a step.
const FORWARD: f64 = 1.0 / 3.0;

/// Seconds that a run of each shape takes on one core, roughly.
#[derive(Clone, Debug, Default)]
pub(super) struct Speed {
    seconds: HashMap<(usize, usize), f64>,
}

impl Speed {
    /// Times every shape of a plan. None if `watch` says stop.
    pub(super) fn measured(
        plan: &Plan,
        data: &DataSet,
        subject: &Subject,
        watch: &dyn Fn() -> Control,
    ) -> anyhow::Result<Option<Self>> {
        let mut seconds = HashMap::new();
        for cell in plan.cells() {
            if watch() == Control::Stop {
                return Ok(None);
            }
            let settings = Arm::Paper.settings(&plan.request(cell, plan.seed), subject)?;
            let images = (data.train.len() + data.test.len()) as f64 / settings.batch as f64;
            let steps = settings.iterations as f64 + MEASUREMENTS * FORWARD * images;
            let mut trainer = Trainer::<Flex>::new(data, &[settings], &Default::default())?;
            // The first steps find memory and make tables.
            trainer.step();
            trainer.step();
            let (start, mut taken) = (Instant::now(), 0);
            while taken < FEWEST_STEPS || start.elapsed() < GLANCE {
                trainer.step();
                taken += 1;
            }
            seconds.insert(cell, steps * start.elapsed().as_secs_f64() / f64::from(taken));
        }
        Ok(Some(Self { seconds }))
    }

    /// Of a run of this width and depth.
    pub(super) fn seconds(&self, shape: (usize, usize)) -> f64 {
        self.seconds.get(&shape).copied().unwrap_or(0.0)
    }
}
