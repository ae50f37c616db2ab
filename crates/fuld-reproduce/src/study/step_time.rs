//! Expected times of runs, from a few timed steps of each kind of network.

use fuld::Control;
use fuld_train::data::DataSet;
use fuld_train::spec::TrainSpec;
use fuld_train::train::Trainer;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Time spent on each kind, or more where the fewest steps take longer.
const TIMING: Duration = Duration::from_millis(25);
const FEWEST_STEPS: u32 = 3;
/// Measurements of a run: one at its start and two at its end.
const MEASUREMENTS: f64 = 3.0;
/// Share of a step that its forward pass takes.
const FORWARD: f64 = 1.0 / 3.0;

/// What the time of a step depends on: width, depth, minibatch, and whether there is noise to draw.
type Kind = (usize, usize, usize, bool);

fn kind(spec: &TrainSpec) -> Kind {
    (spec.width, spec.depth, spec.batch, spec.inject_noise.is_some())
}

/// Seconds per step of each kind of run on one core, and the number of steps that take as long as
/// its measurements.
pub(super) struct StepTimes(HashMap<Kind, (f64, f64)>);

impl StepTimes {
    /// Times a few steps of every kind. Returns `None` if `watch` says stop.
    pub(super) fn measure<'a>(
        specs: impl IntoIterator<Item = &'a TrainSpec>,
        data: &DataSet,
        watch: &dyn Fn() -> Control,
    ) -> anyhow::Result<Option<Self>> {
        let mut times = HashMap::new();
        for spec in specs {
            if times.contains_key(&kind(spec)) {
                continue;
            }
            if watch() == Control::Stop {
                return Ok(None);
            }
            let mut trainer = Trainer::new(data, std::slice::from_ref(spec))?;
            // The first steps allocate memory.
            trainer.step()?;
            trainer.step()?;
            // The fastest step: others may have waited for a core that another program had.
            let (start, mut taken, mut fastest) = (Instant::now(), 0, Duration::MAX);
            while taken < FEWEST_STEPS || start.elapsed() < TIMING {
                let began = Instant::now();
                trainer.step()?;
                fastest = fastest.min(began.elapsed());
                taken += 1;
            }
            let images = (data.train.len() + data.test.len()) as f64 / spec.batch as f64;
            times.insert(kind(spec), (fastest.as_secs_f64(), MEASUREMENTS * FORWARD * images));
        }
        Ok(Some(Self(times)))
    }

    /// Returns the expected seconds of a run.
    pub(super) fn seconds(&self, spec: &TrainSpec) -> f64 {
        let (step, measurements) = self.0.get(&kind(spec)).copied().unwrap_or_default();
        step * (spec.iterations as f64 + measurements)
    }
}
