"""One step of fuld.torch.FULD beside torch.optim.SGD in the same run, on the CPU and on a GPU if there is one.

    python tools/bench/torch_step.py            everything that this machine can
    python tools/bench/torch_step.py --cpu      the CPU alone

Times are medians; a ratio is FULD's time over that of the named SGD. Gradients are drawn from the stable law, so that the field is
asked for what it is asked in training.
"""

import argparse
import statistics
import time

import fuld
import torch
from fuld.torch import FULD
from table import show

ALPHA = 1.5
AUTO = {"alpha": "auto", "noise_scale": "auto"}
# Gradients that take turns, more than the four that a calibration compares.
TURNS = 5
NETWORK = [784 * 256, 256, *[256 * 256, 256] * 3, 256 * 10, 10]


def tensors(lengths, device):
    """Parameters with gradients."""
    longest = max(lengths)
    draws = fuld.SymmetricStable(ALPHA).rvs(min(longest, 10_000_000), random_state=1)
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
        x.grad = x.turns[turn % TURNS]


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


def host_times(optimizers, rounds):
    """Seconds of one step of each, taken in turn so that all meet the same machine.

    Medians of means of four steps: a calibration does more at every fourth.
    """
    for optimizer in optimizers:
        optimizer.step()
    times = [[] for _ in optimizers]
    for turn in range(rounds):
        for optimizer, found in zip(optimizers, times, strict=True):
            seconds = 0.0
            for step in range(4):
                exchange(optimizer, 4 * turn + step)
                start = time.perf_counter()
                optimizer.step()
                seconds += time.perf_counter() - start
            found.append(seconds / 4)
    return [statistics.median(found) for found in times]


def cpu(size, rounds):
    """The table for the CPU."""
    kinds = {
        "SGD foreach": lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9, foreach=True),
        "SGD fused": lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9, fused=True),
        "FULD fused": lambda p: FULD(p, 1e-3, alpha=ALPHA, fused=True),
        "FULD auto": lambda p: FULD(p, 1e-3, **AUTO),
        "FULD foreach": lambda p: FULD(p, 1e-3, alpha=ALPHA, foreach=True),
        "FULD single": lambda p: FULD(p, 1e-3, alpha=ALPHA, foreach=False),
    }
    for threads in sorted({1, torch.get_num_threads()}):
        torch.set_num_threads(threads)
        times = host_times([make(tensors([size], "cpu")) for make in kinds.values()], rounds)
        print(f"\nCPU, {threads} thread(s) of torch, one tensor of {size:,} float32, milliseconds a step")
        table = [["", "ms", "/ SGD foreach", "/ SGD fused"]]
        for name, seconds in zip(kinds, times, strict=True):
            table.append([name, f"{1e3 * seconds:.2f}", f"{seconds / times[0]:.2f}", f"{seconds / times[1]:.2f}"])
        show(table, "<>>>")


def calibrating(size, rounds):
    """What calibration adds to the fused step on the CPU."""
    shapes = {f"one tensor of {size:,}": [size], "784-256x4-10, 10 tensors": NETWORK}
    shapes |= {"200 tensors of 50,000": [50_000] * 200, "200 tensors of 1,000": [1000] * 200}
    for threads in sorted({1, torch.get_num_threads()}):
        torch.set_num_threads(threads)
        print(f"\nCPU, {threads} thread(s) of torch, float32, milliseconds a step")
        table = [["", "fixed", "auto", "auto / fixed"]]
        for label, lengths in shapes.items():
            makers = (lambda p: FULD(p, 1e-3, alpha=ALPHA), lambda p: FULD(p, 1e-3, **AUTO))
            often = rounds if sum(lengths) > 1_000_000 else 10 * rounds
            times = host_times([make(tensors(lengths, "cpu")) for make in makers], often)
            table.append([label, *(f"{1e3 * t:.3f}" for t in times), f"{times[1] / times[0]:.2f}"])
        show(table, "<>>>")


def gpu():
    """The table for a GPU."""
    name = torch.cuda.get_device_name()
    shapes = {"100 M in one tensor": [100_000_000], "100 M in 200 tensors": [500_000] * 200}
    shapes |= {"10,000 tensors of 1,000": [1000] * 10_000, "10,000 tensors of 10,000": [10_000] * 10_000}
    print(f"\n{name}, float32, milliseconds a step")
    table = [["", "SGD fused", "SGD foreach", "FULD fused", "FULD foreach", "FULD auto", "fused / SGD fused"]]
    for label, lengths in shapes.items():
        times = []
        for make in (
            lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9, fused=True),
            lambda p: torch.optim.SGD(p, 1e-3, momentum=0.9, foreach=True),
            lambda p: FULD(p, 1e-3, alpha=ALPHA, fused=True),
            lambda p: FULD(p, 1e-3, alpha=ALPHA, foreach=True),
            lambda p: FULD(p, 1e-3, **AUTO, fused=True),
        ):
            optimizer = make(tensors(lengths, "cuda"))
            times.append(device_time(optimizer, 20 if len(lengths) > 1000 else 50))
            del optimizer
            torch.cuda.empty_cache()
        table.append([label, *(f"{1e3 * t:.3f}" for t in times), f"{times[2] / times[0]:.2f}"])
    show(table, "<>>>>>>")


def main():
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", action="store_true", help="the CPU alone")
    parser.add_argument("--size", type=int, default=10_000_000, help="numbers of the CPU's tensor")
    parser.add_argument("--rounds", type=int, default=30, help="times that each optimizer takes four steps on the CPU")
    options = parser.parse_args()
    print(f"torch {torch.__version__}, fuld {fuld.__version__}, alpha = {ALPHA}")
    cpu(options.size, options.rounds)
    calibrating(options.size, options.rounds)
    if torch.cuda.is_available() and not options.cpu:
        gpu()


if __name__ == "__main__":
    main()
