//! Adaptive integration by the Gauss–Kronrod pair of 7 and 15 points.

/// Kronrod's points in [0, 1], from the outside in; every second one is a Gauss point.
const POINTS: [f64; 8] = [
    0.9914553711208126,
    0.9491079123427585,
    0.8648644233597691,
    0.7415311855993945,
    0.5860872354676911,
    0.4058451513773972,
    0.20778495500789848,
    0.0,
];
/// Weights of the 15-point rule.
const KRONROD: [f64; 8] = [
    0.022935322010529224,
    0.06309209262997856,
    0.10479001032225019,
    0.14065325971552592,
    0.1690047266392679,
    0.19035057806478542,
    0.20443294007529889,
    0.20948214108472782,
];
/// Weights of the 7-point rule.
const GAUSS: [f64; 4] =
    [0.1294849661688697, 0.27970539148927664, 0.3818300505051189, 0.4179591836734694];

/// Largest depth of halving. Integrals over a jump, and tolerances below rounding, end here.
const MAX_DEPTH: u32 = 40;
/// Largest number of halvings in one integral.
const MAX_HALVINGS: u32 = 300;

/// The allowed error of an integral: `relative`·∫|f| + `absolute`.
#[derive(Clone, Copy)]
pub(crate) struct Tolerance {
    pub(crate) relative: f64,
    pub(crate) absolute: f64,
}

/// The estimate of the pair on one interval.
#[derive(Clone, Copy)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    /// ∫|f|
    pub(crate) size: f64,
    error: f64,
}

/// Returns ∫ₐᵇ f by 15 points, with an estimate of its error.
pub(crate) fn kronrod(f: &impl Fn(f64) -> f64, a: f64, b: f64) -> Estimate {
    let (centre, half) = (0.5 * (a + b), 0.5 * (b - a));
    let (mut fine, mut coarse, mut size) = (0.0, 0.0, 0.0);
    for (i, (&x, &weight)) in POINTS.iter().zip(&KRONROD).enumerate() {
        let (sum, sizes) = if x == 0.0 {
            let middle = f(centre);
            (middle, middle.abs())
        } else {
            let (left, right) = (f(centre - half * x), f(centre + half * x));
            (left + right, left.abs() + right.abs())
        };
        fine += weight * sum;
        size += weight * sizes;
        if i % 2 == 1 {
            coarse += GAUSS[i / 2] * sum;
        }
    }
    // The difference is the error of the 7-point rule; that of the 15-point rule is about its 3/2th
    // power (QUADPACK).
    let relative = ((fine - coarse) / size).abs();
    let error =
        if size > 0.0 { size * relative.min(libm::pow(200.0 * relative, 1.5)) } else { 0.0 };
    Estimate { value: half * fine, size: half.abs() * size, error: half.abs() * error }
}

/// Returns ∫ f over the intervals between consecutive `breaks`.
pub(crate) fn integrate(f: &impl Fn(f64) -> f64, breaks: &[f64], tolerance: Tolerance) -> Estimate {
    let first: Vec<Estimate> = breaks.windows(2).map(|ends| kronrod(f, ends[0], ends[1])).collect();
    let size: f64 = first.iter().map(|estimate| estimate.size).sum();
    let mut total = Total::new(tolerance.relative * size + tolerance.absolute);
    for (ends, estimate) in breaks.windows(2).zip(first) {
        total.add(f, ends[0], ends[1], estimate, MAX_DEPTH);
    }
    total.sum
}

/// Returns `sum` + ∫ₐᵇ f, with a tolerance relative to both.
pub(crate) fn extend(
    sum: Estimate,
    f: &impl Fn(f64) -> f64,
    a: f64,
    b: f64,
    tolerance: Tolerance,
) -> Estimate {
    let whole = kronrod(f, a, b);
    let mut total = Total::new(tolerance.relative * (sum.size + whole.size) + tolerance.absolute);
    total.sum = sum;
    total.add(f, a, b, whole, MAX_DEPTH);
    total.sum
}

/// A sum over intervals, each halved until its error is allowed.
struct Total {
    sum: Estimate,
    allowed: f64,
    halvings_left: u32,
}

impl Total {
    fn new(allowed: f64) -> Self {
        Self {
            sum: Estimate { value: 0.0, size: 0.0, error: 0.0 },
            allowed,
            halvings_left: MAX_HALVINGS,
        }
    }

    fn add(&mut self, f: &impl Fn(f64) -> f64, a: f64, b: f64, whole: Estimate, depth: u32) {
        // NaN and ∞ end the recursion, because halving does not remove them.
        let halve = whole.error > self.allowed
            && whole.error.is_finite()
            && depth > 0
            && self.halvings_left > 0;
        if !halve {
            self.sum.value += whole.value;
            self.sum.size += whole.size;
            self.sum.error += whole.error;
            return;
        }
        self.halvings_left -= 1;
        let middle = 0.5 * (a + b);
        for (a, b) in [(a, middle), (middle, b)] {
            self.add(f, a, b, kronrod(f, a, b), depth - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: Tolerance = Tolerance { relative: 1e-14, absolute: 0.0 };

    #[test]
    fn smooth_peaked_and_singular() {
        let smooth = integrate(&|x: f64| x.exp(), &[0.0, 1.0], FINE).value;
        assert!((smooth - (std::f64::consts::E - 1.0)).abs() < 1e-15);
        let peak = integrate(&|x: f64| 1e-3 / (x * x + 1e-6), &[-1.0, 0.7, 1.0], FINE).value;
        assert!((peak - 2.0 * 1000f64.atan()).abs() < 1e-13, "{peak}");
        let root = integrate(&|x: f64| x.powf(1.3), &[0.0, 1.0], FINE).value;
        assert!((root - 1.0 / 2.3).abs() < 1e-14);
    }

    #[test]
    fn what_is_not_finite_comes_back_at_once() {
        assert!(!integrate(&|x: f64| 1.0 / x, &[-1.0, 1.0], FINE).value.is_finite());
    }
}
