//! The functions and operators of formulas: their names and their evaluation.
//!
//! Each is evaluated on a block of numbers, so that cheap ones compile to vector code. Functions
//! that are not a single instruction come from `libm`, which gives the same bits on every machine.

use std::f64::consts::LN_2;

/// A function of one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Function {
    /// −u, the only one written without parentheses.
    Neg,
    Exp,
    Log,
    Log1p,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Sinh,
    Cosh,
    Tanh,
    Atan,
    Abs,
    /// −1, 0 or 1: the derivative of the absolute value, 0 at the kink.
    Sign,
    /// ln cosh u, which does not overflow.
    LogCosh,
    /// ln(1 + e^u), which does not overflow.
    Softplus,
    /// 1/(1 + e^(−u)), the derivative of softplus.
    Sigmoid,
}

use Function::*;

/// The names in formulas. `ln` is a synonym of `log`.
const NAMES: [(&str, Function); 17] = [
    ("exp", Exp),
    ("log", Log),
    ("ln", Log),
    ("log1p", Log1p),
    ("sqrt", Sqrt),
    ("sin", Sin),
    ("cos", Cos),
    ("tan", Tan),
    ("sinh", Sinh),
    ("cosh", Cosh),
    ("tanh", Tanh),
    ("atan", Atan),
    ("abs", Abs),
    ("sign", Sign),
    ("logcosh", LogCosh),
    ("softplus", Softplus),
    ("sigmoid", Sigmoid),
];

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|&(_, function)| function)
    }

    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|&(name, _)| name)
    }

    pub(super) fn name(self) -> &'static str {
        NAMES.iter().find(|&&(_, function)| function == self).map_or("-", |(name, _)| name)
    }

    /// Applies the function to each number of `x`.
    pub(super) fn map(self, x: &[f64], out: &mut [f64]) {
        match self {
            Neg => each(x, out, |x| -x),
            Exp => each(x, out, libm::exp),
            Log => each(x, out, libm::log),
            Log1p => each(x, out, libm::log1p),
            Sqrt => each(x, out, f64::sqrt),
            Sin => each(x, out, libm::sin),
            Cos => each(x, out, libm::cos),
            Tan => each(x, out, libm::tan),
            Sinh => each(x, out, libm::sinh),
            Cosh => each(x, out, libm::cosh),
            Tanh => each(x, out, libm::tanh),
            Atan => each(x, out, libm::atan),
            Abs => each(x, out, f64::abs),
            // x itself if it is 0 or NaN.
            Sign => each(x, out, |x| {
                if x > 0.0 {
                    1.0
                } else if x < 0.0 {
                    -1.0
                } else {
                    x
                }
            }),
            LogCosh => each(x, out, |x| x.abs() + libm::log1p(libm::exp(-2.0 * x.abs())) - LN_2),
            Softplus => each(x, out, |x| 0.5 * (x + x.abs()) + libm::log1p(libm::exp(-x.abs()))),
            Sigmoid => each(x, out, |x| {
                let small = libm::exp(-x.abs());
                if x > 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) }
            }),
        }
    }

    pub(super) fn at(self, x: f64) -> f64 {
        let mut out = [0.0];
        self.map(&[x], &mut out);
        out[0]
    }
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
}

/// An operand: a block of numbers, or one number for the whole block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand<'a> {
    Block(&'a [f64]),
    Number(f64),
}

impl Operator {
    pub(super) fn map(self, a: Operand<'_>, b: Operand<'_>, out: &mut [f64]) {
        match self {
            Self::Add => pairs(a, b, out, |a, b| a + b),
            Self::Sub => pairs(a, b, out, |a, b| a - b),
            Self::Mul => pairs(a, b, out, |a, b| a * b),
            Self::Div => pairs(a, b, out, |a, b| a / b),
            Self::Pow => pairs(a, b, out, libm::pow),
        }
    }

    pub(super) fn at(self, a: f64, b: f64) -> f64 {
        let mut out = [0.0];
        self.map(Operand::Number(a), Operand::Number(b), &mut out);
        out[0]
    }
}

fn pairs(a: Operand<'_>, b: Operand<'_>, out: &mut [f64], f: impl Fn(f64, f64) -> f64) {
    match (a, b) {
        (Operand::Block(a), Operand::Block(b)) => both(a, b, out, f),
        (Operand::Block(a), Operand::Number(b)) => each(a, out, |a| f(a, b)),
        (Operand::Number(a), Operand::Block(b)) => each(b, out, |b| f(a, b)),
        (Operand::Number(a), Operand::Number(b)) => out.fill(f(a, b)),
    }
}

// Not inlined: slices that are parameters of a function are known not to overlap, so the loops
// compile to vector code without checks.

#[inline(never)]
fn each(x: &[f64], out: &mut [f64], f: impl Fn(f64) -> f64) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = f(x);
    }
}

#[inline(never)]
fn both(a: &[f64], b: &[f64], out: &mut [f64], f: impl Fn(f64, f64) -> f64) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        assert!(NAMES.iter().all(|&(name, function)| Function::named(name) == Some(function)));
        assert_eq!((Function::Log.name(), Function::named("-")), ("log", None));
    }

    #[test]
    fn the_functions_that_are_ours() {
        for x in [-30.0f64, -1.0, 0.0, 1e-3, 0.7, 12.0] {
            assert!((LogCosh.at(x) - x.cosh().ln()).abs() < 1e-15 * (1.0 + x.abs()));
        }
        for x in [-700.0f64, -30.0, -1.0, 0.0, 1e-3, 0.7, 12.0, 700.0] {
            let softplus = x.max(0.0) + (-x.abs()).exp().ln_1p();
            assert!(
                (Softplus.at(x) - softplus).abs() <= 1e-15 * softplus
                    && (Sigmoid.at(x) + Sigmoid.at(-x) - 1.0).abs() < 1e-15
            );
        }
        assert!(Softplus.at(f64::NAN).is_nan() && Sigmoid.at(f64::NAN).is_nan());
        assert_eq!((LogCosh.at(1e300), Sign.at(-3.0), Sign.at(0.0)), (1e300, -1.0, 0.0));
        assert!(Sign.at(f64::NAN).is_nan());
    }
}
