//! Settings of a run.

use super::error::RunError;
use super::sink::Layout;
use super::spec::{DYNAMICS_VERSION, RunSpec};
use super::start::Start;
use crate::dynamics::LinearStep;
use crate::gradient_noise::own_noise;
use crate::integrator::StepOf;
use crate::{GradientNoiseError, Integrator, NoiseScale, Potential, Schedule, System};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The number of chains that have random streams at each temperature, 2⁴⁸.
const MAX_CHAINS: usize = 1 << 48;
/// The number of temperatures that have random streams.
const MAX_LEVELS: usize = crate::random::MAX_CHAINS as usize / MAX_CHAINS;

/// A function to be averaged, with its name.
pub type TestFunction = (String, Arc<dyn Fn(&[f64]) -> f64 + Send + Sync>);

/// A run of many chains: everything that its draws depend on, their number, and where its state is
/// kept.
#[derive(Clone)]
pub struct Run {
    /// The dynamics.
    pub system: System,
    /// Its discretisation.
    pub integrator: Integrator,
    /// Its steps.
    pub schedule: Schedule,
    /// Scale of the SαS noise in every coordinate of the gradients, which the integrator takes for
    /// a part of its own noise. The tail index is that of the system. With [`Integrator::Aboba`]
    /// and [`Integrator::Euler`] chains have exactly the law of chains with exact gradients, with
    /// [`Integrator::Baoab`] to second order in the step. Requires linear friction. 0: gradients
    /// are exact, or their noise is unknown.
    pub noise_scale: NoiseScale,
    /// Number of chains.
    pub chains: usize,
    /// Number of the first chain. A run may be split into parts, on several machines, whose chains
    /// are those of the whole.
    pub first_chain: usize,
    /// Steps before the first draw.
    pub warmup: u64,
    /// Draws per chain.
    pub draws: u64,
    /// Steps per draw.
    pub thin: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Where chains start.
    pub start: Start,
    /// Whether step, scales and path are adapted during the warmup. For [`Integrator::Exact`] only.
    pub adapt: bool,
    /// Mean time of an iteration, at first if it is adapted; 0 is one step. For
    /// [`Integrator::Exact`] only.
    pub path: f64,
    /// Number of temperatures of parallel tempering; 1 is none. More are for [`Integrator::Exact`]
    /// with [`adapt`](Self::adapt) only.
    pub temper: usize,
    /// Whether to record velocities beside positions.
    pub velocities: bool,
    /// Functions h whose averages π̄_K(h) = Σ ηₖ h(xᵏ)/Σ ηₖ over all steps after the warmup are
    /// computed.
    pub functions: Vec<TestFunction>,
    /// File for the state, from which a killed run continues. Requires a potential with a
    /// specification.
    pub checkpoint: Option<PathBuf>,
    /// Least time between two checkpoints; one is also written at the end and when the run is
    /// stopped.
    pub checkpoint_every: Duration,
    /// Number of threads; 0 uses all cores.
    pub threads: usize,
}

impl Run {
    /// Returns a run of four chains with a thousand draws each, one per step, after a thousand
    /// warmup steps, started from N(0, 1), seed 0.
    pub fn new(system: System, integrator: Integrator, schedule: Schedule) -> Self {
        Self {
            system,
            integrator,
            schedule,
            noise_scale: NoiseScale::ZERO,
            chains: 4,
            first_chain: 0,
            warmup: 1000,
            draws: 1000,
            thin: 1,
            seed: 0,
            start: Start::Gaussian(1.0),
            adapt: integrator == Integrator::Exact,
            path: 0.0,
            temper: 1,
            velocities: false,
            functions: Vec::new(),
            checkpoint: None,
            checkpoint_every: Duration::from_secs(1),
            threads: 0,
        }
    }

    /// Adds a test function.
    pub fn averaging(
        mut self,
        name: &str,
        h: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        self.functions.push((name.into(), Arc::new(h)));
        self
    }

    pub(super) fn check(&self, dim: usize) -> Result<(), RunError> {
        self.integrator.check(&self.system)?;
        let counts = [
            (self.chains as u64, "chains"),
            (self.draws, "draws"),
            (self.thin, "steps per draw"),
            (self.temper as u64, "temperatures"),
            (dim as u64, "coordinates of the potential"),
        ];
        if let Some((_, what)) = counts.into_iter().find(|(count, _)| *count == 0) {
            return Err(RunError::Nothing(what));
        }
        if self
            .draws
            .checked_mul(self.thin)
            .and_then(|steps| steps.checked_add(self.warmup))
            .is_none()
        {
            return Err(RunError::TooMany("the steps"));
        }
        self.check_noise_scale()?;
        let adapts = self.integrator == Integrator::Exact && self.adapt;
        if self.temper > 1 && !adapts {
            return Err(RunError::Temper(self.temper));
        }
        if self.first_chain.checked_add(self.chains).is_none_or(|end| end > MAX_CHAINS) {
            return Err(RunError::TooMany("the chains"));
        }
        if self.temper > MAX_LEVELS {
            return Err(RunError::TooMany("the temperatures"));
        }
        let states = self.chains.checked_mul(dim).and_then(|n| n.checked_mul(self.temper));
        if states.and_then(|n| n.checked_mul(2 << 16)).is_none() {
            return Err(RunError::TooMany("the coordinates of all chains"));
        }
        if !(self.path >= 0.0 && self.path.is_finite()) {
            return Err(RunError::Path(self.path));
        }
        let last = self.first_chain + self.chains;
        let points = match &self.start {
            Start::Point(point) => std::slice::from_ref(point),
            Start::Points(points) if points.len() < last => {
                return Err(RunError::StartCount { points: points.len(), chains: last });
            }
            Start::Points(points) => points,
            Start::Gaussian(sd) if !sd.is_finite() => return Err(RunError::StartValue(*sd)),
            Start::Gaussian(_) => &[],
        };
        if let Some(point) = points.iter().find(|point| point.len() != dim) {
            return Err(RunError::StartDimension { start: point.len(), dim });
        }
        match points.iter().flatten().find(|x| !x.is_finite()) {
            Some(&x) => Err(RunError::StartValue(x)),
            None => Ok(()),
        }
    }

    /// Checks that the noise of the gradients does not exceed that of the dynamics in the first and
    /// in the last step. A custom schedule is checked at every step of the run.
    pub fn check_noise_scale(&self) -> Result<(), GradientNoiseError> {
        let steps = self.draws.saturating_mul(self.thin).saturating_add(self.warmup);
        for k in [0, steps.saturating_sub(1)] {
            // A step that is not a number is reported when the run reaches it.
            if let Ok(eta) = self.schedule.at(k) {
                self.own_noise(eta)?;
            }
        }
        Ok(())
    }

    fn own_noise(&self, eta: f64) -> Result<Option<LinearStep>, GradientNoiseError> {
        let noisy = self.noise_scale != NoiseScale::ZERO;
        noisy.then(|| own_noise(&self.system, self.integrator, self.noise_scale, eta)).transpose()
    }

    /// Returns step k.
    pub(super) fn step(&self, k: u64) -> Result<StepOf, RunError> {
        let eta = self.schedule.at(k)?;
        Ok(StepOf { number: k, eta, own_noise: self.own_noise(eta)? })
    }

    /// Returns the number of a chain's random streams at one temperature.
    pub(super) fn stream_number(&self, chain: usize, level: usize) -> usize {
        level * MAX_CHAINS + self.first_chain + chain
    }

    /// Returns where a chain of this run starts in `dim` dimensions.
    pub fn start_of_chain(&self, chain: usize, dim: usize) -> Vec<f64> {
        self.start_of(chain..chain + 1, dim)
    }

    pub(super) fn start_of(&self, chains: std::ops::Range<usize>, dim: usize) -> Vec<f64> {
        let first = self.first_chain;
        self.start.points(self.seed, first + chains.start..first + chains.end, dim)
    }

    /// Returns the specification of this run on a potential.
    pub fn spec(&self, potential: &dyn Potential) -> Result<RunSpec, RunError> {
        self.check(potential.dim())?;
        let exact = self.integrator == Integrator::Exact;
        Ok(RunSpec {
            dynamics_version: DYNAMICS_VERSION,
            system: self.system.spec().clone(),
            integrator: self.integrator,
            schedule: self.schedule.spec(),
            noise_scale: Some(self.noise_scale).filter(|&scale| scale != NoiseScale::ZERO),
            dim: potential.dim(),
            potential: potential.specification(),
            chains: self.chains,
            first_chain: self.first_chain,
            warmup: self.warmup,
            draws: self.draws,
            thin: self.thin,
            seed: self.seed,
            start: self.start.clone(),
            adapt: exact.then_some(self.adapt),
            path: exact.then_some(self.path),
            temper: (self.temper > 1).then_some(self.temper),
            velocities: self.velocities,
            averages: self.functions.iter().map(|(name, _)| name.clone()).collect(),
        })
    }

    /// Returns the shape and specification of the output of this run on a potential.
    pub fn layout(&self, potential: &dyn Potential) -> Result<Layout, RunError> {
        let spec = self.spec(potential)?;
        Ok(Layout {
            chains: self.chains,
            draws: self.draws,
            dim: spec.dim,
            velocities: self.velocities,
            statistics: self.integrator == Integrator::Exact,
            segment: spec.segment(),
            spec: Arc::new(spec),
        })
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} by {}, steps {:?}, ", self.system, self.integrator, self.schedule)?;
        write!(f, "{} chains of {} draws every {} steps, ", self.chains, self.draws, self.thin)?;
        write!(f, "warmup {}, seed {}", self.warmup, self.seed)
    }
}
