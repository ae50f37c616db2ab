#!/usr/bin/env python3
"""The law of the Python package beside numpy and scipy doing the same in the same run, as one table.

Rates are the best of some rounds, in which ours with one thread and the peer, which has one, take turns; ours with all
threads are measured in a process of their own. Errors are the worst relative ones at a sample of the golden values of levy-stable, for every
alpha >= 0.5 in them, and the share of the peer's that are above 1e-6; of the table, what it promises.

Usage: python tools/bench/python_law.py
"""

import json
import os
import subprocess
import sys
import time
import warnings
from collections import namedtuple
from pathlib import Path

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when numpy is imported
ALL_CORES = sys.argv[1:] == ["all-cores"]
if not ALL_CORES:
    os.environ["RAYON_NUM_THREADS"] = "1"  # read when ours first shares work

import numpy as np
from fuld import SymmetricStable, field_table
from scipy.stats import levy_stable
from table import met, show

GOLDEN = Path(__file__).resolve().parents[2] / "crates" / "levy-stable" / "tests" / "golden"

# What is measured, the peer, and by how much ours is wanted to be faster.
Row = namedtuple("Row", "function alpha count dtype peer wanted", defaults=(None,))

ROWS = [
    *(Row("rvs", 1.5, n, "float64", "numpy CMS", 5) for n in (10**6, 10**7)),
    *(Row("rvs", 1.5, n, "float32", "numpy CMS, rounded", 5) for n in (10**6, 10**7)),
    *(Row("rvs", 1.5, n, "float32", "numpy CMS in float32") for n in (10**6, 10**7)),
    *(Row("pdf", alpha, 10**5, "float64", "scipy pdf", 300) for alpha in (0.8, 1.5, 1.9)),
    *(Row("cdf", alpha, 10**5, "float64", "scipy cdf") for alpha in (0.8, 1.5, 1.9)),
    *(Row("ppf", alpha, 10**5, "float64", "scipy ppf", 1000) for alpha in (0.8, 1.5, 1.9)),
    *(
        Row("score", alpha, 10**5, "float64", "scipy logpdf, differences")
        for alpha in (0.8, 1.5, 1.9)
    ),
    Row("field_table", 1.5, 10**6, "float64", "scipy logpdf, differences"),
    Row("field_table", 1.5, 10**6, "float32", "scipy logpdf, differences"),
]


def chambers_mallows_stuck(rng, alpha, count, dtype):
    """Draws as numpy makes them fastest: in blocks that stay in the cache, in place, both powers in one exponential."""
    block = 1 << 13
    a, one, pi, half = dtype(alpha), dtype(1), dtype(np.pi), dtype(0.5)
    out, phi, wait, cos = np.empty(count, dtype), *np.empty((3, min(block, count)), dtype)
    for start in range(0, count, block):
        x = out[start : start + block]
        p, w, c = phi[: x.size], wait[: x.size], cos[: x.size]
        rng.random(dtype=dtype, out=p)
        p -= half
        p *= pi
        rng.standard_exponential(dtype=dtype, out=w)
        np.multiply(p, one - a, out=x)
        np.cos(x, out=x)
        x /= w
        np.log(x, out=x)
        x *= one - a
        np.cos(p, out=c)
        np.log(c, out=c)
        x -= c
        x /= a
        np.exp(x, out=x)
        p *= a
        np.sin(p, out=p)
        x *= p
    return out


def differences(law, x):
    """The score by one central difference of ln pdf: two densities a point, for half of their digits."""
    h = 1e-4
    left, right = np.split(law.logpdf(np.concatenate([x - h, x + h])), 2)
    return (right - left) / (2 * h)


def points(row, count):
    """Probabilities for quantiles, else draws of the law."""
    rng = np.random.default_rng(1)
    if row.function == "ppf":
        return rng.random(count)
    return SymmetricStable(row.alpha).rvs(count, rng, row.dtype)


def our_job(row):
    """The job that makes the results of ours."""
    law = SymmetricStable(row.alpha)
    if row.function == "rvs":
        rng = np.random.default_rng(1)
        return lambda: law.rvs(row.count, rng, row.dtype)
    x = points(row, row.count)
    if row.function == "field_table":
        field, out = field_table(row.alpha, row.dtype), np.empty_like(x)
        return lambda: field(x, out=out)
    return lambda: getattr(law, row.function)(x)


def peer_job(row):
    """How many results the peer makes at a time, and the job that makes them."""
    rng = np.random.default_rng(1)
    match row.peer:
        case "numpy CMS":
            return row.count, lambda: chambers_mallows_stuck(rng, row.alpha, row.count, np.float64)
        case "numpy CMS, rounded":
            return row.count, lambda: chambers_mallows_stuck(
                rng, row.alpha, row.count, np.float64
            ).astype(np.float32)
        case "numpy CMS in float32":
            return row.count, lambda: chambers_mallows_stuck(rng, row.alpha, row.count, np.float32)
    law = levy_stable(row.alpha, 0)
    x = points(row, 30 if row.function == "ppf" else 300).astype(float)
    if row.peer.endswith("differences"):
        return len(x), lambda: differences(law, x)
    return len(x), lambda: getattr(law, row.function)(x)


def best_times(*jobs, rounds=5):
    """Seconds of each job, best of some rounds in which they take turns."""
    times = [[] for _ in jobs]
    for _ in range(rounds):
        for job, own in zip(jobs, times, strict=True):
            start = time.perf_counter()
            job()
            own.append(time.perf_counter() - start)
    return [min(own) for own in times]


def rates_of_all_cores():
    """Ours in a process that may have all threads."""
    environment = {name: value for name, value in os.environ.items() if name != "RAYON_NUM_THREADS"}
    command = [sys.executable, __file__, "all-cores"]
    return json.loads(
        subprocess.run(command, env=environment, check=True, capture_output=True).stdout
    )


def golden(file, count):
    """A sample of the rows of a golden file that doubles can hold, by column."""
    lines = [line for line in (GOLDEN / file).read_text().splitlines() if not line.startswith("#")]
    names, *rows = (line.split(",") for line in lines)
    columns = {
        name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }
    columns.pop("class", None)
    columns = {name: column.astype(float) for name, column in columns.items()}
    usual = columns["alpha"] >= 0.5
    for name in ("x", "pdf", "sf"):
        if name in columns:
            usual &= (columns[name] > 1e-290) & (columns[name] < 1e290)
    chosen = np.random.default_rng(1).permutation(np.flatnonzero(usual))[:count]
    return {name: column[chosen] for name, column in columns.items()}


def worst_errors():
    """Ours and the peer's by function, and the share of the peer's that are above 1e-6."""
    rows, quantiles = golden("random.csv", 400), golden("quantile.csv", 100)
    x, q = rows["x"], quantiles["q"]
    exact = {"pdf": rows["pdf"], "cdf": rows["sf"], "ppf": quantiles["x"], "score": rows["score"]}
    law = SymmetricStable(rows["alpha"])
    ours = {
        "pdf": law.pdf(x),
        "cdf": law.cdf(-x),
        "ppf": -SymmetricStable(quantiles["alpha"]).ppf(q),
        "score": law.score(x),
    }

    def scipys(alpha, function, values):
        laws = [levy_stable(a, 0) for a in alpha]
        return np.array([function(law, value) for law, value in zip(laws, values, strict=True)])

    theirs = {
        "pdf": scipys(rows["alpha"], lambda law, x: law.pdf(x), x),
        "cdf": scipys(rows["alpha"], lambda law, x: law.cdf(-x), x),
        "ppf": scipys(quantiles["alpha"], lambda law, q: -law.ppf(q), q),
        "score": scipys(rows["alpha"], lambda law, x: differences(law, np.array([x]))[0], x),
    }

    def relative(values):
        # What is NaN has no digit right.
        return {
            name: np.nan_to_num(np.abs(values[name] / exact[name] - 1), nan=1.0) for name in exact
        }

    ours, theirs = relative(ours), relative(theirs)
    return [
        {name: np.max(error) for name, error in errors.items()} for errors in (ours, theirs)
    ] + [{name: np.mean(error > 1e-6) for name, error in theirs.items()}]


def millions(rate):
    """A rate in millions a second, to three digits or what six decimals show."""
    digits = next((digits for digits in range(6) if rate >= 1e8 / 10**digits), 6)
    return f"{rate / 1e6:.{digits}f}"


def ratio(ours, theirs):
    return f"{ours / theirs:,.{0 if ours > 100 * theirs else 1}f}"


def main():
    warnings.simplefilter("ignore")  # scipy's integrals and numpy's float32 complain here and there
    print("measuring ...\n", flush=True)
    all_cores = rates_of_all_cores()
    our_errors, their_errors, off = worst_errors()
    head = [
        "what",
        "alpha",
        "values",
        "ours, M/s",
        f"{os.cpu_count()} cores",
        "peer",
        "peer, M/s",
        "ratio",
    ]
    table = [[*head, "all cores", "our error", "peer's error", "> 1e-6", "target", "met"]]
    for row, shared in zip(ROWS, all_cores, strict=True):
        peer_count, job = peer_job(row)
        ours, peer = best_times(our_job(row), job)
        ours, peer = row.count / ours, peer_count / peer
        what = (
            f"{row.function}, {row.dtype}"
            if row.function in ("rvs", "field_table")
            else row.function
        )
        line = [
            what,
            f"{row.alpha:g}",
            f"1e{len(str(row.count)) - 1}",
            millions(ours),
            millions(shared),
            row.peer,
        ]
        line += [millions(peer), ratio(ours, peer), ratio(shared, peer)]
        if row.function == "rvs":
            line += ["", "", ""]
        else:
            name = row.function.removesuffix("_table")
            bound = {"float64": "1e-12", "float32": "2e-7"}[row.dtype]
            line += [bound if name != row.function else f"{our_errors[name]:.0e}"]
            line += [f"{their_errors[name]:.0e}", f"{off[name]:.0%}"]
        line += [f">= {row.wanted}" if row.wanted else "", ""]
        if row.wanted:
            line[-1] = "yes" if ours >= row.wanted * peer else "NO"
        table.append(line)
    show(table, "<>>>><>>>>>>><")
    print(f"\n{met(table)}, all of them with one thread")
    print(
        "\nnumpy's uniform numbers in float32 have 24 bits: one draw in 2**24 is NaN, and nothing rarer than that is drawn."
    )
    print(
        "Ours have 64 bits and are rounded last, so the peer with the same law is the one that is rounded, too."
    )


if __name__ == "__main__":
    if ALL_CORES:
        print(json.dumps([row.count / best_times(our_job(row))[0] for row in ROWS]))
    else:
        main()
