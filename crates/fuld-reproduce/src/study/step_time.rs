//! Expected times of runs, from a few timed steps of each kind of network.

use fuld::Control;
use fuld_train::data::DataSet;
use fuld_train::run_all::STACK;
use fuld_train::spec::TrainSpec;
use fuld_train::train::{NetworkRun, Trainer};
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

/// Seconds per step of each kind of run, on one core or as its part of a stack on a GPU, and the number of steps that take as long as
/// its measurements.
pub(super) struct StepTimes(HashMap<Kind, (f64, f64)>);

impl StepTimes {
    /// Times a few steps of every kind. Returns `None` if `watch` says stop.
    pub(super) fn measure(
        specs: &[TrainSpec],
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
            // On a GPU runs are trained together.
            let fits = |other: &&TrainSpec| NetworkRun::share_a_stack(spec, other);
            let others = specs.iter().filter(|&other| other != spec).filter(fits);
            let stack: Vec<TrainSpec> =
                std::iter::once(spec).chain(others).take(STACK).cloned().collect();
            let mut trainer = Trainer::new(data, &stack)?;
            let mut step = || -> anyhow::Result<_> {
                trainer.step()?;
                Ok(trainer.losses()?)
            };
            // The first steps allocate memory.
            step()?;
            step()?;
            // The fastest step: others may have waited for a core that another program had.
            let (start, mut taken, mut fastest) = (Instant::now(), 0, Duration::MAX);
            while taken < FEWEST_STEPS || start.elapsed() < TIMING {
                let began = Instant::now();
                step()?;
                fastest = fastest.min(began.elapsed());
                taken += 1;
            }
            let images = (data.train.len() + data.test.len()) as f64 / spec.batch as f64;
            let seconds = fastest.as_secs_f64() / stack.len() as f64;
            times.insert(kind(spec), (seconds, MEASUREMENTS * FORWARD * images));
        }
        Ok(Some(Self(times)))
    }

    /// Returns the expected seconds of a run.
    pub(super) fn seconds(&self, spec: &TrainSpec) -> f64 {
        let (step, measurements) = self.0.get(&kind(spec)).copied().unwrap_or_default();
        step * (spec.iterations as f64 + measurements)
    }
}
