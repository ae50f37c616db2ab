//! The two floating-point types, as far as a table needs them.

use std::ops::{Add, Div, Mul};

/// Position of the pieces of one octave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Octave {
    /// Index of the first piece.
    pub(crate) first: u32,
    /// The octave has 2^split pieces of equal length.
    pub(crate) split: u32,
}

/// A floating-point type that a table can be evaluated in: `f32` or `f64`.
pub trait Real:
    Copy + PartialOrd + Add<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// Exponents of the octaves that a table may have, with room for the factor 2 in its argument.
    const EXPONENTS: std::ops::Range<i32>;
    /// Rounds a double to this type.
    fn rounded(x: f64) -> Self;
    /// Returns the number as a double, which is exact.
    fn double(self) -> f64;
    /// Returns the number of the octave that `self` ≥ 2^lowest is in, counted from that of
    /// 2^lowest.
    fn octave(self, lowest: i32) -> u32;
    /// Returns the index of the piece of an octave, and the place t ∈ [−1/2, 1/2) within it.
    fn piece(self, octave: Octave) -> (u32, Self);
    /// Returns self · a + b, rounded once.
    fn fma(self, a: Self, b: Self) -> Self;
    /// Returns the largest number below `self`.
    fn before(self) -> Self;
    /// Returns |self|.
    fn size(self) -> Self;
    /// Returns |self| with the sign of `sign`.
    fn signed_as(self, sign: Self) -> Self;
}

macro_rules! real {
    ($float:ty, $bits:ty, $mantissa_bits:literal, $bias:literal, $exponents:expr) => {
        impl Real for $float {
            const EXPONENTS: std::ops::Range<i32> = $exponents;

            #[inline(always)]
            fn rounded(x: f64) -> Self {
                x as $float
            }

            #[inline(always)]
            fn double(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn octave(self, lowest: i32) -> u32 {
                ((self.to_bits() >> $mantissa_bits) as u32).wrapping_sub((lowest + $bias) as u32)
            }

            #[inline(always)]
            fn piece(self, octave: Octave) -> (u32, Self) {
                const MANTISSA: $bits = (1 << $mantissa_bits) - 1;
                const ONE: $bits = $bias << $mantissa_bits;
                let within = (self.to_bits() & MANTISSA) << octave.split;
                let piece = octave.first + (within >> $mantissa_bits) as u32;
                (piece, <$float>::from_bits(ONE | (within & MANTISSA)) - 1.5)
            }

            #[inline(always)]
            fn fma(self, a: Self, b: Self) -> Self {
                self.mul_add(a, b)
            }

            fn before(self) -> Self {
                self.next_down()
            }

            #[inline(always)]
            fn size(self) -> Self {
                self.abs()
            }

            #[inline(always)]
            fn signed_as(self, sign: Self) -> Self {
                self.copysign(sign)
            }
        }
    };
}

real!(f64, u64, 52, 1023, -1000..1001);
real!(f32, u32, 23, 127, -100..127);
