"""The symmetric alpha-stable law in ball arithmetic: enclosures that are proved.

The law has unit scale: its characteristic function is exp(-|w|^alpha),
0 < alpha <= 2.  For x >= 0, `evaluate` encloses

    pdf          psi(x)
    sf           P(X > x)
    score        psi'(x) / psi(x)
    score_deriv  d/dx score = psi''/psi - (psi'/psi)^2

in balls of FLINT/Arb (python-flint).  alpha and x are exact doubles.  Every
truncation or discretisation error is bounded by a proved inequality and added
to the radius of the ball; a point is accepted only when its relative radius
is below 2^-76 < 1.4e-23 (for score_deriv: relative to |score_deriv| + score^2,
since score_deriv changes sign).

Three methods cover the (alpha, x) quadrant; see `zero_series`, `tail_series`
and `ray_integral`.  alpha = 1 and alpha = 2 have closed forms.
"""

import math
from collections import namedtuple

from flint import acb, arb, ctx

TARGET_BITS = 76  # wanted relative accuracy of every value, in bits
MAX_TERMS = 1500  # longest series worth summing
MAX_TRIES = 12  # precision increases before a method is given up
LN2 = math.log(2.0)

# Balls around psi, psi', psi'' and P(X > x).
Law = namedtuple("Law", "pdf d1 d2 sf")
# A certified row: balls around the four published values.
Row = namedtuple("Row", "pdf sf score score_deriv")


def ball(value, error):
    """The ball `value` widened by the non-negative bound `error`."""
    return value + arb(0, error.abs_upper())


# --------------------------------------------------------------------------
# Published values and their accuracy
# --------------------------------------------------------------------------


def to_row(law):
    """score = psi'/psi and its derivative psi''/psi - score^2."""
    score = law.d1 / law.pdf
    return Row(law.pdf, law.sf, score, law.d2 / law.pdf - score * score)


def accuracy(row):
    """Smallest number of correct bits over the four values of a row."""
    scale = abs(row.score_deriv) + row.score * row.score
    deriv = arb(scale.mid(), row.score_deriv.rad())
    return min(v.rel_accuracy_bits() for v in (row.pdf, row.sf, row.score, deriv))


# --------------------------------------------------------------------------
# Method 1: power series at the origin
# --------------------------------------------------------------------------


def zero_plan(a, x, bits):
    """Choose the number of terms and the precision of the zero series.

    Double-precision sizes only: they steer the work, they prove nothing.
    Returns None when the terms do not get below 2^-bits of the leading ones.
    """
    log_x = math.log(x)

    def log_term(k):
        return math.lgamma((2 * k + 1) / a) - math.lgamma(2 * k + 1) + 2 * k * log_x

    g0, g1 = log_term(0), log_term(1)
    peak, last = 0.0, g0
    for k in range(1, MAX_TERMS):
        g = log_term(k)
        with_factor = g + 2 * math.log(2 * k)
        excess = max(g - g0, with_factor - g1, g + log_x - math.log(a))
        if excess < -bits * LN2:
            return k, int(bits + max(0.0, peak) / LN2) + 30
        if a <= 1 and k > 1 and g > last:
            return None
        peak, last = max(peak, with_factor - g0, with_factor - g1), g
    return None


def zero_series(a, x, plan):
    """psi(x) = 1/(pi a) sum_k (-1)^k Gamma((2k+1)/a)/(2k)! x^(2k).

    It comes from expanding cos(tx) in (1/pi) int_0^inf cos(tx) exp(-t^a) dt.
    The Taylor polynomials of cos and sin at a real argument miss by at most
    the first omitted term, and exp(-t^a) > 0, so after integration the error
    of psi, psi', psi'' and of sf = 1/2 - (1/pi) int sin(tx)/t exp(-t^a) dt is
    again at most the first omitted term.  This holds for every a > 0, whether
    the series converges (a > 1) or is only asymptotic (a <= 1).
    """
    terms, ctx.prec = plan
    a, x = arb(a), arb(x)
    x2, inv_a = x * x, 1 / a
    power = arb(1)  # (-1)^k x^(2k) / (2k)!
    s0 = s1 = s2 = si = arb(0)
    for k in range(terms + 1):
        c = ((2 * k + 1) * inv_a).gamma() * power
        if k == terms:
            break
        s0 += c
        s1 += c * (2 * k)
        s2 += c * (2 * k * (2 * k - 1))
        si += c / (2 * k + 1)
        power *= -x2 / ((2 * k + 1) * (2 * k + 2))
    k = terms
    norm = 1 / (arb.pi() * a)
    return Law(
        ball(s0, c) * norm,
        ball(s1, c * (2 * k)) * norm / x,
        ball(s2, c * (2 * k * (2 * k - 1))) * norm / x2,
        arb(0.5) - ball(si, c / (2 * k + 1)) * norm * x,
    )


# --------------------------------------------------------------------------
# Method 2: series in powers of x^-a
# --------------------------------------------------------------------------


def tail_plan(a, x, bits):
    """As `zero_plan`, for the tail series and its remainder bound."""
    log_x = math.log(x)
    log_y = log_x + (math.log(math.sin(math.pi / (2 * a))) if a > 1 else 0.0)
    first = math.lgamma(a + 1) - a * log_x
    peak, last = 0.0, math.inf
    for n in range(2, MAX_TERMS):
        base = math.lgamma(a * n + 1) - math.lgamma(n + 1)
        growth = 2 * math.log(n)
        bound = base - a * n * log_y + growth + 3 * (log_x - log_y) - first
        if bound < -bits * LN2:
            return n, int(bits + peak / LN2) + 30
        if a >= 1 and bound > last:
            return None
        peak, last = max(peak, base - a * n * log_x + growth - first), bound
    return None


def tail_series(a, x, plan):
    """psi(x) = 1/pi sum_n (-1)^(n+1) Gamma(an+1)/n! sin(pi a n/2) x^(-an-1).

    It comes from expanding exp(-t^a) in (1/pi) Re int exp(itx - t^a) dt along
    the ray arg t = phi = min(pi/2, pi/(2a)).  On that ray Re t^a >= 0, hence
    |exp(-t^a) - (N terms)| <= |t|^(aN)/N!, while |exp(itx)| = exp(-|t| y) with
    y = x sin(phi).  Integrating, the terms n >= N together are at most
    Gamma(aN+1)/N! y^(-aN-1)/pi, for every a in (0, 2]; derivatives bring
    factors t and t^2, and sf = -(1/pi) Im int exp(itx)(exp(-t^a) - 1)/t dt a
    factor 1/t, with the corresponding Gamma functions.
    """
    terms, ctx.prec = plan
    a, x = arb(a), arb(x)
    step = x ** (-a)
    power = -1 / x  # (-1)^(n+1) x^(-an-1) / n!
    s0 = s1 = s2 = si = arb(0)
    for n in range(1, terms):
        an = a * n
        power *= -step / n
        c = (an + 1).gamma() * (an / 2).sin_pi() * power
        s0 += c
        s1 += c * (an + 1)
        s2 += c * (an + 1) * (an + 2)
        si += c / an
    an = a * terms
    y = x * (1 / (2 * a)).sin_pi() if a > 1 else x
    rem = (an + 1).gamma() / arb(terms + 1).gamma() * y ** (-an - 1)
    pi = arb.pi()
    return Law(
        ball(s0, rem) / pi,
        ball(-s1 / x, rem * (an + 1) / y) / pi,
        ball(s2 / (x * x), rem * (an + 1) * (an + 2) / (y * y)) / pi,
        ball(si * x, rem * y / an) / pi,
    )


# --------------------------------------------------------------------------
# Method 3: trapezoidal rule on a rotated ray
# --------------------------------------------------------------------------


def ray_plan(a, x, bits):
    """Angle, strip half-width, step and node range of the trapezoidal rule.

    All are doubles used as exact numbers; `ray_integral` bounds the errors
    they lead to, so they need only be sensible.
    """
    top = min(math.pi, math.pi / (2 * a))
    phi = top / 2
    half_width = 0.97 * phi
    nats = bits * LN2 + 8 + abs(math.log(x))
    h = 2 * math.pi * half_width / nats
    left = -(nats + 3) / min(a, 1.0)
    right = math.log((nats + 3 * math.log(nats)) / (x * math.sin(phi)))
    first, last = math.floor(left / h), math.ceil(right / h)
    return first, last, h, phi, half_width, int(bits + abs(math.log2(x))) + 40


def ray_bounds(a, x, plan):
    """Error bounds of the sums in `ray_integral`, for r^(1+j), j = 0, 1, 2, and sf.

    In the strip |theta - phi| < d both Re t^a >= 0 and sin(theta) >= s > 0.
    Discretisation: 2M/(exp(2 pi d/h) - 1), M bounding int |f| on every line
    of the strip: M = Gamma(1+j)/(x s)^(1+j), and Gamma(a)/(x s)^a for sf.
    Left of the first node r_0: |f| <= r^(1+j) (r^a for sf), geometric sums.
    Right of the last node r_1: |f| <= r^(1+j) exp(-x r sin(phi)) (twice that
    with j = -1 for sf); ratios of successive terms decrease with r.
    """
    first, last, h, phi, d, _ = plan
    h, phi, d = arb(h), arb(phi), arb(d)
    s = min((phi - d).sin().lower(), (phi + d).sin().lower())
    strip = 2 / ((2 * arb.pi() * d / h).exp() - 1)
    r0, r1 = ((first - 1) * h).exp(), ((last + 1) * h).exp()
    decay = x * r1 * phi.sin()
    bounds = []
    for power, left_power, const in ((1, 1, 1), (2, 2, 1), (3, 3, 1), (0, a, 2)):
        m = arb(left_power).gamma() / (x * s) ** arb(left_power)
        left = h * r0 ** arb(left_power) / (1 - (-left_power * h).exp())
        ratio = (power * h - decay * (h.exp() - 1)).exp()
        assert ratio < 1
        right = const * h * r1**power * (-decay).exp() / (1 - ratio)
        bounds.append(strip * m + left + right)
    return bounds


def ray_integral(a, x, plan):
    """psi^(j)(x) = (1/pi) Re int (it)^j exp(itx - t^a) dt along arg t = phi.

    With t = exp(u + i phi) the integrand is analytic in the strip
    0 < arg t < min(pi, pi/(2a)) of the u plane and decays at both ends, so
    the trapezoidal rule in u converges exponentially, with the error bounded
    in `ray_bounds`.  sf = -(1/pi) Im int exp(itx)(exp(-t^a) - 1) du is summed
    on the same nodes and has no cancellation against 1/2.
    """
    first, last, h, phi, _, ctx.prec = plan
    a, x = arb(a), arb(x)
    bounds = ray_bounds(a, x, plan)
    h, phi = arb(h), arb(phi)
    unit = acb(0, phi).exp()
    r, ra = (first * h).exp(), (first * h * a).exp()
    q, qa = h.exp(), (h * a).exp()
    cx, ca = acb(0, x) * unit, -acb(0, phi * a).exp()
    s0 = s1 = s2 = si = acb(0)
    for _ in range(first, last + 1):
        wave, damp = (cx * r).exp(), (ca * ra).exp()
        f = wave * damp
        si += f - wave
        f *= r
        s0 += f
        f *= r
        s1 += f
        s2 += f * r
        r *= q
        ra *= qa
    pi, i_unit = arb.pi(), acb(0, 1) * unit
    return Law(
        ball((s0 * unit).real * h, bounds[0]) / pi,
        ball((s1 * unit * i_unit).real * h, bounds[1]) / pi,
        ball((s2 * unit * i_unit * i_unit).real * h, bounds[2]) / pi,
        ball(-si.imag * h, bounds[3]) / pi,
    )


# --------------------------------------------------------------------------
# Closed forms
# --------------------------------------------------------------------------


def cauchy(x):
    """alpha = 1: psi = 1/(pi (1 + x^2)), sf = atan(1/x)/pi."""
    x = arb(x)
    w = 1 + x * x
    pi = arb.pi()
    return Law(
        1 / (pi * w), -2 * x / (pi * w**2), (6 * x * x - 2) / (pi * w**3), (1 / x).atan() / pi
    )


def gauss(x):
    """alpha = 2: psi = exp(-x^2/4)/(2 sqrt(pi)), sf = erfc(x/2)/2."""
    x = arb(x)
    pdf = (-x * x / 4).exp() / (2 * arb.pi().sqrt())
    return Law(pdf, -x / 2 * pdf, (x * x / 4 - arb(0.5)) * pdf, (x / 2).erfc() / 2)


def origin(a):
    """x = 0: Gamma(1/a)/(pi a), 1/2, 0 and Gamma(3/a)/Gamma(1/a)."""
    ctx.prec = 200
    a = arb(a)
    g1, g3 = (1 / a).gamma(), (3 / a).gamma()
    return Row(g1 / (arb.pi() * a), arb(0.5), arb(0), g3 / g1)


# --------------------------------------------------------------------------
# Choice of method and certification
# --------------------------------------------------------------------------

# name: (plan, evaluation, estimated cost in microseconds)
METHODS = {
    "zero": (zero_plan, zero_series, lambda plan: plan[0] * (4 + plan[1] / 50)),
    "tail": (tail_plan, tail_series, lambda plan: plan[0] * (5 + plan[1] / 50)),
    "ray": (ray_plan, ray_integral, lambda plan: (plan[1] - plan[0]) * (5 + plan[5] / 100)),
}


def expected_loss(a, x):
    """Rough number of bits by which psi(x) lies below the leading terms."""
    if a <= 1 or x <= 1:
        return 0.0
    tail = (
        math.lgamma(a + 1)
        - (a + 1) * math.log(x)
        + math.log(math.sin(math.pi * (2 - a) / 2) + 1e-300)
    )
    return -max(tail, -x * x / 4) / LN2


def run_method(name, a, x, bits, target):
    """Evaluate by one method, raising the precision until certified.

    Returns the row, or None when the method cannot reach the target.
    """
    plan_of, evaluate, _ = METHODS[name]
    xf = float(x)
    for _ in range(MAX_TRIES):
        plan = plan_of(a, xf, bits)
        if plan is None:
            return None
        row = to_row(evaluate(a, x, plan))
        got = accuracy(row)
        if got >= target:
            return row
        bits += max(target - got, 0) + 6 if got > 0 else 64
    return None


def closed_form(a, x, target):
    """Row at alpha = 1 or 2, at a precision raised until certified."""
    for prec in (200, 400, 800, 1600):
        ctx.prec = prec
        row = to_row(cauchy(x) if a == 1 else gauss(x))
        if accuracy(row) >= target:
            return row
    raise ArithmeticError(f"closed form failed at alpha={a!r} x={x!r}")


def evaluate(a, x, target=TARGET_BITS, used=None):
    """Certified row at the exact alpha and x, by the cheapest able method.

    x is a double, or an exact arb for the quantiles.
    """
    if x == 0:
        return origin(a)
    if a == 1 or a == 2:
        return closed_form(a, x, target)
    xf = float(x)
    bits = target + 8 + int(expected_loss(a, xf))
    plans = {name: m[0](a, xf, bits) for name, m in METHODS.items()}
    able = [name for name, plan in plans.items() if plan is not None]
    for name in sorted(able, key=lambda name: METHODS[name][2](plans[name])):
        row = run_method(name, a, x, bits, target)
        if row is not None:
            if used is not None:
                used[name] += 1
            return row
    raise ArithmeticError(f"no method reached the target at alpha={a!r} x={x!r}")
