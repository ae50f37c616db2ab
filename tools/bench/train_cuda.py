#!/usr/bin/env python3
"""Training on an NVIDIA GPU, ours and then PyTorch's, as one table of runs of 10,000 iterations per second.

Ours is the program, as a sweep over seeds of one network on random images of MNIST's size. Two sweeps that differ only in their
number of iterations are timed; the difference of their times is that of the iterations, without start, measurements and files.
torch is measured here by train_torch_cuda.py: the same number of networks stacked, with batched products in float32, as one
CUDA graph.

Usage: python tools/bench/train_cuda.py FULD [--stacks 64,128] [--nets 128x2x128,...] [--alpha 1.75] [--sweep]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Iterations of a run of the published experiments.
RUN_LENGTH = 10_000
# WIDTHxHIDDENxBATCH, and iterations that take some seconds.
NETS = {"128x2x128": 10_000, "256x4x128": 4_000, "512x6x500": 400}
# Iterations of the shorter sweep.
SHORT = 100


def write_images(folder):
    """Writes random images in the files of MNIST; the class of an image is the brightness of its first pixel."""
    for name, count in (("train", 60_000), ("t10k", 10_000)):
        pixels = os.urandom(count * 784)
        labels = bytes(pixel * 10 // 256 for pixel in pixels[::784])
        sizes = [count.to_bytes(4, "big"), (28).to_bytes(4, "big"), (28).to_bytes(4, "big")]
        header = b"\0\0\x08\x03" + b"".join(sizes)
        (folder / f"{name}-images-idx3-ubyte").write_bytes(header + pixels)
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + sizes[0] + labels)


def sweep_seconds(options, folder, net, stack, iterations, measure_every):
    """Returns the seconds that a sweep takes from start to end."""
    width, hidden, batch = net.split("x")
    rule = (
        'optimizer = "sgdm"'
        if options.alpha == 2
        else f'optimizer = "fuld"\nalpha = {options.alpha}'
    )
    grid = folder / "grid.toml"
    grid.write_text(
        f"width = {width}\ndepth = {int(hidden) + 1}\nbatch = {batch}\niterations = {iterations}\n"
        f'measure_every = {measure_every}\nlr = 0.01\nmomentum = 0.9\nseed = "0..{stack}"\n{rule}\n'
    )
    with tempfile.TemporaryDirectory() as out:
        command = [options.fuld, "sweep", str(grid), "--data", str(folder / "images")]
        command += ["--device", "cuda", "--stack", str(stack), "--out", f"{out}/sweep", "-q"]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start


def measure_ours(options, folder, net, stack):
    """Returns runs per second: the best of three differences."""
    long = SHORT + NETS[net]
    times = []
    for _ in range(3):
        short_time = sweep_seconds(options, folder, net, stack, SHORT, SHORT)
        times.append(sweep_seconds(options, folder, net, stack, long, long) - short_time)
    return stack * NETS[net] / min(times) / RUN_LENGTH


def measure_torch(nets, stacks):
    """Returns runs per second by net and stack; empty without torch or a GPU."""
    script = Path(__file__).with_name("train_torch_cuda.py")
    command = [sys.executable, str(script), "--engines", "cuda.stacked", "--precision", "float32"]
    command += ["--nets", ",".join(nets), "--runs", ",".join(map(str, stacks)), "--limit", "600"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {(f"{line['net']}x{line['batch']}", line["runs"]): line["runs_per_s"] for line in lines}


def parse():
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description="Training speed of the program and of PyTorch on a GPU."
    )
    parser.add_argument("fuld", help="the program, built with --features cuda")
    parser.add_argument("--stacks", default="64,128", help="runs that are trained together")
    parser.add_argument("--nets", default=",".join(NETS), help="WIDTHxHIDDENxBATCH, ...")
    parser.add_argument("--alpha", type=float, default=2, help="2: SGD; below: FULD")
    parser.add_argument(
        "--sweep", action="store_true", help="also whole sweeps with their measurements and files"
    )
    options = parser.parse_args()
    options.stacks = [int(text) for text in options.stacks.split(",")]
    options.nets = options.nets.split(",")
    if not set(options.nets) <= set(NETS):
        parser.error("the networks are " + ", ".join(NETS))
    return options


def main():
    """Measures torch, then the program, and prints the table."""
    options = parse()
    theirs = measure_torch(options.nets, options.stacks)
    print(
        "width x layers x batch   stack   ours, runs/s   torch, runs/s   ratio   whole sweep / ours"
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "images").mkdir()
        write_images(folder / "images")
        for net in options.nets:
            for stack in options.stacks:
                ours = measure_ours(options, folder, net, stack)
                peer = theirs.get((net, stack))
                shown = ("-", "-") if peer is None else (f"{peer:.2f}", f"{ours / peer:.2f}")
                whole = "-"
                if options.sweep:
                    seconds = sweep_seconds(options, folder, net, stack, RUN_LENGTH, 100)
                    whole = f"{stack / seconds / ours:.2f}"
                print(
                    f"{net:<22} {stack:>7} {ours:>14.2f} {shown[0]:>15} {shown[1]:>7} {whole:>20}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
