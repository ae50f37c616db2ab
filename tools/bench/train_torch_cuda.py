#!/usr/bin/env python3
"""Training iterations a second of PyTorch on an NVIDIA GPU, for plain ReLU networks; a line of JSON for each.

784 inputs, 10 outputs, no biases, cross entropy, float32 with TF32 products off and on, fused SGD of momentum
0.99 and rate 0.01.  The data lie on the device, and so do the indices of the minibatches, drawn beforehand;
an iteration gathers its minibatch, goes forward and back, and moves the weights.

Engines:
  cuda.eager    one run, every kernel launched from python
  cuda.graph    one run; the iteration is captured in a CUDA graph, which is replayed on new indices
  cuda.stacked  R runs at once, each with its own weights and minibatches: batched products, one fused SGD
                over the stacked weights, captured and replayed likewise

run_it_per_s is R times the iterations a second, median of three blocks; runs_per_s counts runs of 10,000
iterations.  Before the timing, replayed and stacked runs are held against eager single runs on the same data.

Usage: python tools/bench/train_torch_cuda.py [--nets 128x2x128,...] [--runs 1,8,32,64] [--seconds 0.5]
       python tools/bench/train_torch_cuda.py --cpu-dry-run    the same code, tiny, on the CPU, without graphs
"""

import argparse
import gc
import json
import statistics
import sys
import time
from itertools import pairwise

import torch
import torch.nn.functional as F

INPUTS, CLASSES = 784, 10
RATE, MOMENTUM = 0.01, 0.99
RUN_LENGTH = 10_000
WARM_UP = 3  # iterations before the capture: libraries are set up and the momentum is there
ENGINES = ("cuda.eager", "cuda.graph", "cuda.stacked")
NETS = "128x2x128,256x4x128,512x6x500,32x2x100,128x2x100,256x2x100,512x2x100"


class Trainer:
    """`runs` independent runs of one network; `runs` = 0: a single one, with plain products."""

    def __init__(self, data, net, runs, seed):
        self.inputs, self.labels = data
        width, hidden, self.batch = net
        self.shape = (runs, self.batch) if runs else (self.batch,)
        self.product = torch.bmm if runs else torch.mm
        device = self.inputs.device
        generator = torch.Generator(device).manual_seed(seed)
        self.weights = []
        for before, after in pairwise([INPUTS] + [width] * hidden + [CLASSES]):
            shape = (runs, before, after) if runs else (before, after)
            weight = torch.randn(shape, device=device, generator=generator) / before**0.5
            self.weights.append(weight.requires_grad_())
        self.scale = torch.tensor(1 / self.batch, device=device)
        self.optimizer = torch.optim.SGD(self.weights, lr=RATE, momentum=MOMENTUM, fused=True)

    def iterate(self, index):
        """One iteration on the rows `index`, shaped runs by batch; returns the loss, a sum over these."""
        flat = index.view(-1)
        signal = self.inputs.index_select(0, flat).view(*self.shape, INPUTS)
        for weight in self.weights[:-1]:
            signal = torch.relu_(self.product(signal, weight))
        logits = self.product(signal, self.weights[-1]).view(-1, CLASSES)
        loss = F.cross_entropy(logits, self.labels.index_select(0, flat), reduction="sum")
        # Not backward(): nothing is accumulated or zeroed.  The scale makes the sum a mean over the
        # batch.
        gradients = torch.autograd.grad(loss, self.weights, grad_outputs=self.scale)
        for weight, gradient in zip(self.weights, gradients, strict=True):
            weight.grad = gradient
        self.optimizer.step()
        return loss.detach()


class Replayed:
    """`unroll` iterations of a trainer captured in one CUDA graph; on the CPU they are simply done."""

    def __init__(self, trainer, unroll, first):
        self.trainer, self.unroll, self.graph = trainer, unroll, None
        self.index = torch.stack([first] * unroll)
        if not first.is_cuda:
            for _ in range(WARM_UP):
                self.loss = trainer.iterate(self.index[0])
            return
        # torch.cuda.graph captures on a stream of its own; the warm-up is also kept off the default
        # one.
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                trainer.iterate(self.index[0])
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        for weight in trainer.weights:
            weight.grad = None  # those of the graph are to lie in its own memory
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self._all()

    def _all(self):
        for index in self.index.unbind():
            loss = self.trainer.iterate(index)
        return loss

    def iterate(self, index):
        """`unroll` iterations, on the rows `index`, shaped unroll by runs by batch; returns the last loss."""
        self.index.copy_(index)
        if self.graph is None:
            self.loss = self._all()
        else:
            self.graph.replay()
        return self.loss


def make_data(rows, device):
    """Standardised inputs, and the class that a random linear map finds in each."""
    inputs = torch.randn(rows, INPUTS, device=device)
    return inputs, (inputs @ torch.randn(INPUTS, CLASSES, device=device)).argmax(1)


def draw(data, count, shape):
    """`count` minibatches of indices, drawn beforehand."""
    rows = len(data[0])
    return list(torch.randint(rows, (count, *shape), device=data[0].device).unbind())


def synchronize(device):
    """Waits until the device has done everything."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def check(data, net, runs, unroll):
    """Replayed and stacked runs end where eager single runs do; a wrong capture must not be timed."""
    stacked = Trainer(data, net, runs, seed=1)
    starts = [[weight[run].detach().clone() for weight in stacked.weights] for run in range(runs)]
    first = draw(data, 1, stacked.shape)[0]
    blocks = draw(data, 4, (unroll, *stacked.shape))

    def single(run):
        trainer = Trainer(data, net, 0, seed=1)
        with torch.no_grad():
            for weight, start in zip(trainer.weights, starts[run], strict=True):
                weight.copy_(start)
        return trainer

    replayed = Replayed(stacked, unroll, first)
    for block in blocks:
        replayed.iterate(block)
    for run in range(runs):
        eager, captured = single(run), single(run)
        for _ in range(WARM_UP):
            eager.iterate(first[run])
        alone = Replayed(captured, unroll, first[run].clone())
        for block in blocks:
            for index in block:
                eager.iterate(index[run])
            alone.iterate(block[:, run])
        ours = [weight[run] for weight in stacked.weights]
        for expected, start, *others in zip(
            eager.weights, starts[run], captured.weights, ours, strict=True
        ):
            moved = (expected - start).norm().item()
            for other in others:
                error = (other - expected).norm().item()
                if not (moved > 0 and error < 1e-3 * moved):
                    raise SystemExit(
                        f"check failed: error {error:.3g} where the weights moved by {moved:.3g}"
                    )


def time_iterations(iterate, indices, seconds, device):
    """Calls a second, the median of three blocks, each about a third of `seconds`."""

    def block(calls):
        synchronize(device)
        start = time.perf_counter()
        for call in range(calls):
            iterate(indices[call % len(indices)])
        synchronize(device)
        return calls / (time.perf_counter() - start)

    block(3)
    rate = block(10)
    rate = block(
        max(10, int(rate * seconds / 10))
    )  # ten calls say too little where they take microseconds
    calls = max(5, int(rate * seconds / 3))
    return statistics.median(block(calls) for _ in range(3))


def measure(data, net, runs, engine, options):
    """Times one engine on one network and prints the line."""
    device = data[0].device
    torch.manual_seed(2)
    trainer = Trainer(data, net, runs, seed=1)
    if engine == "cuda.eager":
        unroll, step = 1, trainer.iterate
        indices = draw(data, options.pool, trainer.shape)
    else:
        unroll = options.unroll
        step = Replayed(trainer, unroll, draw(data, 1, trainer.shape)[0]).iterate
        indices = draw(data, options.pool, (unroll, *trainer.shape))
    rate = unroll * time_iterations(step, indices, options.seconds, device)
    count = max(runs, 1)
    line = {
        "engine": engine,
        "net": f"{net[0]}x{net[1]}",
        "batch": net[2],
        "runs": count,
        "tf32": torch.backends.cuda.matmul.allow_tf32,
        "it_per_s": round(rate, 1),
        "run_it_per_s": round(count * rate, 1),
        "runs_per_s": round(count * rate / RUN_LENGTH, 4),
        "unroll": unroll,
        "loss": round(step(indices[0]).item() / (count * net[2]), 4),
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu dry run",
    }
    print(json.dumps(line), flush=True)


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description="Training speed of PyTorch on a GPU.")
    parser.add_argument(
        "--nets", help="WIDTHxHIDDENxBATCH, ...; HIDDEN 2 is 3 linear layers; default " + NETS
    )
    parser.add_argument("--runs", help="numbers of stacked runs; default 1,8,32,64")
    parser.add_argument("--seconds", type=float, help="of each timing; default 0.5")
    parser.add_argument("--unroll", type=int, default=1, help="iterations in a graph; default 1")
    parser.add_argument(
        "--pool", type=int, default=512, help="minibatches drawn beforehand; default 512"
    )
    parser.add_argument("--rows", type=int, help="rows of data; default 60000")
    parser.add_argument(
        "--limit", type=float, default=85, help="no timing begins after so many seconds"
    )
    parser.add_argument(
        "--engines", default=",".join(ENGINES), help="some of them, with commas between"
    )
    parser.add_argument(
        "--precision", choices=["float32", "tf32", "both"], default="both", help="of the products"
    )
    parser.add_argument(
        "--cpu-dry-run", action="store_true", help="tiny, on the CPU, without graphs"
    )
    options = parser.parse_args()
    dry = options.cpu_dry_run
    nets = options.nets or ("16x2x10,8x3x5" if dry else NETS)
    runs = options.runs or ("1,3" if dry else "1,8,32,64")
    try:
        options.nets = [tuple(int(part) for part in text.split("x")) for text in nets.split(",")]
        options.runs = [int(text) for text in runs.split(",")]
    except ValueError:
        parser.error("networks are WIDTHxHIDDENxBATCH, runs are numbers, with commas between")
    if any(len(net) != 3 for net in options.nets) or min(options.runs) < 1:
        parser.error("a network is WIDTHxHIDDENxBATCH, and there is at least one run")
    options.engines = options.engines.split(",")
    if not set(options.engines) <= set(ENGINES):
        parser.error("the engines are " + ", ".join(ENGINES))
    if min(options.unroll, options.pool) < 1:
        parser.error("--unroll and --pool are positive")
    options.seconds = options.seconds or (0.05 if dry else 0.5)
    options.rows = options.rows or (200 if dry else 60_000)
    return options


def main():
    """Checks, then times every engine on every network, with TF32 off and on."""
    options = parse()
    start = time.perf_counter()
    if not options.cpu_dry_run and not torch.cuda.is_available():
        sys.exit("no CUDA device: --cpu-dry-run tries the code without one")
    device = torch.device("cpu" if options.cpu_dry_run else "cuda")
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    data = make_data(options.rows, device)
    check(data, (32, 2, 20), 3, min(options.unroll, 4))
    print(f"check passed after {time.perf_counter() - start:.1f} s", file=sys.stderr)
    jobs = [("cuda.eager", 0), ("cuda.graph", 0)] + [
        ("cuda.stacked", runs) for runs in options.runs
    ]
    jobs = [job for job in jobs if job[0] in options.engines]
    precisions = {"float32": (False,), "tf32": (True,), "both": (False, True)}
    for tf32 in precisions[options.precision]:
        torch.backends.cuda.matmul.allow_tf32 = tf32
        for net in options.nets:
            for engine, runs in jobs:
                if time.perf_counter() - start > options.limit:
                    sys.exit(f"stopped: {options.limit} s have passed (--limit)")
                measure(data, net, runs, engine, options)
                gc.collect()  # the graph's memory goes back before the next capture
    print(f"done after {time.perf_counter() - start:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
