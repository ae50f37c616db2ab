//! The floating-point types of parameters, `f32` and `f64`.

use levy_stable::{FieldTable, Lanes};
use std::ops::{Add, Mul, Neg, Sub};

/// Number of values per block of the vectorised loops.
pub(crate) const LANES: usize = 16;

/// A floating-point type of parameters: `f32` or `f64`.
pub trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + Sub<Output = Self>
    + Into<f64>
    + sealed::Real
{
}

pub(crate) mod sealed {
    use super::{FieldTable, LANES};

    /// Operations that the rule requires of a floating-point type.
    pub trait Real: Sized {
        /// The value 0.
        const ZERO: Self;
        /// The largest finite value.
        const MAX: Self;
        /// Returns the nearest number of this type.
        fn rounded(x: f64) -> Self;
        /// Returns the value in single precision.
        fn single(self) -> f32;
        /// Returns whether the value is neither NaN nor infinite.
        fn finite(self) -> bool;
        /// Returns the absolute value.
        fn magnitude(self) -> Self;
        /// Returns e and m of |x| = 2^e m with √½ ≤ m < √2, and 1; or (0, 1, 0) if x is zero,
        /// subnormal or not finite.
        fn exponent_and_mantissa(self) -> (i32, f32, i32);
        /// Returns the square root.
        fn root(self) -> Self;
        /// Returns a/b.
        fn quotient(a: Self, b: Self) -> Self;
        /// Returns the value clamped to [−limit, limit]. NaN stays NaN.
        fn clipped(self, limit: Self) -> Self;
        /// Returns ∇G(v).
        fn field(table: &FieldTable, v: Self) -> Self;
        /// Evaluates ∇G within a loop over blocks: `after(block, ∇G(before(block)))`.
        fn sweep<B>(
            table: &FieldTable,
            blocks: impl Iterator<Item = B>,
            before: impl FnMut(&mut B) -> [Self; LANES],
            after: impl FnMut(B, [Self; LANES]),
        );
    }
}

macro_rules! basics {
    ($float:ty, $bits:ty, $signed:ty) => {
        const ZERO: Self = 0.0;
        const MAX: Self = <$float>::MAX;

        #[inline(always)]
        fn rounded(x: f64) -> Self {
            x as $float
        }

        #[inline(always)]
        fn single(self) -> f32 {
            self as f32
        }

        #[inline(always)]
        fn finite(self) -> bool {
            self.is_finite()
        }

        #[inline(always)]
        fn magnitude(self) -> Self {
            self.abs()
        }

        #[inline(always)]
        fn root(self) -> Self {
            self.sqrt()
        }

        #[inline(always)]
        fn quotient(a: Self, b: Self) -> Self {
            a / b
        }

        // Arithmetic on bits without branches, so that loops are vectorised.
        #[inline(always)]
        fn exponent_and_mantissa(self) -> (i32, f32, i32) {
            const SHIFT: u32 = <$float>::MANTISSA_DIGITS - 1;
            const ROOT_HALF: $bits = (std::f64::consts::FRAC_1_SQRT_2 as $float).to_bits();
            let normal = self.abs() >= <$float>::MIN_POSITIVE && self.abs() <= <$float>::MAX;
            let bits = if normal { self.abs() } else { 1.0 }.to_bits();
            let exponent = (bits.wrapping_sub(ROOT_HALF) as $signed) >> SHIFT;
            let mantissa = <$float>::from_bits(bits.wrapping_sub((exponent as $bits) << SHIFT));
            (exponent as i32, mantissa as f32, i32::from(normal))
        }

        #[inline(always)]
        fn clipped(self, limit: Self) -> Self {
            self.clamp(-limit, limit)
        }
    };
}

impl Real for f32 {}

impl sealed::Real for f32 {
    basics!(f32, u32, i32);

    #[inline(always)]
    fn field(table: &FieldTable, v: Self) -> Self {
        table.at_f32(v)
    }

    #[inline(always)]
    fn sweep<B>(
        table: &FieldTable,
        blocks: impl Iterator<Item = B>,
        mut before: impl FnMut(&mut B) -> [Self; LANES],
        mut after: impl FnMut(B, [Self; LANES]),
    ) {
        table.blocks_f32(
            blocks,
            #[inline(always)]
            |block| Lanes(before(block)),
            #[inline(always)]
            |block, field| after(block, field.0),
        );
    }
}

impl Real for f64 {}

impl sealed::Real for f64 {
    basics!(f64, u64, i64);

    #[inline(always)]
    fn field(table: &FieldTable, v: Self) -> Self {
        table.at(v)
    }

    #[inline(always)]
    fn sweep<B>(
        table: &FieldTable,
        blocks: impl Iterator<Item = B>,
        mut before: impl FnMut(&mut B) -> [Self; LANES],
        mut after: impl FnMut(B, [Self; LANES]),
    ) {
        for mut block in blocks {
            let mut field = [0.0; LANES];
            table.eval_into(&before(&mut block), &mut field);
            after(block, field);
        }
    }
}
