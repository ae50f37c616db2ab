"""Golden values of Kummer's function and of the flow it drives, for the tests of fuld.

pip install mpmath==1.4.1
python tools/golden/kummer_golden.py kummer > crates/fuld/tests/golden/kummer.csv
python tools/golden/kummer_golden.py flow > crates/fuld/tests/golden/gaussian_flow.csv
"""

import random
import sys

import mpmath
from mpmath import mp, mpf

mp.dps = 40


def short(value, digits=7):
    """The double nearest to `value` rounded in decimal, to keep files small."""
    return float(f"{value:.{digits}g}")


def kummer():
    """e^(-z) 1F1(a; b; z) at random points: b = 3/2 with a = (2 - alpha)/2, and b = 1/2 with a = -gamma/2."""
    print("# made by: python tools/golden/kummer_golden.py kummer")
    print("# scaled = exp(-z) 1F1(a; b; z); a, b and z are exact doubles")
    print("a,b,z,scaled")
    rng = random.Random(20200713)
    for i in range(1200):
        if i % 2 == 0:
            kind = rng.randrange(3)
            a = [rng.uniform(0, 1), 10 ** rng.uniform(-15, -1), 1 - 10 ** rng.uniform(-12, -1)][
                kind
            ]
            b = 1.5
        else:
            a, b = rng.uniform(-1.5, 0.5), 0.5
        z = rng.choice([10 ** rng.uniform(-8, 3.2), rng.uniform(0, 60), rng.uniform(45, 55)])
        a, z = short(a), short(z)
        scaled = mpmath.exp(-mpf(z)) * mpmath.hyp1f1(mpf(a), mpf(b), mpf(z))
        print(f"{a!r},{b!r},{z!r},{mpmath.nstr(scaled, 20)}")


def drift(alpha, v):
    """c_1(v) of the Gaussian kinetic energy."""
    factor = mpf(2) ** (alpha / 2) / mpmath.sqrt(mpmath.pi) * mpmath.gamma((alpha + 1) / 2)
    return factor * v * mpmath.hyp1f1((2 - alpha) / 2, mpf(3) / 2, v * v / 2)


def travel_time(alpha, high, low):
    """The time that v' = -c_1(v) needs from `high` to `low`."""
    points = [low]
    while points[-1] < high:
        points.append(min(high, points[-1] * 2, points[-1] + mpf(1) / 2))
    # In units of its largest value: mpmath stops at an absolute error, far above the shortest
    # times.
    unit = 1 / drift(alpha, low)
    return unit * mpmath.quad(lambda u: 1 / (unit * drift(alpha, u)), points)


def flow():
    """Pairs (v0, v1) and the time between them: the time is a plain integral, so no equation need be solved."""
    mp.dps = 25
    print("# made by: python tools/golden/kummer_golden.py flow")
    print(
        "# v' = -c_1(v) takes v0 to v1 in the given time (beta = 1, gamma = 1); alpha, v0 and v1 are exact doubles"
    )
    print("alpha,v0,v1,time")
    rng = random.Random(20200714)
    for _ in range(240):
        alpha = short(
            rng.choice([rng.uniform(0.05, 2), rng.uniform(1, 2), 2 - 10 ** rng.uniform(-10, -1)])
        )
        high = short(rng.choice([rng.uniform(0.01, 12), 10 ** rng.uniform(-3, 1)]))
        low = short(high * rng.choice([rng.uniform(0.02, 1), rng.uniform(0.9, 1)]))
        time = travel_time(mpf(alpha), mpf(high), mpf(low))
        print(f"{alpha!r},{high!r},{low!r},{mpmath.nstr(time, 18)}")


if __name__ == "__main__":
    {"kummer": kummer, "flow": flow}[sys.argv[1]]()
