#!/usr/bin/env python3
"""Training iterations a second of PyTorch on the CPU, for plain ReLU networks; one line of JSON for each.

10 outputs, no biases, cross entropy, float32, SGD of momentum 0.99 and rate 0.01.  The data lie
in memory; an iteration draws the indices of its minibatch, gathers it, goes forward and back, and moves the
weights.  The labels are those of a linear teacher, so that the networks learn and their units stay alive.

Engines:
  eager    autograd and torch.optim.SGD(foreach=True), nothing compiled
  compile  torch.compile of the gathering, the network and the loss, and of the optimizer's step
  step     torch.compile of the whole iteration as one graph, by torch.func: the fastest way known to us

After a warm-up the engines take turns, block by block; it_per_s is the median over the blocks, best the
fastest one, and cpu_share the processor time a second and thread of the median block: well below 1, others
had the core too.

Usage: python tools/bench/train_torch.py [--nets 784x128x2x128,...] [--engines step] [--seconds 1] [--threads 1]
"""

import argparse
import json
import os
import sys
import time
from itertools import pairwise

import torch
import torch._dynamo
import torch._inductor.config
import torch.nn.functional as F

CLASSES = 10
RATE, MOMENTUM = 0.01, 0.99
NAMES = {"eager": "torch.eager", "compile": "torch.compile", "step": "torch.compile.step"}


def make_data(rows, inputs):
    """Standardised images, and the class that a random linear map finds in each."""
    images = torch.randn(rows, inputs)
    return images, (images @ torch.randn(inputs, CLASSES)).argmax(1)


def make_weights(inputs, width, hidden):
    """One matrix, outputs by inputs, for each layer."""
    sizes = [inputs] + [width] * hidden + [CLASSES]
    return [torch.randn(after, before) / before**0.5 for before, after in pairwise(sizes)]


def mean_loss(weights, data, index):
    """The cross entropy of the minibatch at `index`."""
    inputs, labels = data
    signal = inputs[index]
    for weight in weights[:-1]:
        signal = F.relu(F.linear(signal, weight))
    return F.cross_entropy(F.linear(signal, weights[-1]), labels[index])


def with_optimizer(weights, data, batch, compiled):
    """An iteration by autograd and torch.optim; returns the loss."""
    for weight in weights:
        weight.requires_grad_()
    optimizer = torch.optim.SGD(weights, lr=RATE, momentum=MOMENTUM, foreach=True)
    forward, step = mean_loss, optimizer.step
    if compiled:
        forward, step = torch.compile(forward), torch.compile(step)
    rows = len(data[0])

    def iterate():
        optimizer.zero_grad(set_to_none=True)
        loss = forward(weights, data, torch.randint(rows, (batch,)))
        loss.backward()
        step()
        return loss.detach()

    return iterate


def whole_step(weights, data, batch):
    """An iteration compiled as one graph; returns the loss."""
    velocities = [torch.zeros_like(weight) for weight in weights]
    gradient_and_loss = torch.func.grad_and_value(mean_loss)

    @torch.compile(fullgraph=True)
    def train(weights, velocities, data, index):
        gradients, loss = gradient_and_loss(weights, data, index)
        torch._foreach_mul_(velocities, MOMENTUM)
        torch._foreach_add_(velocities, gradients)
        torch._foreach_add_(weights, velocities, alpha=-RATE)
        return loss

    rows = len(data[0])
    return lambda: train(weights, velocities, data, torch.randint(rows, (batch,)))


def make_engine(engine, weights, data, batch):
    """The function that does one iteration."""
    if engine == "step":
        return whole_step(weights, data, batch)
    return with_optimizer(weights, data, batch, compiled=engine == "compile")


def time_block(iterate, seconds, threads):
    """Iterations a second, and processor time a second and thread, over one block."""
    count, cpu, start = 0, time.process_time(), time.perf_counter()
    while True:
        iterate()
        count += 1
        wall = time.perf_counter() - start
        if wall >= seconds:
            return count / wall, (time.process_time() - cpu) / wall / threads


def measure(net, options):
    """Times the engines on one network, in turns, and prints a line for each."""
    inputs, width, hidden, batch = net
    torch._dynamo.reset()
    torch.manual_seed(0)
    data = make_data(options.rows, inputs)
    engines = {}
    for engine in options.engines:
        torch.manual_seed(1)
        engines[engine] = make_engine(engine, make_weights(inputs, width, hidden), data, batch)
        for _ in range(5):  # compiles, once more when the momentum is there
            engines[engine]()
        time_block(engines[engine], options.seconds / 2, options.threads)
    blocks = {engine: [] for engine in engines}
    for _ in range(options.blocks):
        for engine, iterate in engines.items():
            blocks[engine].append(time_block(iterate, options.seconds, options.threads))
    for engine, iterate in engines.items():
        ordered = sorted(blocks[engine])
        rate, share = ordered[len(ordered) // 2]
        line = {
            "engine": NAMES[engine],
            "net": f"{inputs}x{width}x{hidden}x{batch}",
            "it_per_s": round(rate, 2),
            "best": round(ordered[-1][0], 2),
            "cpu_share": round(share, 3),
            "threads": options.threads,
            "loss": round(iterate().item(), 4),
            "torch": torch.__version__,
        }
        print(json.dumps(line), flush=True)


def parse_net(text):
    """Reads INPUTSxWIDTHxHIDDENxBATCH."""
    inputs, width, hidden, batch = map(int, text.split("x"))
    return inputs, width, hidden, batch


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description="Training speed of PyTorch on the CPU.")
    parser.add_argument(
        "--nets",
        default="784x128x2x128,784x256x4x128,784x512x6x500",
        help="INPUTSxWIDTHxHIDDENxBATCH, ...",
    )
    parser.add_argument("--engines", default=",".join(NAMES), help="of " + ", ".join(NAMES))
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a block")
    parser.add_argument("--blocks", type=int, default=7, help="blocks for each engine and network")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, default=60_000, help="rows of data")
    options = parser.parse_args()
    try:
        options.nets = [parse_net(text) for text in options.nets.split(",")]
    except ValueError:
        parser.error("a network is INPUTSxWIDTHxHIDDENxBATCH")
    options.engines = options.engines.split(",")
    if not set(options.engines) <= set(NAMES):
        parser.error("the engines are " + ", ".join(NAMES))
    cores = os.sched_getaffinity(0)
    if not 1 <= options.threads <= len(cores):
        parser.error(f"--threads is between 1 and {len(cores)} here")
    options.cores = sorted(cores)[-options.threads :]
    if options.blocks < 1 or options.rows < 1:
        parser.error("--blocks and --rows are positive")
    return options


def main():
    """Pins the process to its cores and measures every network."""
    options = parse()
    os.sched_setaffinity(0, options.cores)  # the threads that torch starts inherit it
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    torch._inductor.config.compile_threads = 1  # no workers left running beside what is timed
    torch._dynamo.config.fail_on_recompile_limit_hit = True  # else it would go on uncompiled
    print(f"cores {options.cores}, load {os.getloadavg()[0]:.2f}", file=sys.stderr)
    for net in options.nets:
        measure(net, options)


if __name__ == "__main__":
    main()
