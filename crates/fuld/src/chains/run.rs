//! The run: its settings, and the loop over segments.

use super::checkpoint::Checkpoint;
use super::outcome::{Average, Control, Divergence, Outcome, Progress, RunError};
use super::sink::{Layout, Samples, Sink};
use super::worker::Worker;
use crate::batch::Batch;
use crate::random::{Purpose, Stream};
use crate::{Integrator, ParameterError, Potential, Schedule, System};
use levy_stable::Sampler;
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A function whose average is wanted, with its name.
pub type TestFunction = (String, Arc<dyn Fn(&[f64]) -> f64 + Send + Sync>);

/// Where chains start; velocities start at 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// All at this point.
    Point(Vec<f64>),
    /// Each coordinate of each chain drawn from N(0, sd²).
    Gaussian(f64),
}

/// A run of many chains: everything that defines its result, and how much of it is wanted.
#[derive(Clone)]
pub struct Run {
    /// The dynamics.
    pub system: System,
    /// Its discretisation.
    pub integrator: Integrator,
    /// Its steps.
    pub schedule: Schedule,
    /// Number of chains.
    pub chains: usize,
    /// Steps before the first draw.
    pub warmup: u64,
    /// Draws a chain.
    pub draws: u64,
    /// Steps a draw.
    pub thin: u64,
    /// The seed, on which alone the result depends.
    pub seed: u64,
    /// Where chains start.
    pub start: Start,
    /// Whether to record velocities beside positions.
    pub velocities: bool,
    /// Functions h whose averages π̄_K(h) = Σ ηₖ h(xᵏ)/Σ ηₖ over all steps after the warm-up are computed on the way.
    pub functions: Vec<TestFunction>,
    /// Where to keep the state, so that a killed run can go on.
    pub checkpoint: Option<PathBuf>,
    /// How often to keep it, at most; also at the end, and when stopped.
    pub checkpoint_every: Duration,
    /// Threads; all cores if 0.
    pub threads: usize,
}

/// Coordinates of a batch: what it works on stays in the first cache.
const COORDINATES: usize = 512;
/// Values of a segment: some megabytes, some hundredths of a second.
const SEGMENT: usize = 1 << 20;

impl Run {
    /// Four chains of a thousand draws, one a step, after a thousand steps of warm-up, from N(0, 1), seed 0.
    pub fn new(system: System, integrator: Integrator, schedule: Schedule) -> Self {
        Self {
            system,
            integrator,
            schedule,
            chains: 4,
            warmup: 1000,
            draws: 1000,
            thin: 1,
            seed: 0,
            start: Start::Gaussian(1.0),
            velocities: false,
            functions: Vec::new(),
            checkpoint: None,
            checkpoint_every: Duration::from_secs(1),
            threads: 0,
        }
    }

    /// Adds a test function.
    pub fn averaging(mut self, name: &str, h: impl Fn(&[f64]) -> f64 + Send + Sync + 'static) -> Self {
        self.functions.push((name.into(), Arc::new(h)));
        self
    }

    /// Runs in memory.
    pub fn sample(&self, potential: &dyn Potential) -> Result<Samples, RunError> {
        let mut samples = Samples::default();
        self.stream(potential, &mut samples, &mut |_| Control::Continue)?;
        Ok(samples)
    }

    /// Runs into a sink. If a checkpoint of this run exists, goes on from there.
    pub fn stream(
        &self,
        potential: &dyn Potential,
        sink: &mut dyn Sink,
        progress: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Outcome, RunError> {
        self.check(potential)?;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .map_err(|error| RunError::Threads { threads: self.threads, reason: error.to_string() })?;
        let sampler = Sampler::new(self.system.alpha(), 1.0).map_err(ParameterError::from)?;
        let layout = self.layout(potential.dim());
        let resumed = self.saved(potential.dim())?;
        let mut state = self.begin(potential.dim(), pool.current_num_threads(), resumed.as_ref());
        if resumed.is_none() {
            // From here on the sink is this run's: should it be killed before its first draw, it is still recognised.
            sink.vacant()?;
            self.save(&state, &layout)?;
        }
        sink.begin(&layout, self.draws_at(state.step))?;

        let began = Instant::now();
        let mut saved = began;
        let total = self.warmup + self.draws * self.thin;
        let mut buffer = vec![0.0; layout.chains * layout.segment * layout.width()];
        let mut stopped = false;
        while state.step < total && !stopped {
            let steps = state.step..self.segment_end(state.step, layout.segment);
            let first = self.draws_at(steps.start);
            let draws = (self.draws_at(steps.end) - first) as usize;
            let values = &mut buffer[..layout.chains * draws * layout.width()];
            pool.install(|| {
                self.advance(potential, &sampler, steps.clone(), draws, &mut state.workers, values)
            })?;
            for k in steps.clone().filter(|&k| k >= self.warmup) {
                state.weight += self.schedule.at(k)?;
            }
            state.step = steps.end;
            if draws > 0 {
                sink.segment(first, values)?;
            }
            stopped = progress(&Progress {
                steps: state.step,
                total,
                draws: first + draws as u64,
                diverged: state.workers.iter().map(|w| w.divergences.len()).sum(),
                elapsed: began.elapsed(),
            }) == Control::Stop
                && state.step < total;
            if stopped || state.step == total || saved.elapsed() > self.checkpoint_every {
                sink.flush()?;
                self.save(&state, &layout)?;
                saved = Instant::now();
            }
        }
        Ok(self.outcome(&state, stopped))
    }

    fn check(&self, potential: &dyn Potential) -> Result<(), RunError> {
        self.integrator.check(&self.system)?;
        let counts = [
            (self.chains as u64, "chains"),
            (self.draws, "draws"),
            (self.thin, "steps a draw"),
            (potential.dim() as u64, "coordinates of the potential"),
        ];
        for (count, what) in counts {
            if count == 0 {
                return Err(RunError::Nothing(what));
            }
        }
        match &self.start {
            Start::Point(point) if point.len() != potential.dim() => {
                Err(RunError::StartDimension { start: point.len(), dim: potential.dim() })
            }
            Start::Point(point) => match point.iter().find(|x| !x.is_finite()) {
                Some(&x) => Err(RunError::StartValue(x)),
                None => Ok(()),
            },
            Start::Gaussian(sd) if !sd.is_finite() => Err(RunError::StartValue(*sd)),
            Start::Gaussian(_) => Ok(()),
        }
    }

    fn layout(&self, dim: usize) -> Layout {
        let segment = (SEGMENT / (self.chains * dim)).clamp(16, 1 << 16);
        let segment = segment.min(usize::try_from(self.draws).unwrap_or(usize::MAX));
        Layout { chains: self.chains, draws: self.draws, dim, velocities: self.velocities, segment }
    }

    /// Draws of a chain made in the first `step` steps.
    fn draws_at(&self, step: u64) -> u64 {
        step.saturating_sub(self.warmup) / self.thin
    }

    /// Segments end where their draws fill up, counted from the end of the warm-up, whatever step a run was resumed at.
    fn segment_end(&self, step: u64, segment: usize) -> u64 {
        let length = segment as u64 * self.thin;
        if step < self.warmup {
            (step + length).min(self.warmup)
        } else {
            let segments = (step - self.warmup) / length + 1;
            self.warmup + (segments * length).min(self.draws * self.thin)
        }
    }

    fn advance(
        &self,
        potential: &dyn Potential,
        sampler: &Sampler,
        steps: std::ops::Range<u64>,
        draws: usize,
        workers: &mut [Worker],
        mut values: &mut [f64],
    ) -> Result<(), RunError> {
        let mut parts = Vec::with_capacity(workers.len());
        for worker in &*workers {
            let width = if self.velocities { 2 } else { 1 };
            let (part, rest) = values.split_at_mut(worker.batch.x.len() * draws * width);
            parts.push(part);
            values = rest;
        }
        workers
            .par_iter_mut()
            .zip(parts)
            .try_for_each(|(worker, part)| worker.advance(self, potential, sampler, steps.clone(), part))
            .map_err(RunError::from)
    }

    /// The checkpoint of this run, if there is one.
    fn saved(&self, dim: usize) -> Result<Option<Checkpoint>, RunError> {
        match &self.checkpoint {
            Some(path) if path.exists() => Ok(Some(Checkpoint::read(path)?.of(path, &self.identity(dim))?)),
            _ => Ok(None),
        }
    }

    fn begin(&self, dim: usize, threads: usize, saved: Option<&Checkpoint>) -> State {
        let size = (COORDINATES / dim).clamp(1, self.chains.div_ceil(threads).max(1));
        let mut state = State { step: 0, weight: 0.0, workers: Vec::new() };
        for first in (0..self.chains).step_by(size) {
            let chains = first..(first + size).min(self.chains);
            let coordinates = chains.start * dim..chains.end * dim;
            let (x, v) = match saved {
                Some(saved) => (saved.x[coordinates.clone()].to_vec(), saved.v[coordinates].to_vec()),
                None => (self.start_of(chains.clone(), dim), vec![0.0; coordinates.len()]),
            };
            let mut worker =
                Worker::new(first, Batch::new(dim, first, x, v, self.seed), self.functions.len());
            if let Some(saved) = saved {
                let n = self.functions.len();
                worker.sums.copy_from_slice(&saved.sums[chains.start * n..chains.end * n]);
                let mine = saved.divergences.iter().filter(|d| chains.contains(&d.chain));
                worker.divergences.extend(mine);
            }
            state.workers.push(worker);
        }
        if let Some(saved) = saved {
            (state.step, state.weight) = (saved.step, saved.weight);
        }
        state
    }

    fn start_of(&self, chains: std::ops::Range<usize>, dim: usize) -> Vec<f64> {
        match &self.start {
            Start::Point(point) => point.repeat(chains.len()),
            Start::Gaussian(sd) => chains
                .flat_map(|chain| {
                    let stream = Stream::new(self.seed, chain as u64, Purpose::Start);
                    (0..dim as u64).map(move |i| sd * gaussian(stream.word(2 * i), stream.word(2 * i + 1)))
                })
                .collect(),
        }
    }

    /// Everything that the draws depend on, as text: two runs with the same identity have the same draws.
    fn identity(&self, dim: usize) -> String {
        let names: Vec<&str> = self.functions.iter().map(|(name, _)| name.as_str()).collect();
        format!(
            "system: {:?}\nintegrator: {}\nsteps: {:?}\nchains: {}\ndimension: {dim}\nwarmup: {}\ndraws: {}\nthin: {}\nseed: {}\nstart: {:?}\nvelocities: {}\naverages: {}",
            self.system,
            self.integrator,
            self.schedule,
            self.chains,
            self.warmup,
            self.draws,
            self.thin,
            self.seed,
            self.start,
            self.velocities,
            names.join(", "),
        )
    }

    fn save(&self, state: &State, layout: &Layout) -> Result<(), RunError> {
        let Some(path) = &self.checkpoint else { return Ok(()) };
        let gather = |of: fn(&Worker) -> &[f64]| state.workers.iter().flat_map(of).copied().collect();
        let checkpoint = Checkpoint {
            identity: self.identity(layout.dim),
            step: state.step,
            weight: state.weight,
            x: gather(|w| &w.batch.x),
            v: gather(|w| &w.batch.v),
            sums: gather(|w| &w.sums),
            divergences: state.divergences(),
        };
        Ok(checkpoint.write(path)?)
    }

    fn outcome(&self, state: &State, stopped: bool) -> Outcome {
        let divergences = state.divergences();
        let average = |(i, (name, _)): (usize, &TestFunction)| {
            let sums = state.workers.iter().flat_map(|w| &w.sums).skip(i).step_by(self.functions.len());
            let mut chains: Vec<f64> = sums.map(|sum| sum / state.weight).collect();
            for divergence in &divergences {
                chains[divergence.chain] = f64::NAN;
            }
            Average { name: name.clone(), chains }
        };
        let averages = self.functions.iter().enumerate().map(average).collect();
        Outcome { draws: self.draws_at(state.step), stopped, divergences, averages }
    }
}

/// What changes during a run.
struct State {
    step: u64,
    /// Σ ηₖ over the steps that the averages are over.
    weight: f64,
    workers: Vec<Worker>,
}

impl State {
    fn divergences(&self) -> Vec<Divergence> {
        let mut all: Vec<_> = self.workers.iter().flat_map(|w| &w.divergences).copied().collect();
        all.sort_by_key(|d| d.chain);
        all
    }
}

/// A draw of N(0, 1) from two words, by Box and Muller.
fn gaussian(a: u64, b: u64) -> f64 {
    let unit = |word: u64| ((word >> 12) as f64 + 0.5) / (1u64 << 52) as f64;
    (-2.0 * libm::log(unit(a))).sqrt() * libm::cos(std::f64::consts::TAU * unit(b))
}
