//! Builds simplified expressions.
//!
//! Every expression has the form (p/q)·v with numbers p, q and a *bare* expression v without a
//! factor. Products multiply the numbers and the bare parts separately; sums with the same bare
//! part add the numbers. Ratios of integers are kept in lowest terms, so that the derivative of
//! x⁴/12 is x³/3. No operation is folded into an infinity or NaN, and no factor that may be 0 is
//! cancelled.

use super::function::{Function, Operator};
use super::graph::{Graph, Id, Node};
use Operator::{Add, Div, Mul, Pow, Sub};

/// (p/q)·v, or the number p/q; q > 0.
#[derive(Clone, Copy, Debug)]
struct Scaled {
    p: f64,
    q: f64,
    bare: Option<Id>,
}

impl Scaled {
    fn negated(self) -> Self {
        Self { p: -self.p, ..self }
    }

    /// Returns the product of the factors, unless it overflows or underflows.
    fn factor(p: [f64; 2], q: [f64; 2]) -> Option<(f64, f64)> {
        let product = |[a, b]: [f64; 2]| {
            let product = a * b;
            (product.is_finite() && (product.is_normal() || a == 0.0 || b == 0.0))
                .then_some(product)
        };
        Some((product(p)?, product(q)?))
    }
}

impl Graph {
    fn binary(&mut self, op: Operator, a: Id, b: Id) -> Id {
        self.intern(Node::Binary(op, a, b))
    }

    /// Returns the value of a number or of a ratio of numbers.
    fn value(&self, id: Id) -> Option<f64> {
        let ratio = |(a, b): (f64, f64)| (b != 0.0).then_some(a / b);
        match self.node(id) {
            Node::Binary(Div, a, b) => self.number(a).zip(self.number(b)).and_then(ratio),
            _ => self.number(id),
        }
    }

    fn split(&mut self, id: Id) -> Scaled {
        let whole = Scaled { p: 1.0, q: 1.0, bare: Some(id) };
        match self.node(id) {
            Node::Constant(bits) => Scaled { p: f64::from_bits(bits), q: 1.0, bare: None },
            Node::Apply(Function::Neg, v) => Scaled { p: -1.0, q: 1.0, bare: Some(v) },
            Node::Binary(Mul, a, v) => {
                self.number(a).map_or(whole, |p| Scaled { p, q: 1.0, bare: Some(v) })
            }
            Node::Binary(Div, a, b) => match (self.number(a), self.number(b)) {
                (_, Some(0.0)) => whole,
                (Some(p), Some(q)) => Scaled { p, q, bare: None },
                (None, Some(q)) => match self.node(a) {
                    Node::Apply(Function::Neg, v) => Scaled { p: -1.0, q, bare: Some(v) },
                    Node::Binary(Mul, c, v) if self.number(c).is_some() => {
                        Scaled { p: self.number(c).unwrap_or(1.0), q, bare: Some(v) }
                    }
                    // Two successive divisions remain only where their product would overflow.
                    Node::Binary(Div, n, d) if self.number(n).or(self.number(d)).is_some() => whole,
                    _ => Scaled { p: 1.0, q, bare: Some(a) },
                },
                (Some(p), None) => {
                    let down = self.split(b);
                    match (Scaled::factor([p, down.q], [1.0, down.p.abs()]), down.bare) {
                        (Some((p, q)), Some(v)) => {
                            Scaled { p: p * down.p.signum(), q, bare: Some(self.inverse(v)) }
                        }
                        _ => whole,
                    }
                }
                (None, None) => whole,
            },
            _ => whole,
        }
    }

    fn inverse(&mut self, v: Id) -> Id {
        let one = self.constant(1.0);
        self.binary(Div, one, v)
    }

    /// Returns (p/q)·v in its canonical form.
    fn scale(&mut self, Scaled { p, q, bare }: Scaled) -> Id {
        let (p, q) = lowest_terms(p, q);
        if p == 0.0 {
            return self.constant(0.0);
        }
        let (number, divisor) = (self.constant(p), self.constant(q));
        let Some(v) = bare else {
            // Only a ratio of integers is kept as a ratio.
            let ratio = p.fract() == 0.0 && q.fract() == 0.0 || !(p / q).is_normal();
            return if q != 1.0 && ratio {
                self.binary(Div, number, divisor)
            } else {
                self.constant(p / q)
            };
        };
        let scaled = match self.node(v) {
            _ if p == 1.0 && q == 1.0 => return v,
            Node::Binary(Div, one, d) if self.number(one) == Some(1.0) => {
                let d = self.scale(Scaled { p: q, q: 1.0, bare: Some(d) });
                return self.binary(Div, number, d);
            }
            // −c(a − b) = c(b − a), at the top level only: otherwise every difference of a chain
            // would be reversed.
            Node::Binary(Sub, a, b) if p < 0.0 && !self.is_difference(a) => {
                let (positive, turned) =
                    (self.scale(Scaled { p: -p, q, bare: None }), self.sub(b, a));
                return self.mul(positive, turned);
            }
            _ if p == 1.0 => v,
            _ if p == -1.0 => self.intern(Node::Apply(Function::Neg, v)),
            _ => self.binary(Mul, number, v),
        };
        if q == 1.0 { scaled } else { self.binary(Div, scaled, divisor) }
    }

    /// Returns whether a is a difference, up to a factor.
    fn is_difference(&mut self, a: Id) -> bool {
        let bare = self.split(a).bare;
        bare.is_some_and(|v| matches!(self.node(v), Node::Binary(Sub, ..)))
    }

    /// Returns −a.
    pub(super) fn neg(&mut self, a: Id) -> Id {
        let a = self.split(a).negated();
        self.scale(a)
    }

    /// Returns a + b.
    pub(super) fn add(&mut self, a: Id, b: Id) -> Id {
        let (sa, sb) = (self.split(a), self.split(b));
        if sa.p == 0.0 {
            return b;
        }
        if sb.p == 0.0 {
            return a;
        }
        if sa.bare == sb.bare {
            let (p, q) = if sa.q == sb.q {
                (sa.p + sb.p, sa.q)
            } else {
                (sa.p * sb.q + sb.p * sa.q, sa.q * sb.q)
            };
            if p.is_finite() && q.is_normal() {
                return self.scale(Scaled { p, q, bare: sa.bare });
            }
        }
        if let Some(sum) = self.gathered(a, b).or_else(|| self.gathered(b, a)) {
            return sum;
        }
        match (sa.p < 0.0, sb.p < 0.0) {
            (false, false) => self.binary(Add, a, b),
            (false, true) => {
                let b = self.scale(sb.negated());
                self.binary(Sub, a, b)
            }
            (true, false) => {
                let a = self.scale(sa.negated());
                self.binary(Sub, b, a)
            }
            (true, true) => {
                let (a, b) = (self.scale(sa.negated()), self.scale(sb.negated()));
                let sum = self.add(a, b);
                self.neg(sum)
            }
        }
    }

    /// Returns u + (c′ ± c) for a sum (u ± c) + c′ with numbers c and c′, if this is one.
    fn gathered(&mut self, sum: Id, number: Id) -> Option<Id> {
        self.value(number)?;
        let Node::Binary(op @ (Add | Sub), a, b) = self.node(sum) else { return None };
        let (u, c) = match (op, self.value(a), self.value(b)) {
            (_, _, Some(_)) => (a, if op == Sub { self.neg(b) } else { b }),
            (Add, Some(_), None) => (b, a),
            _ => return None,
        };
        let c = self.add(c, number);
        // The numbers stay separate only where their sum would overflow.
        self.value(c)?;
        Some(self.add(u, c))
    }

    /// Returns a − b.
    pub(super) fn sub(&mut self, a: Id, b: Id) -> Id {
        let b = self.neg(b);
        self.add(a, b)
    }

    /// Returns a·b.
    pub(super) fn mul(&mut self, a: Id, b: Id) -> Id {
        let (sa, sb) = (self.split(a), self.split(b));
        let Some((p, q)) = Scaled::factor([sa.p, sb.p], [sa.q, sb.q]) else {
            return self.binary(Mul, a, b);
        };
        let bare = match (sa.bare, sb.bare) {
            (Some(a), Some(b)) => Some(self.bare_product(a, b)),
            (a, b) => a.or(b),
        };
        self.scale(Scaled { p, q, bare })
    }

    fn bare_product(&mut self, a: Id, b: Id) -> Id {
        let ((base, m), (other, n)) = (self.whole_power(a), self.whole_power(b));
        if base == other {
            let exponent = self.constant(m + n);
            return self.binary(Pow, base, exponent);
        }
        match (self.node(a), self.node(b)) {
            (Node::Binary(Div, one, d), _) if self.number(one) == Some(1.0) => {
                self.binary(Div, b, d)
            }
            (_, Node::Binary(Div, one, d)) if self.number(one) == Some(1.0) => {
                self.binary(Div, a, d)
            }
            (Node::Binary(Mul, w, t), _) if self.whole_power(t).0 == other => {
                let power = self.bare_product(t, b);
                self.binary(Mul, w, power)
            }
            _ => self.binary(Mul, a, b),
        }
    }

    /// Returns u and n of uⁿ with a positive integer n.
    fn whole_power(&self, id: Id) -> (Id, f64) {
        match self.node(id) {
            Node::Binary(Pow, u, n) => {
                self.number(n).filter(|&n| is_whole(n)).map_or((id, 1.0), |n| (u, n))
            }
            _ => (id, 1.0),
        }
    }

    /// Returns a/b.
    pub(super) fn div(&mut self, a: Id, b: Id) -> Id {
        let (sa, sb) = (self.split(a), self.split(b));
        let factor = Scaled::factor([sa.p, sb.q], [sa.q, sb.p]).filter(|_| sb.p != 0.0);
        let Some((p, q)) = factor else {
            return self.binary(Div, a, b);
        };
        let bare = match (sa.bare, sb.bare) {
            (a, None) => a,
            (None, Some(d)) => Some(self.inverse(d)),
            (Some(n), Some(d)) => Some(self.binary(Div, n, d)),
        };
        self.scale(Scaled { p, q, bare })
    }

    /// Returns a^b.
    pub(super) fn pow(&mut self, a: Id, b: Id) -> Id {
        if let Some(n) = self.value(b) {
            if n == 0.0 {
                return self.constant(1.0);
            }
            if n == 1.0 {
                return a;
            }
            if let Some(power) =
                self.value(a).map(|a| Pow.at(a, n)).filter(|power| power.is_finite())
            {
                return self.constant(power);
            }
            if let Node::Apply(Function::Neg, u) = self.node(a)
                && n.fract() == 0.0
            {
                let power = self.pow(u, b);
                return if n % 2.0 == 0.0 { power } else { self.neg(power) };
            }
            let (base, m) = self.whole_power(a);
            if m > 1.0 && is_whole(n) && is_whole(m * n) {
                let exponent = self.constant(m * n);
                return self.binary(Pow, base, exponent);
            }
        }
        match self.number(a) {
            Some(1.0) => a,
            Some(std::f64::consts::E) => self.apply(Function::Exp, b),
            _ => self.binary(Pow, a, b),
        }
    }

    /// Returns f(a).
    pub(super) fn apply(&mut self, function: Function, a: Id) -> Id {
        if function == Function::Neg {
            return self.neg(a);
        }
        if function == Function::Log
            && let Some(log) = self.log_of_sum(a)
        {
            return log;
        }
        match self.value(a).map(|a| function.at(a)).filter(|value| value.is_finite()) {
            Some(value) => self.constant(value),
            None => self.intern(Node::Apply(function, a)),
        }
    }
}

/// Returns whether n is a positive integer that can be added to others without rounding.
fn is_whole(n: f64) -> bool {
    n > 0.0 && n.fract() == 0.0 && n <= 1e9
}

/// Returns p/q with q > 0, in lowest terms if both are integers, and with q = 1 or p = ±1 if that
/// is exact.
fn lowest_terms(p: f64, q: f64) -> (f64, f64) {
    /// 2⁵³, up to which integers are exact.
    const EXACT: f64 = 9007199254740992.0;
    let (p, q) = if q < 0.0 { (-p, -q) } else { (p, q) };
    let whole = |n: f64| n.fract() == 0.0 && n.abs() <= EXACT;
    if p == 0.0 {
        return (0.0, 1.0);
    }
    if whole(p) && whole(q) {
        let (mut a, mut b) = (p.abs(), q);
        while b > 0.0 {
            (a, b) = (b, a % b);
        }
        return (p / a, q / a);
    }
    let exact = |a: f64, b: f64| Some(a / b).filter(|r| r.is_normal() && r.mul_add(b, -a) == 0.0);
    match (exact(p, q), exact(q, p)) {
        (Some(ratio), _) => (ratio, 1.0),
        (None, Some(ratio)) => (ratio.signum(), ratio.abs()),
        (None, None) => (p, q),
    }
}
