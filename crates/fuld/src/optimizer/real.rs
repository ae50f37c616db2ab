//! The two floating-point types that parameters come in.

use levy_stable::{FieldTable, Lanes};
use std::ops::{Add, Mul, Neg, Sub};

/// Numbers handled together.
pub(super) const LANES: usize = 16;

/// `f32` or `f64`.
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

    /// What the rule needs of a type; not for others to call or implement.
    pub trait Real: Sized {
        /// 0
        const ZERO: Self;
        /// The nearest number.
        fn rounded(x: f64) -> Self;
        /// In single precision.
        fn single(self) -> f32;
        /// Neither NaN nor infinite.
        fn finite(self) -> bool;
        /// The number, or the end of [−limit, limit] nearest to it. NaN stays NaN.
        fn clipped(self, limit: Self) -> Self;
        /// ∇G(v)
        fn field(table: &FieldTable, v: Self) -> Self;
        /// ∇G in the middle of a loop over blocks.
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
