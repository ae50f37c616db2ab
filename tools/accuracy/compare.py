"""The Rust example `evaluate` against the proved values of `stable_law`.

Errors are relative to the value, except that of the score's derivative g'',
which changes sign: it is relative to |g''| + g'^2.
"""

import math
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "golden"))
from flint import arb, ctx
from stable_law import evaluate

QUANTITIES = ("pdf", "sf", "score", "score_derivative")
PRECISION = 140  # bits in which errors are computed; references are good to 76
SMALLEST = arb(sys.float_info.min)


def run_example(program, job, points):
    """Rows of text that `evaluate job` writes for pairs of doubles, without the header."""
    text = "".join(f"{a!r},{x!r}\n" for a, x in points)
    done = subprocess.run([program, job], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    return [line.split(",") for line in done.stdout.splitlines()[1:]]


def relative(value, exact, scale):
    """|value - exact| / |scale| for a decimal number and two balls.

    Infinity is right where the exact value overflows and wrong elsewhere. Below the smallest normal double, where
    fewer digits exist, the error is relative to that double.
    """
    value = float(value)
    if math.isinf(value) and value == float(exact):
        return 0.0
    error = float(abs((arb(value) - exact).mid()) / max(abs(scale.mid()), SMALLEST))
    return math.inf if math.isnan(error) else error


def law_errors(program, points):
    """The regime and the errors of `QUANTITIES` at each (alpha, x)."""
    for (a, x), row in zip(points, run_example(program, "law", points), strict=True):
        exact = evaluate(a, x)
        ctx.prec = PRECISION
        scales = (*exact[:2], abs(exact.score), abs(exact.score_deriv) + exact.score**2)
        yield row[6], [relative(*column) for column in zip(row[2:6], exact, scales, strict=True)]


def table_errors(program, points):
    """v, rounded to single precision, and the errors of the field table in both precisions at each (alpha, v).

    The field is minus the score of the law of scale alpha^(-1/alpha): at v it is -score(v / scale) / scale.
    """
    for a, v, double, single in run_example(program, "table", points):
        ctx.prec = PRECISION + 60
        scale = arb(float(a)) ** (-1 / arb(float(a)))
        exact = -evaluate(float(a), (arb(float(v)) / scale).mid()).score
        ctx.prec = PRECISION
        exact /= scale
        yield float(v), (relative(double, exact, exact), relative(single, exact, exact))


def quantile_errors(program, points):
    """At each (alpha, q) the errors of x = isf(q) and of the exact sf(x) as a value for q; None where x overflows.

    The error of x is that of q divided by d ln sf/d ln x, good while it is small.
    """
    for a, q, x in run_example(program, "isf", points):
        if float(x) > 1e308:
            yield None
            continue
        exact = evaluate(float(a), float(x))
        ctx.prec = PRECISION
        gap = abs((exact.sf - arb(float(q))).mid())
        yield [float(gap / (exact.pdf * arb(float(x))).mid()), float(gap / arb(float(q)))]
