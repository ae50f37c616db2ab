"""Golden values of the symmetric alpha-stable law, for the tests of levy-stable.

`make golden` in the root of the workspace installs what this needs and writes
crates/levy-stable/tests/golden/{random,small,quantile,entropy}.csv again.  The
values come from `stable_law`, which proves them.  Run by hand:

    pip install -r tools/golden/requirements.txt
    python tools/golden/make_golden.py random    # 24,000 random points, to stdout
    python tools/golden/make_golden.py small     # a regular grid
    python tools/golden/make_golden.py quantile  # upper quantiles
    python tools/golden/make_golden.py entropy   # differential entropies
    python tools/golden/make_golden.py selftest  # the methods against each other
    python tools/golden/make_golden.py --check FILE   # columns alpha,x,pdf,cdf,score,score_deriv
"""

import argparse
import csv
import math
import random
import sys
import time
from collections import Counter

from flint import arb, ctx
from stable_law import METHODS, TARGET_BITS, closed_form, evaluate, expected_loss, run_method

DIGITS = 20  # significant decimal digits printed


# --------------------------------------------------------------------------
# Point sets
# --------------------------------------------------------------------------


def short(value, digits=7):
    """The double nearest to `value` rounded in decimal, to keep files small."""
    return float(f"{value:.{digits}g}")


def random_points(seed=20240607):
    """The seven classes of (class, alpha, x), deterministic given the seed."""
    rng = random.Random(seed)
    uni = rng.uniform

    def alpha(lo, hi):
        return short(uni(lo, hi), 8)

    def power(lo, hi):
        return short(10.0 ** uni(lo, hi))

    for _ in range(8000):
        yield "bulk", alpha(0.3, 2), power(-3, 3)
    for _ in range(4000):
        yield "mid", alpha(0.3, 2), short(uni(0.05, 30))
    for _ in range(3000):
        yield "one", 1 + rng.choice((-1, 1)) * 10.0 ** uni(-15.5, -1), power(-3, 3)
    for i in range(3000):
        x = power(-3, 3) if i % 3 == 0 else short(uni(0.1, 30))
        yield "two", 2 - 10.0 ** uni(-15.6, -1), x
    for _ in range(3000):
        yield "small", alpha(0.1, 0.3), power(-20, 20)
    for _ in range(2000):
        yield "far", alpha(0.3, 2), power(-300, 300)
    for _ in range(1000):
        yield "tiny", short(10.0 ** uni(-2.5, -1), 8), power(-100, 100)


SMALL_ALPHAS = "0.1 0.3 0.5 0.7 0.9 0.95 0.99 0.999 1 1.001 1.01 1.05 1.1 1.25 1.3 1.5 1.7 1.75 1.9 1.95 1.99 1.999 2"
SMALL_XS = "0 1e-8 1e-6 1e-4 1e-3 1e-2 0.03 0.1 0.2 0.35 0.5 0.75 1 1.5 2 3 4 5 6.5 8 10 14 20 30 60 100 1000 1e4 1e6"


def small_points():
    """A regular grid of 23 alphas and 29 x, the origin included."""
    for a in SMALL_ALPHAS.split():
        for x in SMALL_XS.split():
            yield float(a), float(x)


# --------------------------------------------------------------------------
# Files
# --------------------------------------------------------------------------


def dec(value, digits=DIGITS):
    """Decimal digits of the midpoint of a ball."""
    return arb(value).mid().str(digits, radius=False)


def header(command, columns, *notes):
    """Comment lines naming the command, then the column names."""
    print(f"# made by: python make_golden.py {command}")
    for note in notes:
        print(f"# {note}")
    print(columns)


VALUES_NOTE = "unit scale, characteristic function exp(-|w|^alpha); alpha and x are exact doubles"


def write_random():
    """The random point set, with progress on stderr."""
    header("random", "class,alpha,x,pdf,sf,score,score_deriv", VALUES_NOTE)
    used, start = Counter(), time.time()
    for i, (name, a, x) in enumerate(random_points(), 1):
        row = evaluate(a, x, used=used)
        print(name, repr(a), repr(x), *map(dec, row), sep=",")
        if i % 1000 == 0:
            print(f"{i} points, {time.time() - start:.0f} s, {dict(used)}", file=sys.stderr)


def write_small():
    """The regular grid."""
    header("small", "alpha,x,pdf,sf,score,score_deriv", VALUES_NOTE)
    for a, x in small_points():
        print(repr(a), repr(x), *map(dec, evaluate(a, x)), sep=",")


# --------------------------------------------------------------------------
# Quantiles
# --------------------------------------------------------------------------


def newton_step(a, u, log_q):
    """Newton step for log sf(exp(u)) = log q, and whether x is too small."""
    x = u.exp().mid()
    row = evaluate(a, x, TARGET_BITS + 40)
    ctx.prec = 160
    gap = row.sf.log() - log_q
    return u + (gap * row.sf / (x * row.pdf)).mid(), gap > 0


def quantile(a, q):
    """x with P(X > x) = q, certified to a relative 2^-73.

    Newton's method in log x, kept inside a bracket.  The result is proved
    by sf(x (1 - e)) > q > sf(x (1 + e)) with e = 2^-73, both strict for the
    balls, as sf is strictly decreasing.
    """
    ctx.prec = 160
    target = arb(q)
    lo, hi = arb(-60), arb(160)
    u = arb(-0.5 - math.log(2 * q) / a).mid()
    for _ in range(200):
        nxt, above = newton_step(a, u, target.log())
        lo, hi = (u, hi) if above else (lo, u)
        if not (lo < nxt < hi):
            nxt = (lo + hi) / 2
        nxt, moved = nxt.mid(), abs(nxt - u)
        u = nxt
        if moved < 1e-30:
            break
    x, eps = u.exp().mid(), arb(2) ** -73
    below = evaluate(a, (x * (1 - eps)).mid(), TARGET_BITS + 40).sf
    beyond = evaluate(a, (x * (1 + eps)).mid(), TARGET_BITS + 40).sf
    if not (below > target > beyond):
        raise ArithmeticError(f"quantile not certified at alpha={a!r} q={q!r}")
    return x


def write_quantile(count=400, seed=20240608):
    """Random upper quantiles."""
    header("quantile", "alpha,q,x", VALUES_NOTE.replace("and x", "and q"), "P(X > x) = q")
    rng = random.Random(seed)
    for _ in range(count):
        a = short(rng.uniform(0.3, 2), 9)
        q = short(10.0 ** rng.uniform(-12, math.log10(0.5)))
        print(repr(a), repr(q), dec(quantile(a, q)), sep=",")


# --------------------------------------------------------------------------
# Entropy
# --------------------------------------------------------------------------


def entropy_term(a, u):
    """-2 exp(u) psi ln psi at x = exp(u): the entropy integrand in u = ln x."""
    ctx.prec = 120
    x = arb(u).exp().mid()
    pdf = evaluate(a, x).pdf
    ctx.prec = 120
    return (-2 * x * pdf * pdf.log()).mid()


def entropy_sum(a, h, offset):
    """Sum of `entropy_term` over u = (k + offset) h, both ways from u = 0.

    Stops once terms are below 1e-21 for good: they decay like exp(u) to the
    left and, as u exp(-alpha u), to the right.
    """
    total = arb(0)
    for sign in (-1, 1):
        k = 0 if sign > 0 else -1
        while True:
            u = (k + offset) * h
            term = entropy_term(a, u)
            total = (total + term).mid()
            if abs(u) > 3 and abs(term) < 1e-21:
                break
            k += sign
    return total


def entropy(a, tolerance=1e-16):
    """-int psi ln psi by the trapezoidal rule in ln x.

    The rule converges exponentially; the step is halved, reusing all nodes,
    until two successive values agree to `tolerance`, so the last one is far
    more accurate still.
    """
    if a == 1:
        return (4 * arb.pi()).log()
    if a == 2:
        return (4 * arb.pi()).log() / 2 + arb(0.5)
    h, total = 0.25, entropy_sum(a, 0.25, 0.0)
    value = total * h
    while True:
        total += entropy_sum(a, h, 0.5)
        h /= 2
        old, value = value, total * h
        print(f"alpha {a} h {h} entropy {dec(value)}", file=sys.stderr)
        if abs(value - old) < tolerance:
            return value


ENTROPY_ALPHAS = (0.3, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 1.9, 1.99, 2.0)


def write_entropy():
    """Differential entropy in nats for a few alphas."""
    notes = "differential entropy in nats, unit scale", "16 digits are meant to be right"
    header("entropy", "alpha,entropy", *notes)
    for a in ENTROPY_ALPHAS:
        ctx.prec = 120
        print(repr(a), dec(entropy(a), 18), sep=",", flush=True)


# --------------------------------------------------------------------------
# Checks
# --------------------------------------------------------------------------


def overlap(row, other):
    """Whether two certified rows can enclose the same numbers."""
    return all(p.overlaps(q) for p, q in zip(row, other, strict=True))


def selftest_points(seed=1):
    """Points for `selftest`: around and at the closed forms, and random ones."""
    rng = random.Random(seed)
    for a in (1.0, 2.0, 1 + 1e-12, 1 - 1e-12, 2 - 1e-12):
        for _ in range(60):
            yield a, 10.0 ** rng.uniform(-2, 1.3)
    for _, a, x in list(random_points())[::37]:
        if a > 0.05 and abs(math.log(x)) < 25 and x ** min(a, 1) > 1e-4:
            yield a, x  # elsewhere `ray_integral` would be slow


def selftest():
    """Compare all able methods with each other, and with the closed forms.

    Every method gives proved enclosures, so any two must overlap.
    """
    pairs = Counter()
    for a, x in selftest_points():
        bits = TARGET_BITS + 8 + int(expected_loss(min(a, 1.9999), x))
        rows = {name: run_method(name, a, x, bits, TARGET_BITS) for name in METHODS}
        if a in (1, 2):
            rows["closed"] = closed_form(a, x, TARGET_BITS)
        found = [(name, row) for name, row in rows.items() if row is not None]
        for j, (name, row) in enumerate(found):
            for other, value in found[:j]:
                if not overlap(row, value):
                    sys.exit(f"{name} and {other} disagree at alpha={a!r} x={x!r}")
                pairs[name, other] += 1
    for names, n in sorted(pairs.items()):
        print(*names, n, "agree")


def check(path):
    """Largest relative disagreement with a file of pdf, cdf, score, score_deriv."""
    worst = {}
    with open(path, newline="") as handle:
        rows = list(csv.DictReader(line for line in handle if not line.startswith("#")))
    for line in rows:
        a, x = float(line["alpha"]), float(line["x"])
        row = evaluate(a, x)
        ctx.prec = 200
        mine = {
            "pdf": row.pdf,
            "cdf": 1 - row.sf,
            "score": row.score,
            "score_deriv": row.score_deriv,
        }
        for name, value in mine.items():
            scale = abs(value) + (row.score**2 if name == "score_deriv" else 0)
            gap = abs(value - arb(line[name]))
            relative = float(gap.mid() / scale.mid()) if scale != 0 else float(gap.mid())
            worst[name] = max(worst.get(name, (-1.0,)), (relative, a, x))
    print(f"{len(rows)} rows")
    for name, (relative, a, x) in worst.items():
        print(f"{name:12s} largest relative difference {relative:.3e} at alpha={a!r} x={x!r}")


def main():
    """Command line."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    jobs = {
        "random": write_random,
        "small": write_small,
        "quantile": write_quantile,
        "entropy": write_entropy,
        "selftest": selftest,
    }
    parser.add_argument("job", nargs="?", choices=sorted(jobs))
    parser.add_argument("--check", metavar="FILE", help="compare with a csv of reference values")
    args = parser.parse_args()
    if args.check:
        check(args.check)
    elif args.job:
        jobs[args.job]()
    else:
        parser.error("name a job or --check FILE")


if __name__ == "__main__":
    main()
