"""One step of fuld.torch.FULD beside torch.optim.SGD in the same run, on the CPU and on a GPU if there is one.

    python tools/bench/torch_step.py            everything that this machine can
    python tools/bench/torch_step.py --cpu      the CPU alone

Times are medians; a ratio is FULD's time over that of the named SGD. Gradients are drawn from the stable law, so that the field is
asked for what it is asked in training. A second table has the cost of the guard for several optimizers.
"""

import argparse
import statistics
import time
from itertools import product

import fuld
import torch
from fuld.torch import FULD, guard
from table import show

ALPHA = 1.5
# Gradients that take turns.
TURNS = 2


def tensors(lengths, device, alpha=ALPHA):
    """Parameters with gradients, which are noise of this tail index."""
    longest = max(lengths)
    draws = fuld.SymmetricStable(alpha).rvs(min(longest, 10_000_000), random_state=1)
    noise = torch.from_numpy(draws).float().to(device)
    noise = noise.repeat(-(-longest // len(noise)))
    params = [torch.nn.Parameter(torch.zeros(n, device=device)) for n in lengths]
    for x in params:
        x.grad = noise[: len(x)].clone()
    return params


def exchange(optimizer, turn):
    """Gives the parameters other gradients, of the same numbers in another order."""
    for x in optimizer.param_groups[0]["params"]:
        if not hasattr(x, "turns"):
            x.turns = [x.grad.roll(1 + 7 * k) for k in range(TURNS)]
        # A copy, since the guard changes gradients.
        x.grad = x.turns[turn % TURNS].clone()


def device_time(optimizer, repeats):
    """Seconds of one step, as the slower of host and device has it: steps follow one another."""
    for _ in range(5):
        optimizer.step()
    torch.cuda.synchronize()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(repeats):
            optimizer.step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / repeats)
    return statistics.median(times)


def device_times(makers, lengths, alpha):
    """Seconds of one step of each optimizer, along gradients that change at every step.

    The time of changing the gradients alone is subtracted. Gradients that stay would be clipped
    once and not again.
    """
    found = []
    for make in [lambda _: None, *makers]:
        params = tensors(lengths, "cuda", alpha)
        grads = [x.grad for x in params]
        turns = [[g.roll(1 + 7 * k) for g in grads] for k in range(TURNS)]
        optimizer = make(params)
        times = []
        for k in range(8):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for turn in range(10):
                torch._foreach_copy_(grads, turns[turn % TURNS])
                if optimizer is not None:
                    optimizer.step()
            torch.cuda.synchronize()
            times.append((time.perf_counter() - start) / 10)
        # The first steps compile kernels and allocate memory.
        found.append(statistics.median(times[1:]))
        del params, grads, turns, optimizer
        torch.cuda.empty_cache()
    return [seconds - found[0] for seconds in found[1:]]


def host_times(optimizers, rounds, clock):
    """Seconds of one step of each, taken in turn so that all meet the same machine: medians."""
    for optimizer in optimizers:
        optimizer.step()
    times = [[] for _ in optimizers]
    for turn in range(rounds):
        for optimizer, found in zip(optimizers, times, strict=True):
            exchange(optimizer, turn)
            start = clock()
            optimizer.step()
            found.append(clock() - start)
    return [statistics.median(found) for found in times]


def cpu(size, rounds, clock):
    """The table for the CPU."""
    kinds = {
        "SGD foreach": lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9, foreach=True),
        "SGD fused": lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9, fused=True),
        "FULD fused": lambda p: FULD(p, 1e-3, alpha=ALPHA, fused=True),
        "FULD foreach": lambda p: FULD(p, 1e-3, alpha=ALPHA, foreach=True),
        "FULD single": lambda p: FULD(p, 1e-3, alpha=ALPHA, foreach=False),
    }
    for threads in sorted({1, torch.get_num_threads()}):
        torch.set_num_threads(threads)
        times = host_times([make(tensors([size], "cpu")) for make in kinds.values()], rounds, clock)
        print(
            f"\nCPU, {threads} thread(s) of torch, one tensor of {size:,} float32, milliseconds a step"
        )
        table = [["", "ms", "/ SGD foreach", "/ SGD fused"]]
        for name, seconds in zip(kinds, times, strict=True):
            table.append(
                [
                    name,
                    f"{1e3 * seconds:.2f}",
                    f"{seconds / times[0]:.2f}",
                    f"{seconds / times[1]:.2f}",
                ]
            )
        show(table, "<>>>")


def sgd(params):
    """SGD as fast as torch has it."""
    return torch.optim.SGD(params, 1e-3, momentum=0.9, fused=True)


def adamw(params):
    """AdamW as fast as torch has it."""
    return torch.optim.AdamW(params, fused=True)


# Each optimizer without and with the guard.
GUARDED = {
    "AdamW fused": (adamw, lambda p: guard(adamw(p))),
    "SGD fused": (sgd, lambda p: guard(sgd(p))),
    "SGD fused, FULD auto": (sgd, lambda p: FULD(p, 1e-3, alpha="auto", fused=True)),
    "FULD fused": (
        lambda p: FULD(p, 1e-3, alpha=ALPHA, fused=True),
        lambda p: FULD(p, 1e-3, alpha=ALPHA, fused=True, guard=True),
    ),
}


def guarding(device, total, rounds, clock):
    """What the guard adds to a step."""
    shapes = {
        f"{total:,} in 200 tensors": [total // 200] * 200,
        f"{total:,} in one tensor": [total],
        "10,000 tensors of 1,000": [1000] * 10_000,
    }
    name = (
        torch.cuda.get_device_name()
        if device == "cuda"
        else f"CPU, {torch.get_num_threads()} thread(s) of torch"
    )
    print(f"\n{name}, float32, milliseconds per step without and with the guard")
    table = [["", "tail index", "", "without", "with", "ratio"]]
    for label, lengths in shapes.items():
        # Of Gaussian gradients Adam's guard clips none.
        for alpha, (optimizer, makers) in product((2.0, ALPHA), GUARDED.items()):
            if device == "cuda":
                times = device_times(makers, lengths, alpha)
            else:
                times = host_times(
                    [make(tensors(lengths, device, alpha)) for make in makers], rounds, clock
                )
            table.append(
                [
                    label,
                    f"{alpha:g}",
                    optimizer,
                    *(f"{1e3 * t:.3f}" for t in times),
                    f"{times[1] / times[0]:.2f}",
                ]
            )
    show(table, "<><>>>")


def gpu():
    """The table for a GPU."""
    name = torch.cuda.get_device_name()
    shapes = {"100 M in one tensor": [100_000_000], "100 M in 200 tensors": [500_000] * 200}
    shapes |= {
        "10,000 tensors of 1,000": [1000] * 10_000,
        "10,000 tensors of 10,000": [10_000] * 10_000,
    }
    print(f"\n{name}, float32, milliseconds a step")
    table = [["", "SGD fused", "SGD foreach", "FULD fused", "FULD foreach", "fused / SGD fused"]]
    for label, lengths in shapes.items():
        times = []
        for make in (
            lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9, fused=True),
            lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9, foreach=True),
            lambda p: FULD(p, 1e-3, alpha=ALPHA, fused=True),
            lambda p: FULD(p, 1e-3, alpha=ALPHA, foreach=True),
        ):
            optimizer = make(tensors(lengths, "cuda"))
            times.append(device_time(optimizer, 20 if len(lengths) > 1000 else 50))
            del optimizer
            torch.cuda.empty_cache()
        table.append([label, *(f"{1e3 * t:.3f}" for t in times), f"{times[2] / times[0]:.2f}"])
    show(table, "<>>>>>")


def main():
    """Prints the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cpu", action="store_true", help="the CPU alone")
    parser.add_argument("--guard", action="store_true", help="the cost of the guard alone")
    parser.add_argument("--size", type=int, default=10_000_000, help="numbers of the CPU's tensors")
    parser.add_argument("--rounds", type=int, default=30, help="steps of each optimizer on the CPU")
    parser.add_argument("--threads", type=int, help="threads of torch")
    parser.add_argument(
        "--busy", action="store_true", help="measure processor time, on a machine that others use"
    )
    options = parser.parse_args()
    print(f"torch {torch.__version__}, fuld {fuld.__version__}, alpha = {ALPHA}")
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    clock = time.process_time if options.busy else time.perf_counter
    on_gpu = torch.cuda.is_available() and not options.cpu
    guarding("cpu", options.size, options.rounds, clock)
    if on_gpu:
        guarding("cuda", 100_000_000, options.rounds, clock)
    if options.guard:
        return
    cpu(options.size, options.rounds, clock)
    if on_gpu:
        gpu()


if __name__ == "__main__":
    main()
