//! ∇G_α on all of ℝ as one table of octaves.

use crate::piecewise::{Piecewise, Real};
use crate::unit::Regime;
use crate::{Alpha, ParameterError, SymmetricStable};

/// Beyond the last octave v∇G = 1 + α up to terms v^(−α) below this part of the tolerance.
const NEGLIGIBLE: f64 = 0.05;

/// The field in one precision.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Field<T, const N: usize> {
    /// w, a power of two. The argument of the table is u = max(|v| + w, 2|v|): one octave holds all |v| < w, and above
    /// u is exact.
    shift: T,
    /// The table holds ∇G/v up to this |v|, and v∇G above.
    near: T,
    table: Piecewise<T, N>,
}

impl<T: Real, const N: usize> Field<T, N> {
    /// The field to `tolerance`, with octaves as far as `range` allows, and the largest error seen.
    pub(crate) fn build(law: &SymmetricStable, tolerance: f64, range: std::ops::Range<i32>) -> (Self, f64) {
        let alpha = law.alpha();
        if alpha == 2.0 {
            let table = Piecewise::constant(1.0);
            return (Self { shift: T::rounded(1.0), near: T::rounded(f64::INFINITY), table }, 0.0);
        }
        let span = Span::of(law, tolerance, range);
        let (table, error) = Piecewise::fit(span.octaves(), 1.0 + alpha, tolerance, 0.0, span.held(law));
        (Self { shift: T::rounded(span.shift()), near: T::rounded(span.switch()).before(), table }, error)
    }

    #[inline(always)]
    fn argument(&self, v: T) -> T {
        let size = v.size();
        let (near, far) = (size + self.shift, size + size);
        if near > far { near } else { far }
    }

    /// ∇G(v) from what the table holds there.
    #[inline(always)]
    fn value(&self, v: T, held: T) -> T {
        let size = v.size();
        let field = if size > self.near { held / size } else { held * size };
        field.signed_as(v)
    }

    #[inline(always)]
    pub(crate) fn at(&self, v: T) -> T {
        self.value(v, self.table.at(self.argument(v)))
    }

    /// w, the end of ∇G/v, and the table.
    pub(crate) fn parts(&self) -> (T, T, &Piecewise<T, N>) {
        (self.shift, self.near, &self.table)
    }

    /// Bytes of the table.
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes()
    }

    /// Whether a table that was read from a file can be evaluated.
    #[cfg(feature = "serde")]
    pub(crate) fn is_sound(&self) -> bool {
        self.table.is_sound()
    }
}

/// The octaves of u in which the field of one α, or of some, is neither straight nor its limit.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    first: i32,
    last: i32,
}

impl Span {
    /// Those that `tolerance` asks for, within `range`.
    pub(crate) fn of(law: &SymmetricStable, tolerance: f64, range: std::ops::Range<i32>) -> Self {
        // A quarter of where the field bends, it is nearly straight.
        let straight = 0.25 * law.scale() * law.unit().bend();
        let first = (libm::log2(straight).floor() as i32).clamp(range.start, 0);
        let last = ((libm::log2(NEGLIGIBLE * tolerance) / -law.alpha()).ceil() as i32).clamp(6, range.end);
        Self { first, last }
    }

    /// The octaves of both.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    pub(crate) fn octaves(self) -> std::ops::Range<i32> {
        self.first..self.last
    }

    /// w
    pub(crate) fn shift(self) -> f64 {
        libm::exp2(f64::from(self.first))
    }

    /// From this v on the table holds v∇G. About where ∇G is largest; there ∇G/v and v∇G are equally steep.
    pub(crate) fn switch(self) -> f64 {
        4.0 * self.shift()
    }

    /// What the table holds at u.
    pub(crate) fn held(self, law: &SymmetricStable) -> impl Fn(f64) -> f64 {
        let (shift, switch, ratio) = (self.shift(), self.switch(), ratio(law));
        move |u| {
            let v = if u < 2.0 * shift { u - shift } else { 0.5 * u };
            if v >= switch { law.score(v) * v } else { ratio(v) }
        }
    }
}

/// The law whose score is ∇G_α, for 0.1 ≤ α ≤ 2: below, the field bends over more octaves than a table should have.
pub(crate) fn tabulated(alpha: f64) -> Result<SymmetricStable, ParameterError> {
    if Alpha::new(alpha)?.get() < 0.1 {
        return Err(ParameterError::TableAlpha(alpha));
    }
    SymmetricStable::kinetic(alpha)
}

/// ∇G(v)/v, finite at 0.
pub(crate) fn ratio(law: &SymmetricStable) -> impl Fn(f64) -> f64 {
    let slope = law.score_derivative(0.0);
    move |v| if law.regime(v) == Regime::Origin { slope } else { law.score(v) / v }
}
