//! The floating-point types of parameters, `f32` and `f64`.

use levy_stable::{FieldTable, Lanes};
use std::ops::{Add, Mul, Neg, Sub};

/// Number of values per block of the vectorised loops.
pub(super) const LANES: usize = 16;

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

pub(super) mod sealed {
    use super::{FieldTable, LANES};

    /// Operations that the rule requires of a floating-point type.
    pub trait Real: Sized {
        /// The value 0.
        const ZERO: Self;
        /// Returns the nearest number of this type.
        fn rounded(x: f64) -> Self;
        /// Returns the value in single precision.
        fn single(self) -> f32;
        /// Returns whether the value is neither NaN nor infinite.
        fn finite(self) -> bool;
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
    ($float:ty) => {
        const ZERO: Self = 0.0;

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
        fn clipped(self, limit: Self) -> Self {
            self.clamp(-limit, limit)
        }
    };
}

impl Real for f32 {}

impl sealed::Real for f32 {
    basics!(f32);

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
    basics!(f64);

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
