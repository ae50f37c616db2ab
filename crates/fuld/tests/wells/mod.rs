//! A potential and a run for the tests of chains.

use fuld::{
    Alpha, Beta, Friction, Integrator, Polynomial, Potential, Run, Schedule, Specification, Step,
    System, Underdamped,
};

/// f = Σ x⁴/4 − x²/2 in d dimensions, optionally with random noise of ±0.5 in its gradient.
pub(crate) struct Wells {
    pub(crate) dim: usize,
    pub(crate) stochastic: bool,
}

impl Potential for Wells {
    fn dim(&self) -> usize {
        self.dim
    }

    fn specification(&self) -> Option<Specification> {
        Some(Specification::new("wells").with("stochastic", self.stochastic))
    }

    fn value(&self, x: &[f64]) -> f64 {
        x.iter().map(|x| 0.25 * x * x * x * x - 0.5 * x * x).sum()
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        for (g, x) in gradient.iter_mut().zip(x) {
            *g = x * x * x - x;
        }
    }

    fn is_stochastic(&self) -> bool {
        self.stochastic
    }

    fn sampled_gradient(&self, x: &[f64], word: u64, gradient: &mut [f64]) {
        self.gradient(x, gradient);
        if self.stochastic {
            gradient[0] += if word & 1 == 0 { 0.5 } else { -0.5 };
        }
    }
}

pub(crate) fn wells(dim: usize) -> Wells {
    Wells { dim, stochastic: false }
}

// Some test crates use only the potential.
#[allow(dead_code)]
/// 37 chains of FULD with falling steps, averaging x².
pub(crate) fn run(integrator: Integrator) -> Run {
    let polynomial = Polynomial { start: Step::new(0.05).unwrap(), half_life: 1000.0, power: 0.3 };
    let schedule = Schedule::polynomial(polynomial).unwrap();
    let parameters = Underdamped {
        alpha: Alpha::new(1.4).unwrap(),
        gamma: Friction::new(5.0).unwrap(),
        beta: Beta::ONE,
    };
    let run = Run::new(System::fuld(parameters).unwrap(), integrator, schedule);
    Run { chains: 37, warmup: 50, draws: 40, thin: 3, seed: 11, ..run }
        .averaging("x²", |x| x[0] * x[0])
}
