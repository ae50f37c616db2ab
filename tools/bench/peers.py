#!/usr/bin/env python3
"""The benchmarks beside numpy and scipy doing the same on this machine, as one table.

Ours are the medians that criterion left under target/criterion; the peers are measured here, on one thread, best
of three.  Without numpy and scipy the table shows ours alone.

"middle" is x uniform in (0.1, 15); ours keeps to those where the law is an integral, which are the slow ones, and
scipy, to which all x cost about the same, takes all.

Usage: python tools/bench/peers.py [directory of criterion]
"""

import json
import os
import sys
import time
import warnings
from collections import namedtuple
from functools import cache
from pathlib import Path

from table import met, show

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when numpy is imported

try:
    import numpy as np
    from scipy.stats import levy_stable

    missing = None
except ImportError as error:
    missing = error

# The peer's points and the peer; `least`: results a second that are wanted; `most`: seconds that
# are allowed.
Row = namedtuple("Row", "what points peer least most", defaults=(None, None, None, None))

# By criterion's group and function, in the order of the table.
ROWS = {
    "pdf/middle": Row("pdf, middle", "middle", "scipy pdf", least=1e6),
    "pdf/drawn": Row("pdf, drawn x", "drawn", "scipy pdf", least=1e6),
    "score/middle": Row("score, middle", "middle", "scipy logpdf, differences", least=1e6),
    "score/drawn": Row("score, drawn x", "drawn", "scipy logpdf, differences", least=1e6),
    "sf/middle": Row("sf, middle", "middle", "scipy sf"),
    "sf/drawn": Row("sf, drawn x", "drawn", "scipy sf"),
    "quantile/uniform": Row("quantile", "uniform", "scipy ppf", least=5e5),
    "table/eval_into": Row(
        "FieldTable::eval_into", "drawn", "scipy logpdf, differences", least=2e8
    ),
    "table/eval_into_f32": Row(
        "FieldTable::eval_into_f32", "drawn", "scipy logpdf, differences", least=5e8
    ),
    "sampling/fill": Row("Sampler::fill", "none", "numpy CMS", least=1e8),
    "sampling/fill_f32": Row("Sampler::fill_f32", "none", "numpy CMS, float32"),
    "sampling/sample": Row("SymmetricStable::sample", "none", "numpy CMS"),
    "law/new": Row("SymmetricStable::new"),
    "sampling/new": Row("Sampler::new"),
    "table/new": Row("FieldTable::new", most=0.020),
    "chains/quartic, Euler, 1 threads": Row(
        "FULD chains, Euler", "none", "numpy, the same chains", least=5e7
    ),
    "chains/quartic, Euler, 2 threads": Row("... on two cores", "none", "numpy, the same chains"),
    "chains/quartic, BAOAB, 1 threads": Row("FULD chains, BAOAB", "none", "numpy, the same chains"),
    "chains/d = 1000, Euler, 1 threads": Row(
        "FULD coordinates, d = 1000", "none", "numpy, the same chains", least=6e7
    ),
}


def chambers_mallows_stuck(rng, alpha, count, dtype):
    """Draws as one writes them by hand: no scale, no skewness, no checks."""
    a, one = dtype(alpha), dtype(1)
    phi = dtype(np.pi) * (rng.random(count, dtype=dtype) - dtype(0.5))
    wait = rng.standard_exponential(count, dtype=dtype)
    turn = (np.cos((one - a) * phi) / wait) ** ((one - a) / a)
    return np.sin(a * phi) / np.cos(phi) ** (one / a) * turn


def differences(law, x):
    """The score by one central difference of ln pdf: two densities a point, for half of their digits."""
    h = 1e-4
    left, right = np.split(law.logpdf(np.concatenate([x - h, x + h])), 2)
    return (right - left) / (2 * h)


def euler_chains(rng, alpha, steps, chains=4096):
    """The paper's scheme on the quartic as one vectorises it in numpy, with the paper's linear interpolation of the field.

    What is tabulated does not change the time: it is the field of alpha = 1, which has a closed form.
    """
    eta, gamma, grid = 0.01, 10.0, np.linspace(-100, 100, 20001)
    field = 2 * grid / (1 + grid**2)
    scale = (eta * gamma) ** (1 / alpha)
    x, v = rng.standard_normal(chains), np.zeros(chains)
    for _ in range(steps):
        noise = chambers_mallows_stuck(rng, alpha, chains, np.float64)
        v = (1 - gamma * eta) * v - eta * (x**3 - x) + scale * noise
        x = np.clip(x + eta * np.interp(v, grid, field), -10, 10)


def prepare(points, peer, alpha):
    """How many results the peer makes at a time, and the job that makes them."""
    rng = np.random.default_rng(1)
    if peer == "numpy, the same chains":
        return 4096 * 400, lambda: euler_chains(rng, alpha, 400)
    if peer.startswith("numpy"):
        dtype = np.float32 if "float32" in peer else np.float64
        size, rounds = 1 << 13, 40  # stays in the cache, where numpy is fastest
        return size * rounds, lambda: [
            chambers_mallows_stuck(rng, alpha, size, dtype) for _ in range(rounds)
        ]
    match points:
        case "middle":
            x = rng.uniform(0.1, 15, 300)
        case "drawn":
            x = chambers_mallows_stuck(rng, alpha, 300, np.float64)
        case "uniform":
            x = rng.random(30)  # each is a search for a root
    law = levy_stable(alpha, 0)
    match peer:
        case "scipy pdf":
            return len(x), lambda: law.pdf(x)
        case "scipy sf":
            return len(x), lambda: law.sf(x)
        case "scipy ppf":
            return len(x), lambda: law.ppf(x)
        case "scipy logpdf, differences":
            return len(x), lambda: differences(law, x)


@cache
def peer_rate(points, peer, alpha):
    """Results a second of a peer, best of three."""
    count, job = prepare(points, peer, alpha)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return count / min(times)


def read_ours(directory):
    """Seconds a result, by (group/function, alpha)."""
    ours = {}
    for path in directory.glob("**/new/benchmark.json"):
        about = json.loads(path.read_text())
        estimates = json.loads(path.with_name("estimates.json").read_text())
        if not about["throughput"] or f"{about['group_id']}/{about['function_id']}" not in ROWS:
            continue  # of another table
        key = f"{about['group_id']}/{about['function_id']}", float(about["value_str"])
        ours[key] = estimates["median"]["point_estimate"] * 1e-9 / about["throughput"]["Elements"]
    return ours


def millions(rate):
    """A rate in millions a second, to three digits or what six decimals show."""
    for digits in range(6):
        if rate >= 1e8 / 10**digits:
            return f"{rate / 1e6:.{digits}f}"
    return f"{rate / 1e6:.6f}"


def duration(seconds):
    return f"{seconds * 1e3:.2f} ms" if seconds > 1e-4 else f"{seconds * 1e6:.2f} us"


def cells(row, alpha, seconds):
    """One line of the table."""
    rate = 1 / seconds
    line = [row.what, f"{alpha:g}", millions(rate) if row.peer else duration(seconds)]
    if row.peer and not missing:
        theirs = peer_rate(row.points, row.peer, alpha)
        line += [
            row.peer,
            millions(theirs),
            f"{rate / theirs:,.{0 if rate > 100 * theirs else 1}f}",
        ]
    else:
        line += ["", "", ""]
    if row.least:
        line += [f">= {row.least / 1e6:g} M/s", "yes" if rate >= row.least else "NO"]
    elif row.most:
        line += [f"<= {row.most * 1e3:g} ms", "yes" if seconds <= row.most else "NO"]
    else:
        line += ["", ""]
    return line


def main():
    root = Path(__file__).resolve().parents[2]
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "target" / "criterion"
    ours = read_ours(directory)
    if not ours:
        sys.exit(f"no estimates under {directory}: run cargo bench first")
    if missing:
        print(f"\nnumpy and scipy are not at hand ({missing}): ours alone\n")
    else:
        warnings.simplefilter("ignore")  # scipy's integrals complain here and there
        print("\nmeasuring the peers ...\n", flush=True)
    table = [["what", "alpha", "ours, M/s", "peer", "peer, M/s", "ratio", "target", "met"]]
    for name, row in ROWS.items():
        for alpha in sorted(alpha for key, alpha in ours if key == name):
            table.append(cells(row, alpha, ours[name, alpha]))
    show(table, "<>><>><<")
    print(f"\n{met(table)}")
    if not missing:
        print(
            "at alpha = 0.5 scipy's density is a closed form (Fresnel integrals), elsewhere an integral"
        )


if __name__ == "__main__":
    main()
