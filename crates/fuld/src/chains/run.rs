//! The settings of a run.

use super::execution::Execution;
use super::outcome::{Control, Outcome, Progress, RunError};
use super::sink::{Layout, Samples, Sink};
use crate::durable::fingerprint;
use crate::random::{Purpose, Stream};
use crate::{Integrator, Potential, Schedule, System};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Values of a segment: some megabytes.
const SEGMENT: usize = 1 << 20;

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

impl Start {
    /// Where the chains of these numbers start, one point after the other.
    pub fn points(&self, seed: u64, chains: std::ops::Range<usize>, dim: usize) -> Vec<f64> {
        match self {
            Self::Point(point) => point.repeat(chains.len()),
            Self::Gaussian(sd) => chains
                .flat_map(|chain| {
                    let stream = Stream::new(seed, chain as u64, Purpose::Start);
                    (0..dim as u64).map(move |i| sd * gaussian(stream.word(2 * i), stream.word(2 * i + 1)))
                })
                .collect(),
        }
    }
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
    /// Number of the first: a run may be split into parts, on several machines, whose chains are those of the whole.
    pub first_chain: usize,
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

impl Run {
    /// Four chains of a thousand draws, one a step, after a thousand steps of warm-up, from N(0, 1), seed 0.
    pub fn new(system: System, integrator: Integrator, schedule: Schedule) -> Self {
        Self {
            system,
            integrator,
            schedule,
            chains: 4,
            first_chain: 0,
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

    /// Runs in memory. There is nothing to resume, so a checkpoint is neither read nor written.
    pub fn sample(&self, potential: &dyn Potential) -> Result<Samples, RunError> {
        let mut samples = Samples::default();
        let run = Self { checkpoint: None, ..self.clone() };
        samples.outcome = Some(run.stream(potential, &mut samples, &mut |_| Control::Continue)?);
        Ok(samples)
    }

    /// Runs into a sink, telling `progress` several times a second how far it is. If a checkpoint of this run exists, goes
    /// on from there.
    pub fn stream(
        &self,
        potential: &dyn Potential,
        sink: &mut dyn Sink,
        progress: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Outcome, RunError> {
        self.check(potential.dim())?;
        Execution::begin(self, potential, sink)?.finish(sink, progress)
    }

    fn check(&self, dim: usize) -> Result<(), RunError> {
        self.integrator.check(&self.system)?;
        let counts = [
            (self.chains as u64, "chains"),
            (self.draws, "draws"),
            (self.thin, "steps a draw"),
            (dim as u64, "coordinates of the potential"),
        ];
        if let Some((_, what)) = counts.into_iter().find(|(count, _)| *count == 0) {
            return Err(RunError::Nothing(what));
        }
        if self.draws.checked_mul(self.thin).and_then(|steps| steps.checked_add(self.warmup)).is_none() {
            return Err(RunError::TooMany("the steps"));
        }
        if self.first_chain.checked_add(self.chains).is_none_or(|end| end as u64 > crate::random::MAX_CHAINS)
        {
            return Err(RunError::TooMany("the chains"));
        }
        if self.chains.checked_mul(dim).and_then(|n| n.checked_mul(2 << 16)).is_none() {
            return Err(RunError::TooMany("the coordinates of all chains"));
        }
        match &self.start {
            Start::Point(point) if point.len() != dim => {
                Err(RunError::StartDimension { start: point.len(), dim })
            }
            Start::Point(point) => match point.iter().find(|x| !x.is_finite()) {
                Some(&x) => Err(RunError::StartValue(x)),
                None => Ok(()),
            },
            Start::Gaussian(sd) if !sd.is_finite() => Err(RunError::StartValue(*sd)),
            Start::Gaussian(_) => Ok(()),
        }
    }

    /// Steps in all.
    pub(super) fn total(&self) -> u64 {
        self.warmup + self.draws * self.thin
    }

    /// Draws of a chain made in the first `step` steps.
    pub(super) fn draws_at(&self, step: u64) -> u64 {
        step.saturating_sub(self.warmup) / self.thin
    }

    /// Where a chain of this run starts, in so many dimensions.
    pub fn start_of_chain(&self, chain: usize, dim: usize) -> Vec<f64> {
        self.start_of(chain..chain + 1, dim)
    }

    pub(super) fn start_of(&self, chains: std::ops::Range<usize>, dim: usize) -> Vec<f64> {
        let first = self.first_chain;
        self.start.points(self.seed, first + chains.start..first + chains.end, dim)
    }

    /// The shape of what the run puts out, and what tells it from others.
    pub fn layout(&self, potential: &dyn Potential) -> Layout {
        self.layout_of(potential.dim(), &self.identity(potential))
    }

    pub(super) fn layout_of(&self, dim: usize, identity: &str) -> Layout {
        let segment = (SEGMENT / (self.chains * dim)).clamp(16, 1 << 16);
        Layout {
            chains: self.chains,
            draws: self.draws,
            dim,
            velocities: self.velocities,
            segment: segment.min(usize::try_from(self.draws).unwrap_or(usize::MAX)),
            run: fingerprint(identity.as_bytes()),
        }
    }

    /// Everything that the draws depend on, as text: two runs with the same identity have the same draws. Of the
    /// potential, and of functions in general, it is what they return at some points.
    pub(super) fn identity(&self, potential: &dyn Potential) -> String {
        let names: Vec<&str> = self.functions.iter().map(|(name, _)| name.as_str()).collect();
        let (run, dim) = (self, potential.dim());
        let part = (run.first_chain > 0).then(|| format!("first chain: {}", run.first_chain));
        let settings = [
            format!("system: {:?}", run.system),
            format!("integrator: {}", run.integrator),
            format!("steps: {:?}", run.schedule),
            format!("potential: {dim} coordinates, {:016x}", potential.fingerprint()),
            format!("chains: {}", run.chains),
            format!("warmup: {}", run.warmup),
            format!("draws: {}", run.draws),
            format!("thin: {}", run.thin),
            format!("seed: {}", run.seed),
            format!("start: {:?}", run.start),
            format!("velocities: {}", run.velocities),
            format!("averages: {names:?}"),
        ];
        settings.into_iter().chain(part).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} by {}, steps {:?}, ", self.system, self.integrator, self.schedule)?;
        write!(f, "{} chains of {} draws every {} steps, ", self.chains, self.draws, self.thin)?;
        write!(f, "warm-up {}, seed {}", self.warmup, self.seed)
    }
}

/// A draw of N(0, 1) from two words, by Box and Muller.
fn gaussian(a: u64, b: u64) -> f64 {
    let unit = |word: u64| ((word >> 12) as f64 + 0.5) / (1u64 << 52) as f64;
    (-2.0 * libm::log(unit(a))).sqrt() * libm::cos(std::f64::consts::TAU * unit(b))
}
