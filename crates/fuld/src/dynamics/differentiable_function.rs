//! A function of one variable with its derivative.

/// A function of one variable and its derivative, named so that they cannot be confused at the call
/// site.
#[derive(Clone, Copy, Debug)]
pub struct DifferentiableFunction<F, D> {
    /// f(x).
    pub value: F,
    /// f′(x).
    pub derivative: D,
}
