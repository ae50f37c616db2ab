//! How long runs will take: a few steps of each kind, timed.

use burn::backend::Flex;
use fuld::Control;
use fuld_train::data::DataSet;
use fuld_train::spec::TrainSpec;
use fuld_train::train::Trainer;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Time spent on a kind of run, or more where a few steps take longer.
const GLANCE: Duration = Duration::from_millis(25);
const FEWEST_STEPS: u32 = 3;
/// Every run is measured at its start and twice at its end.
const MEASUREMENTS: f64 = 3.0;
/// Going forward only, as a measurement does, takes about this part of a step.
const FORWARD: f64 = 1.0 / 3.0;

/// What the time of a step depends on: data, width, depth, minibatch, and whether there is noise to draw.
type Kind = (String, usize, usize, usize, bool);

fn kind(spec: &TrainSpec) -> Kind {
    let TrainSpec { width, depth, batch, .. } = *spec;
    (spec.data_fingerprint.clone(), width, depth, batch, spec.inject_noise.is_some())
}

/// Seconds that steps take on one core, roughly.
#[derive(Clone, Debug, Default)]
pub(crate) struct Speed {
    /// Of each kind of run: seconds of a step, and to how many steps the measurements of a run come.
    kinds: HashMap<Kind, (f64, f64)>,
}

impl Speed {
    /// Times every kind of run that is among these. None if `watch` says stop.
    pub(crate) fn measured<'a>(
        runs: impl IntoIterator<Item = &'a TrainSpec>,
        data: &HashMap<String, DataSet>,
        watch: &dyn Fn() -> Control,
    ) -> anyhow::Result<Option<Self>> {
        let mut kinds = HashMap::new();
        for spec in runs {
            let Some(data) = data.get(&spec.data_fingerprint) else { continue };
            if kinds.contains_key(&kind(spec)) {
                continue;
            }
            if watch() == Control::Stop {
                return Ok(None);
            }
            let images = (data.train.len() + data.test.len()) as f64 / spec.batch as f64;
            let mut trainer = Trainer::<Flex>::new(data, std::slice::from_ref(spec), &Default::default())?;
            // The first steps find memory and make tables.
            trainer.step();
            trainer.step();
            let (start, mut taken) = (Instant::now(), 0);
            while taken < FEWEST_STEPS || start.elapsed() < GLANCE {
                trainer.step();
                taken += 1;
            }
            let seconds = start.elapsed().as_secs_f64() / f64::from(taken);
            kinds.insert(kind(spec), (seconds, MEASUREMENTS * FORWARD * images));
        }
        Ok(Some(Self { kinds }))
    }

    /// Of a run.
    pub(crate) fn seconds(&self, spec: &TrainSpec) -> f64 {
        let (step, measurements) = self.kinds.get(&kind(spec)).copied().unwrap_or_default();
        step * (spec.iterations as f64 + measurements)
    }
}
