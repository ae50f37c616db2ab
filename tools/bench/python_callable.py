"""What a step of fuld.sample costs beyond the function that it calls: the package must be installed."""

import time

import fuld
import numpy as np

#: What is allowed.
LIMIT = 20e-6
STEPS = 20_000


def timed(work) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def well(x):
    square = x * x
    return (0.25 * square * square - 0.5 * square).sum(axis=1), square * x - x


def one_well(x):
    square = x * x
    return float((0.25 * square * square - 0.5 * square).sum()), square * x - x


def overhead(chains: int, dim: int, vectorized: bool) -> tuple[float, float, float]:
    """Seconds a step: of the run, of the calls alone, and of the same run in Rust."""
    function = well if vectorized else one_well
    calls = 0

    def counted(x):
        nonlocal calls
        calls += 1
        return function(x)

    settings = {"chains": chains, "dim": dim, "warmup": 0, "thin": 1, "output": "numpy"}
    steps = STEPS if vectorized else STEPS // chains
    settings |= {"draws": 1, "thin": steps, "vectorized": vectorized}
    fuld.sample(counted, **settings)
    each = calls / steps
    run = min(timed(lambda: fuld.sample(function, **settings)) for _ in range(3)) / steps
    x = np.random.default_rng(0).normal(size=(chains, dim) if vectorized else dim)

    def alone() -> None:
        for _ in range(STEPS):
            function(x)

    call = min(timed(alone) for _ in range(3)) / STEPS * each
    del settings["vectorized"]
    rust = min(timed(lambda: fuld.sample("double_well", threads=1, **settings)) for _ in range(3))
    return run, call, rust / steps


def main() -> None:
    print("microseconds a step    run  function alone  the rest  the same step in Rust")
    worst = 0.0
    for chains, dim, vectorized in [
        (1, 1, True),
        (64, 1, True),
        (64, 10, True),
        (1000, 2, True),
        (64, 1, False),
    ]:
        run, call, rust = overhead(chains, dim, vectorized)
        name = f"{chains} x {dim}" + ("" if vectorized else ", one by one")
        rest = run - call
        print(
            f"{name:<20} {1e6 * run:6.1f} {1e6 * call:15.1f} {1e6 * rest:9.1f} {1e6 * rust:22.1f}"
        )
        if vectorized:
            # What Rust does in a step is no matter of the call.
            worst = max(worst, rest - rust)
    verdict = "within" if worst <= LIMIT else "ABOVE"
    print(f"beside the function and the step, a batched call costs at most {1e6 * worst:.1f}:")
    print(f"{verdict} the limit of {1e6 * LIMIT:.0f}")


if __name__ == "__main__":
    main()
