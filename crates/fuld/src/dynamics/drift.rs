//! Drifts of overdamped systems: the velocity of the position without its noise.

/// A drift b(x) of an overdamped system, computed from positions and gradients of many chains at
/// once.
pub trait Drift: Send + Sync {
    /// Writes b(x) into `out`.
    fn drift(&self, x: &[f64], gradient: &[f64], out: &mut [f64]);

    /// Writes a drift into `out` that differs from b(x) by O(η) and does not overshoot in a step η.
    ///
    /// The default is b/(1 + η|b|/(1 + |x|)), which moves no further than 1 + |x|.
    fn tamed(&self, x: &[f64], gradient: &[f64], eta: f64, out: &mut [f64]) {
        self.drift(x, gradient, out);
        for (b, x) in out.iter_mut().zip(x) {
            let s = eta / (1.0 + x.abs());
            *b = if b.is_infinite() { b.signum() / s } else { *b / (1.0 + s * b.abs()) };
        }
    }
}

/// b = −factor · ∇f.
pub(crate) struct Downhill {
    pub(crate) factor: f64,
}

impl Drift for Downhill {
    fn drift(&self, _: &[f64], gradient: &[f64], out: &mut [f64]) {
        for (out, g) in out.iter_mut().zip(gradient) {
            *out = -self.factor * g;
        }
    }
}
