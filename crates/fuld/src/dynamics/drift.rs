//! Drifts of overdamped systems: the velocity of the position without its noise.

/// A drift b(x) of an overdamped system, made from positions and the gradient there, for many chains at once.
pub trait Drift: Send + Sync {
    /// b(x) into `out`.
    fn drift(&self, x: &[f64], gradient: &[f64], out: &mut [f64]);

    /// A drift that differs from b(x) by O(η) and does not overshoot in a step η: b/(1 + η|b|/(1 + |x|)), which moves no
    /// further than 1 + |x|, unless overridden.
    fn tamed(&self, x: &[f64], gradient: &[f64], eta: f64, out: &mut [f64]) {
        self.drift(x, gradient, out);
        for (b, x) in out.iter_mut().zip(x) {
            let s = eta / (1.0 + x.abs());
            *b = if b.is_infinite() { b.signum() / s } else { *b / (1.0 + s * b.abs()) };
        }
    }
}

/// b = −factor · ∇f.
pub(crate) struct Downhill(pub(crate) f64);

impl Drift for Downhill {
    fn drift(&self, _: &[f64], gradient: &[f64], out: &mut [f64]) {
        for (out, g) in out.iter_mut().zip(gradient) {
            *out = -self.0 * g;
        }
    }
}
