//! Rank normalisation, which replaces draws by the normal quantiles of their ranks.
//!
//!   z = Φ⁻¹((r − 3/8)/(S + 1/4)),
//!
//! where r is the rank among all S draws (ties share their mean rank), with Blom's offset.
//! Diagnostics of z depend on no moments of the law and work for laws that have none.

use levy_stable::SymmetricStable;

/// The normal scores of the ranks among S draws.
pub(super) struct NormalScores {
    normal: SymmetricStable,
    /// The scores of the ranks 1, 2, … up to the middle; the others are their negatives.
    lower: Vec<f64>,
    size: usize,
}

impl NormalScores {
    pub(super) fn new(size: usize) -> Self {
        // The kinetic law at α = 2 is the standard normal.
        let normal = SymmetricStable::kinetic(2.0).expect("2 is a tail index");
        let mut scores = Self { normal, lower: Vec::new(), size };
        scores.lower = (1..=size.div_ceil(2)).map(|rank| scores.exact(rank as f64)).collect();
        scores
    }

    fn exact(&self, rank: f64) -> f64 {
        self.normal.quantile((rank - 0.375) / (self.size as f64 + 0.25))
    }

    fn of(&self, rank: f64) -> f64 {
        let mirror = (self.size + 1) as f64 - rank;
        let (low, sign) = if rank <= mirror { (rank, 1.0) } else { (mirror, -1.0) };
        // Ties can have half-integer ranks.
        let z = if low.fract() == 0.0 { self.lower[low as usize - 1] } else { self.exact(low) };
        sign * z
    }

    /// Replaces S draws, none of which is NaN, by their scores.
    pub(super) fn replace(&self, values: &mut [f64]) {
        let mut order: Vec<(i64, usize)> = values.iter().map(|&x| key(x)).zip(0..).collect();
        order.sort_unstable();
        let mut before = 0;
        for group in order.chunk_by(|a, b| a.0 == b.0) {
            let z = self.of(before as f64 + 0.5 * (group.len() as f64 + 1.0));
            for &(_, index) in group {
                values[index] = z;
            }
            before += group.len();
        }
    }
}

/// Returns an integer with the order of the doubles, which sorts faster: the bits, inverted for
/// negative numbers.
fn key(x: f64) -> i64 {
    // −0 and 0 are a tie.
    let bits = (x + 0.0).to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_order() {
        let x = [f64::NEG_INFINITY, -1e300, -1.0, -1e-320, 0.0, 1e-320, 2.0, 3.0, f64::INFINITY];
        assert!(x.windows(2).all(|w| key(w[0]) < key(w[1])));
        assert_eq!(key(-0.0), key(0.0));
    }

    #[test]
    fn ties_share_a_rank() {
        let mut x = [2.0, -0.0, 5.0, 0.0, f64::INFINITY];
        let z = NormalScores::new(5);
        z.replace(&mut x);
        assert_eq!(x, [z.of(3.0), z.of(1.5), z.of(4.0), z.of(1.5), z.of(5.0)]);
        assert!(
            (z.of(1.5) - z.exact(1.5)).abs() < 1e-15 && (z.of(4.0) - z.exact(4.0)).abs() < 1e-15
        );
        assert!(x[0].abs() < 1e-15 && (x[4] - 1.1797611176118612).abs() < 1e-14);
    }
}
