//! Quantiles of numbers, interpolated linearly between neighbours (type 7 of Hyndman and Fan, the
//! default of NumPy and ArviZ).

/// Returns the quantile at `p` of sorted numbers. Panics if there are none.
pub fn quantile_of_sorted(sorted: &[f64], p: f64) -> f64 {
    let position = Position::new(sorted.len(), p);
    position.between(sorted[position.index], sorted[(position.index + 1).min(sorted.len() - 1)])
}

/// Returns the quantile at `p` of numbers in any order, none of them NaN, by selection in linear
/// time. Reorders the numbers. Panics if there are none.
pub fn quantile_by_selection(numbers: &mut [f64], p: f64) -> f64 {
    let position = Position::new(numbers.len(), p);
    let (_, &mut low, above) = numbers.select_nth_unstable_by(position.index, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    position.between(low, high)
}

/// The position of a quantile between two neighbours in sorted order.
#[derive(Clone, Copy)]
struct Position {
    /// The lower neighbour.
    index: usize,
    /// The weight of the upper one.
    weight: f64,
}

impl Position {
    fn new(n: usize, p: f64) -> Self {
        // The order of operations is that of ArviZ, so that rounding is the same for draws at the
        // quantile.
        let position = n as f64 * p + (1.0 - p);
        let index = position.floor().clamp(1.0, (n as f64 - 1.0).max(1.0));
        Self { index: index as usize - 1, weight: (position - index).clamp(0.0, 1.0) }
    }

    fn between(self, low: f64, high: f64) -> f64 {
        // At weights 0 and 1 the other neighbour, which may be infinite, must not enter.
        if self.weight == 0.0 {
            low
        } else if self.weight == 1.0 {
            high
        } else {
            (1.0 - self.weight) * low + self.weight * high
        }
    }
}
