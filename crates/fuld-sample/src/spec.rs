//! The complete specification of a sampling run: everything its draws depend on.

use crate::compose::compose;
use crate::error::SamplingError;
use crate::request::SampleRequest;
use crate::start::StartingPoint;
use crate::target::Target;
use fuld::durable::fingerprint;
use fuld::{
    Alpha, Beta, Friction, Integrator, NoiseScale, Run, Schedule, Start, Step, SystemKind,
    Underdamped,
};
use std::collections::BTreeMap;

/// A [`SampleRequest`] with its defaults filled in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SampleSpec {
    /// A formula, or the name of a potential; None if the target was not built from text.
    pub potential: Option<String>,
    /// The dimension.
    pub dim: usize,
    /// Parameters of a named potential.
    pub param: BTreeMap<String, f64>,
    /// The system.
    pub system: SystemKind,
    /// Its discretisation.
    pub integrator: Integrator,
    /// Tail index of the noise, if the system has one.
    pub alpha: Option<Alpha>,
    /// Inverse temperature, if the system has one.
    pub beta: Option<Beta>,
    /// Friction, if the system has one. Exact sampling without one draws new velocities in each
    /// iteration.
    pub gamma: Option<Friction>,
    /// Whether exact sampling adapts step, scales and path; None for other integrators.
    pub adapt: Option<bool>,
    /// Mean time of an iteration of exact sampling; None for other integrators.
    pub path: Option<f64>,
    /// Number of temperatures of parallel tempering; None if there is one.
    pub temper: Option<usize>,
    /// Step size η, at first if it is adapted.
    pub step: Step,
    /// The p of η (1 + k/K)^(−p), if the step falls.
    pub step_power: Option<f64>,
    /// The K of η (1 + k/K)^(−p), if the step falls.
    pub half_life: Option<f64>,
    /// Scale of the noise in stochastic gradients, if it is known and not 0.
    pub noise_scale: Option<NoiseScale>,
    /// Number of chains.
    pub chains: usize,
    /// Draws per chain.
    pub draws: u64,
    /// Iterations before the first draw.
    pub warmup: u64,
    /// Iterations between draws.
    pub thin: u64,
    /// Where chains start. A point with one coordinate applies to all of them.
    pub start: Start,
    /// Whether velocities are kept too.
    pub velocities: bool,
    /// The seed.
    pub seed: u64,
}

impl SampleSpec {
    /// Returns all parameters, with the values that a system without one corresponds to: α = 2, γ =
    /// 0, β = 1; for exact sampling γ → ∞.
    pub fn parameters(&self) -> Underdamped {
        let no_gamma =
            if self.integrator == Integrator::Exact { Friction::COMPLETE } else { Friction::ZERO };
        Underdamped {
            alpha: self.alpha.unwrap_or(Alpha::GAUSS),
            gamma: self.gamma.unwrap_or(no_gamma),
            beta: self.beta.unwrap_or(Beta::ONE),
        }
    }

    /// Returns whether the stationary law is e^(−βf), given exact gradients and short steps.
    /// Without friction there is no noise.
    pub fn is_exact(&self) -> bool {
        let Underdamped { alpha, beta, .. } = self.parameters();
        self.gamma != Some(Friction::ZERO) && self.system.is_exact(alpha, beta)
    }

    /// Builds the run, in memory and on all cores.
    ///
    /// It may still start where the target is not finite: [`Target::check_starts`] refuses that.
    pub fn run(&self, target: &Target) -> Result<Run, SamplingError> {
        let system = compose(self.system, self.parameters(), target)?;
        self.integrator.check(&system)?;
        if self.noise_scale.is_some() && !target.potential().is_stochastic() {
            return Err(SamplingError::NoiseOfExactGradients);
        }
        let run = Run {
            noise_scale: self.noise_scale.unwrap_or(NoiseScale::ZERO),
            chains: self.chains,
            warmup: self.warmup,
            draws: self.draws,
            thin: self.thin,
            seed: self.seed,
            start: self.expanded_start()?,
            velocities: self.velocities,
            adapt: self.adapt.unwrap_or_default(),
            path: self.path.unwrap_or_default(),
            temper: self.temper.unwrap_or(1),
            ..Run::new(system, self.integrator, self.schedule()?)
        };
        run.check_noise_scale()?;
        Ok(run)
    }

    /// Checks what a run would refuse only when it begins, or never.
    pub(crate) fn check(&self) -> Result<(), SamplingError> {
        let Self { dim, chains, draws, warmup, thin, .. } = *self;
        let counts =
            [("dim", dim as u64), ("chains", chains as u64), ("draws", draws), ("thin", thin)];
        if let Some((what, given)) = counts.into_iter().find(|&(_, given)| given == 0) {
            return Err(SamplingError::TooFew { what, least: 1, given });
        }
        if draws as f64 * thin as f64 + warmup as f64 > 1e18 {
            return Err(SamplingError::TooManySteps { warmup, draws, thin });
        }
        if draws as f64 * chains as f64 * dim as f64 > 1e11 {
            return Err(SamplingError::TooMany { chains, draws, dim });
        }
        self.schedule()?;
        self.expanded_start()?;
        Ok(())
    }

    fn schedule(&self) -> Result<Schedule, SamplingError> {
        Ok(match (self.step_power, self.half_life) {
            (Some(power), Some(half_life)) => {
                Schedule::polynomial(fuld::Polynomial { start: self.step, half_life, power })?
            }
            _ => Schedule::Constant(self.step),
        })
    }

    /// Returns where chains start, in all coordinates. A point with one coordinate applies to all
    /// of them.
    pub fn expanded_start(&self) -> Result<Start, SamplingError> {
        let Self { dim, chains, .. } = *self;
        let (points, fits, shape) = match &self.start {
            Start::Gaussian(sd) if sd.is_finite() && *sd >= 0.0 => return Ok(self.start.clone()),
            Start::Gaussian(sd) => return Err(SamplingError::StartSpread(*sd)),
            Start::Point(point) => {
                let count = point.len();
                (std::slice::from_ref(point), count == dim || count == 1, format!("({count},)"))
            }
            Start::Points(points) => {
                let fits = points.len() == chains && points.iter().all(|point| point.len() == dim);
                let coordinates = points.first().map_or(0, Vec::len);
                (&points[..], fits, format!("({}, {coordinates})", points.len()))
            }
        };
        if let Some(&x) = points.iter().flatten().find(|x| !x.is_finite()) {
            return Err(SamplingError::StartValue(x));
        }
        if !fits {
            return Err(SamplingError::StartShape { shape, chains, dim });
        }
        Ok(match &self.start {
            Start::Point(point) if point.len() < dim => Start::Point(vec![point[0]; dim]),
            start => start.clone(),
        })
    }

    /// Returns the specification as a complete request, the form in which `config.toml` stores it.
    pub fn request(&self) -> SampleRequest {
        SampleRequest {
            potential: self.potential.clone(),
            dim: Some(self.dim),
            beta: self.beta.map(f64::from),
            system: Some(self.system),
            integrator: Some(self.integrator),
            alpha: self.alpha.map(f64::from),
            gamma: self.gamma.map(f64::from),
            adapt: self.adapt,
            path: self.path,
            temper: self.temper,
            step: Some(self.step.get()),
            step_power: self.step_power,
            half_life: self.half_life,
            noise_scale: self.noise_scale.map(f64::from),
            chains: Some(self.chains),
            draws: Some(self.draws),
            warmup: Some(self.warmup),
            thin: Some(self.thin),
            start: Some(StartingPoint(self.start.clone())),
            velocities: self.velocities,
            seed: Some(self.seed),
            param: self.param.clone(),
        }
    }

    /// Returns the potential as text, or "f" if the target was not built from text.
    pub fn target_text(&self) -> &str {
        self.potential.as_deref().unwrap_or("f")
    }

    /// Returns the first setting that differs from a stored request: as stored, and as specified
    /// here.
    pub fn difference(&self, stored: &SampleRequest) -> Option<(String, String)> {
        let (theirs, ours) = (stored.text(), self.text());
        let only = |text: &str, other: &str| {
            let line = text.lines().find(|line| !other.lines().any(|known| known == *line));
            line.map(ToOwned::to_owned)
        };
        let (there, here) = (only(&theirs, &ours), only(&ours, &theirs));
        // A setting on one side only is named on the other side as well.
        let missing = |line: &Option<String>| {
            line.as_ref().map(|line| format!("no {}", line.split(" =").next().unwrap_or(line)))
        };
        match (there.clone().or_else(|| missing(&here)), here.or_else(|| missing(&there))) {
            (Some(there), Some(here)) => Some((there, here)),
            _ => None,
        }
    }

    /// Returns the specification as TOML.
    pub fn text(&self) -> String {
        self.request().text()
    }

    /// Returns a folder name: potential, system, tail index, seed if it was `given`, and a hash of
    /// all these settings.
    ///
    /// A random seed is no part of the name, so that a command without a seed finds its folder
    /// again.
    pub fn name(&self, given: Option<u64>) -> String {
        let known = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_word = |text: &&str| text.chars().all(known) && text.len() > 2;
        let potential = self.potential.as_deref().filter(is_word).unwrap_or("formula");
        let alpha = self.alpha.map(|alpha| format!("-alpha{}", alpha.get())).unwrap_or_default();
        let seed = given.map(|seed| format!("-seed{seed}")).unwrap_or_default();
        let hash = fingerprint(SampleRequest { seed: given, ..self.request() }.text().as_bytes());
        format!("{potential}-{}{alpha}{seed}-{hash:016x}", self.system)
    }

    /// Returns the main settings in one line.
    pub fn headline(&self) -> String {
        let mut text = format!("{}: {}", self.target_text(), self.system);
        let numbers = [
            ("alpha", self.alpha.map(f64::from)),
            ("beta", self.beta.map(f64::from)),
            ("gamma", self.gamma.map(f64::from)),
        ];
        for (name, value) in
            numbers.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)))
        {
            text += &format!(", {name} {value}");
        }
        text += &format!(
            "; {}, {}step {}",
            self.integrator.name(),
            if self.adapt == Some(true) { "first " } else { "" },
            self.step.get()
        );
        if let Some(temper) = self.temper {
            text += &format!(", {temper} temperatures");
        }
        if let (Some(power), Some(half_life)) = (self.step_power, self.half_life) {
            text += &format!(" (1 + k/{half_life})^-{power}");
        }
        if let Some(noise_scale) = self.noise_scale {
            text += &format!(", gradient noise {}", noise_scale.get());
        }
        text + &format!("; seed {}", self.seed)
    }
}
