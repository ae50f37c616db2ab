//! The exact flow of a scalar friction v′ = −γ c(v), from tables computed once per drift.
//!
//! Let λ = c′(0) and let T(v) = ∫_v^∞ du/c(u) be the time in which an infinite velocity falls to v.
//! The coordinate
//!
//! > p(v) = K/(e^(λT(v)) − 1),  K such that p(v)/v → 1 at 0,
//!
//! turns the flow over a time t into a fraction, D = e^(−λγt):
//!
//! > p ← D p/(1 + (1 − D) p/K),
//!
//! which has no cancellation. For tiny v it is a decay by D. For huge v, e^(λT) − 1 ≈ λT keeps its
//! digits, and v(t) no longer depends on the start. A drift that grows no faster than v has T = ∞:
//! then K = ∞, p = v exp ∫₀^v (λ/c(u) − 1/u) du, and the flow is p ← D p. The tables hold p/v over
//! v and v/p over p. Both are smooth and positive, so relative errors are bounded everywhere. A
//! step costs two table evaluations and a division.

use crate::numerics::quadrature::kronrod;
use levy_stable::table::{Fit, OctaveTable};
use libm::{exp, expm1, log, log1p};
use thiserror::Error;

/// A drift whose flow cannot be tabulated, with the offending value.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FlowError {
    /// The drift has no slope at 0, or one of the wrong sign.
    #[error("the slope of the drift at 0 must be positive and finite, got {0}")]
    Slope(f64),
    /// The reach is not positive.
    #[error("the reach of the drift must be positive, got {0}")]
    Reach(f64),
    /// The drift is not a friction.
    #[error("the drift must be positive at v = {v}, got {value}")]
    Drift {
        /// Where.
        v: f64,
        /// The drift there.
        value: f64,
    },
    /// The drift is not smooth enough.
    #[error("the drift is too rough to tabulate: relative error {0}, at most 1e-9 is allowed")]
    Rough(f64),
}

/// Relative error that the tables are fitted to.
const TOLERANCE: f64 = 2e-12;
/// Relative error above which a drift is refused as too rough.
const REFUSED: f64 = 1e-9;
/// The table ends where c(v)/v or v has grown by this factor: T is then so short that after any λγt
/// > 1e-30 the velocity no longer depends on the start.
const MAX_GROWTH: f64 = 1e39;
/// The table ends where ln p has grown by this much, before p overflows.
const MAX_LN_P: f64 = 250.0;

/// An odd drift c, positive for v > 0, from which a [`DriftFlow`] is tabulated.
#[derive(Clone, Copy, Debug)]
pub struct OddDrift<C> {
    /// c(v) for v > 0.
    pub drift: C,
    /// c′(0).
    pub slope: f64,
    /// The largest v at which c is evaluated; may be infinite. Beyond it c continues as a power of
    /// v.
    pub reach: f64,
}

/// The flow of v′ = −γ c(v) for one odd drift c, positive for v > 0.
///
/// The result is exactly odd, has a relative error below 1e-9 (measured on the Gaussian kinetic
/// energy: 2.5e-11), and is finite from every start, infinite ones too, wherever T(v) is finite.
/// NaN stays NaN.
#[derive(Clone, Debug)]
pub struct DriftFlow {
    /// λ
    slope: f64,
    /// 1/K, 0 for K = ∞
    saturation: f64,
    /// p/v over v, and v/p over p.
    forward: OctaveTable,
    backward: OctaveTable,
    outside: PowerLaw,
}

/// c(v) = c(end) (v/end)^power beyond the table.
#[derive(Clone, Copy, Debug)]
struct PowerLaw {
    end: f64,
    /// c(end)/end
    rate: f64,
    power: f64,
}

impl DriftFlow {
    /// Creates the flow of c(v) = `slope`·v: v ← e^(−slope·γt) v, without rounding errors of
    /// tables.
    pub fn linear(slope: f64) -> Result<Self, FlowError> {
        check_slope(slope)?;
        let outside = PowerLaw { end: f64::MAX, rate: slope, power: 1.0 };
        let (forward, backward) = (OctaveTable::constant(1.0), OctaveTable::constant(1.0));
        Ok(Self { slope, saturation: 0.0, forward, backward, outside })
    }

    /// Tabulates the flow of an odd drift.
    pub fn new(drift: OddDrift<impl Fn(f64) -> f64>) -> Result<Self, FlowError> {
        let OddDrift { drift, slope, reach } = drift;
        check_slope(slope)?;
        if reach.is_nan() || reach <= 0.0 {
            return Err(FlowError::Reach(reach));
        }
        let integrals = DriftIntegrals::new(&drift, slope, reach)?;
        let first = libm::floor(libm::log2(integrals.knots[1])) as i32;
        let end = integrals.outside.end;
        let fit = Fit { lowest: first, end, tolerance: TOLERANCE, floor: 0.0 };
        let (forward, error): (OctaveTable, _) = OctaveTable::fit(&fit, |v| integrals.growth(v));
        let p_at = |v: f64| v * if v <= end { forward.at(v) } else { integrals.growth(v) };
        let ratio = |p: f64| invert(&p_at, integrals.last_knot(), p) / p;
        let inverse = Fit { end: p_at(end), tolerance: 4.0 * TOLERANCE, ..fit };
        let (backward, inverse_error) = OctaveTable::fit(&inverse, ratio);
        let worst = if error.is_nan() { error } else { error.max(inverse_error) };
        if worst.is_nan() || worst > REFUSED {
            return Err(FlowError::Rough(worst));
        }
        Ok(Self {
            slope,
            saturation: integrals.saturation(),
            forward,
            backward,
            outside: integrals.outside,
        })
    }

    /// Replaces `v` by v(t), where `t_gamma` = γt is the product of friction and time. Leaves `v`
    /// unchanged unless `t_gamma` > 0.
    pub fn flow(&self, t_gamma: f64, v: &mut [f64]) {
        if t_gamma.is_nan() || t_gamma <= 0.0 {
            return;
        }
        let decay = exp(-self.slope * t_gamma);
        let loss = -expm1(-self.slope * t_gamma) * self.saturation;
        flow_all(self, &Elapsed { t_gamma, decay, loss }, v);
    }

    #[inline(always)]
    fn flow_inside(&self, decay: f64, loss: f64, v: f64) -> f64 {
        let p = self.forward.evaluate(v) * v;
        let p = p * decay / (1.0 + loss * p);
        self.backward.evaluate(p) * p
    }

    /// Flows along the power law in closed form, and through the table for the time that is left.
    #[cold]
    fn flow_from_outside(&self, t: f64, v: f64) -> f64 {
        let PowerLaw { end, rate, power } = self.outside;
        let q = 1.0 - power;
        // Time in units of 1/rate from v to the end: ((v/end)^q − 1)/q.
        let distance = log(v / end);
        let journey = if q == 0.0 { distance } else { expm1(q * distance) / q };
        let left = t - journey / rate;
        if left > 0.0 {
            let loss = -expm1(-self.slope * left) * self.saturation;
            return self.flow_inside(exp(-self.slope * left), loss, end);
        }
        let rest = journey - t * rate;
        if rest == f64::INFINITY {
            return v;
        }
        end * exp(if q == 0.0 { rest } else { log1p(q * rest) / q })
    }

    /// Returns λ = c′(0): small velocities decay as e^(−λγt).
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// Returns the largest |v| in the table. Beyond it the drift continues as a power of v.
    pub fn reach(&self) -> f64 {
        self.outside.end
    }

    /// Returns the size of the tables in bytes.
    pub fn bytes(&self) -> usize {
        self.forward.bytes() + self.backward.bytes()
    }
}

/// A time, and the factors that it multiplies the coordinate p by.
struct Elapsed {
    /// γt
    t_gamma: f64,
    /// D
    decay: f64,
    /// (1 − D)/K
    loss: f64,
}

levy_stable::dispatched! {
    fn flow_all(flow: &DriftFlow, elapsed: &Elapsed, v: &mut [f64]) {
        for v in v {
            let size = v.abs();
            let moved = if size > flow.outside.end {
                flow.flow_from_outside(elapsed.t_gamma, size)
            } else {
                flow.flow_inside(elapsed.decay, elapsed.loss, size)
            };
            *v = moved.copysign(*v);
        }
    }
}

fn check_slope(slope: f64) -> Result<(), FlowError> {
    if slope > 0.0 && slope.is_finite() { Ok(()) } else { Err(FlowError::Slope(slope)) }
}

/// p(v)/v of a drift to full precision: integrals between knots, added up once.
struct DriftIntegrals<'a, C> {
    drift: &'a C,
    slope: f64,
    /// 0, a first knot below which c is nearly linear, and so on to the end.
    knots: Vec<f64>,
    /// J(v) = ∫₀^v (λ/c(u) − 1/u) du at the knots: ln(p/v) if K = ∞.
    excess: Vec<f64>,
    /// λT at the knots (the first is never used), and K, if T is finite.
    left: Option<(Vec<f64>, f64)>,
    outside: PowerLaw,
}

impl<'a, C: Fn(f64) -> f64> DriftIntegrals<'a, C> {
    fn new(drift: &'a C, slope: f64, reach: f64) -> Result<Self, FlowError> {
        let checked = Checked(drift);
        let first = checked.first_knot(slope, reach)?;
        let law = PowerLaw { end: first, rate: checked.at(first)? / first, power: 1.0 };
        let (knots, excess) = (vec![0.0, first], vec![0.0]);
        let mut integrals = Self { drift, slope, knots, excess, left: None, outside: law };
        integrals.excess.push(integrals.excess_between(0.0, first));
        integrals.march(reach, &checked)?;
        integrals.count_down(reach, &checked)?;
        integrals.choose_end(&checked)?;
        Ok(integrals)
    }

    /// Sets knots until the drift ends or has grown enough.
    fn march(&mut self, reach: f64, checked: &Checked<C>) -> Result<(), FlowError> {
        loop {
            let PowerLaw { end: v, rate, power } = self.outside;
            let excess = self.excess[self.excess.len() - 1];
            let grown = rate / self.slope > MAX_GROWTH || v > self.knots[1] * MAX_GROWTH;
            if v >= reach || grown || excess + log(v / self.knots[1]) > MAX_LN_P {
                return Ok(());
            }
            let next = (v * knot_ratio(power)).min(reach);
            let next_rate = checked.at(next)? / next;
            // A drift that overflows ends the table here.
            if next_rate.is_infinite() {
                return Ok(());
            }
            let power = 1.0 + log(next_rate / rate) / log(next / v);
            self.excess.push(excess + self.excess_between(v, next));
            self.knots.push(next);
            self.outside = PowerLaw { end: next, rate: next_rate, power };
        }
    }

    /// Chooses the end of the tables below the last knot, with the margin in v and in p that
    /// fitting their last pieces requires.
    fn choose_end(&mut self, checked: &Checked<C>) -> Result<(), FlowError> {
        const MARGIN: f64 = 1.0 + 1.0 / 32.0;
        let last = self.last_knot();
        let highest = last * self.growth(last);
        let mut end = last / MARGIN;
        while end * self.growth(end) * MARGIN > highest {
            end /= MARGIN;
        }
        self.outside = PowerLaw { end, rate: checked.at(end)? / end, power: checked.power(end)? };
        Ok(())
    }

    /// λT at the knots from the end down, if T there is finite and short.
    fn count_down(&mut self, reach: f64, checked: &Checked<C>) -> Result<(), FlowError> {
        // Beyond the table 1/c is followed until it no longer counts, and as a power from there.
        let PowerLaw { end, rate, mut power } = self.outside;
        let (mut v, mut rate_at, mut sum) = (end, rate, 0.0);
        while v < reach && rate_at < 1e20 * rate && v < 1e3 * end {
            let next = (v * knot_ratio(power)).min(reach);
            sum += self.time_between(v, next);
            let next_rate = checked.at(next)? / next;
            power = 1.0 + log(next_rate / rate_at) / log(next / v);
            (v, rate_at) = (next, next_rate);
            if rate_at.is_infinite() {
                break;
            }
        }
        if rate_at.is_finite() {
            power = checked.power(v)?;
            sum += self.slope / (rate_at * (power - 1.0).max(0.0));
        }
        // A longer T would leave e^(λT) − 1 without advantage over e^(λT), and may not be finite at
        // all.
        if sum.is_nan() || sum > 1.0 {
            return Ok(());
        }
        let mut left = vec![sum; self.knots.len()];
        for i in (1..self.knots.len() - 1).rev() {
            left[i] = left[i + 1] + self.time_between(self.knots[i], self.knots[i + 1]);
        }
        let full = self.knots[1] * exp(left[1] + self.excess[1]);
        self.left = Some((left, full));
        Ok(())
    }

    fn last_knot(&self) -> f64 {
        self.knots[self.knots.len() - 1]
    }

    fn saturation(&self) -> f64 {
        self.left.as_ref().map_or(0.0, |(_, full)| 1.0 / full)
    }

    /// p(v)/v for v up to the last knot.
    fn growth(&self, v: f64) -> f64 {
        let above = self.knots.partition_point(|&knot| knot < v).clamp(1, self.knots.len() - 1);
        let (low, high) = (self.knots[above - 1], self.knots[above]);
        let excess = || self.excess[above - 1] + self.excess_between(low, v);
        match &self.left {
            None => exp(excess()),
            Some((left, full)) => {
                let time = if above == 1 {
                    f64::INFINITY
                } else {
                    left[above] + self.time_between(v, high)
                };
                if time > 1.0 {
                    // v e^(λT)/K = e^(−J)
                    1.0 / (exp(-excess()) - v / full)
                } else {
                    full / v / expm1(time)
                }
            }
        }
    }

    fn excess_between(&self, low: f64, high: f64) -> f64 {
        kronrod(&|u: f64| (self.slope / ((self.drift)(u) / u) - 1.0) / u, low, high).value
    }

    fn time_between(&self, low: f64, high: f64) -> f64 {
        kronrod(&|u: f64| self.slope / (self.drift)(u), low, high).value
    }
}

/// Knots are this far apart: some per octave, and closer where the drift is steep.
fn knot_ratio(power: f64) -> f64 {
    exp(0.15 / (0.1 * power.abs()).max(1.0))
}

/// The v with p(v) = `p` for an increasing function p(v) on (0, end], by halving: the tables are no
/// smoother than their tolerance, so faster methods would not converge faster.
fn invert(p_at: &impl Fn(f64) -> f64, end: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0, end);
    loop {
        // Small p are found by quarters, the rest by halves.
        let middle = if low < 0.25 * high { 0.25 * high } else { 0.5 * (low + high) };
        if middle <= low || middle >= high {
            return high;
        }
        if p_at(middle) < p { low = middle } else { high = middle }
    }
}

/// A drift whose values are checked to be positive.
struct Checked<'a, C>(&'a C);

impl<C: Fn(f64) -> f64> Checked<'_, C> {
    fn at(&self, v: f64) -> Result<f64, FlowError> {
        let value = (self.0)(v);
        if value > 0.0 { Ok(value) } else { Err(FlowError::Drift { v, value }) }
    }

    /// A power of two up to which the drift is within some percent of slope·v.
    fn first_knot(&self, slope: f64, reach: f64) -> Result<f64, FlowError> {
        let straight = |v: f64| -> Result<bool, FlowError> {
            Ok(v <= reach && (self.at(v)? / (v * slope) - 1.0).abs() < 0.03)
        };
        let mut v = 1.0;
        while !straight(v)? && v > 1e-150 {
            v *= 0.5;
        }
        while straight(2.0 * v)? && v < 1e150 {
            v *= 2.0;
        }
        Ok(v)
    }

    /// d ln c/d ln v below v, over a span that a drift from a table, with its small steps, will not
    /// spoil.
    fn power(&self, v: f64) -> Result<f64, FlowError> {
        const SPAN: f64 = 0.05;
        Ok(log(self.at(v)? / self.at(v * exp(-SPAN))?) / SPAN)
    }
}
