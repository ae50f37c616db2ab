#!/usr/bin/env python3
"""Training on one core, ours and then torch.compile, as one table.

Ours are the medians that criterion left under target/criterion (cargo bench -p fuld-train); torch is measured here by
train_torch.py, as torch.compile of model and optimizer, and of the whole iteration as one graph.

Usage: python tools/bench/train.py [directory of criterion]
"""

import json
import subprocess
import sys
from pathlib import Path


def read_ours(directory):
    """Returns the seconds per iteration of each net, named inputs x width x hidden layers x batch."""
    ours = {}
    for path in directory.glob("training/iteration/**/new/benchmark.json"):
        about = json.loads(path.read_text())
        estimates = json.loads(path.with_name("estimates.json").read_text())
        ours[about["value_str"]] = estimates["median"]["point_estimate"] * 1e-9
    return ours


def measure_torch(nets):
    """Returns the iterations per second by engine and net; empty without torch."""
    script = Path(__file__).with_name("train_torch.py")
    command = [sys.executable, str(script), "--engines", "compile,step", "--nets", ",".join(nets)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {(line["engine"], line["net"]): line["it_per_s"] for line in lines}


def main():
    root = Path(__file__).resolve().parents[2]
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "target" / "criterion"
    ours = read_ours(directory)
    if not ours:
        sys.exit(f"no estimates under {directory}: run cargo bench -p fuld-train first")
    # The largest inputs first, then by width.
    nets = sorted(ours, key=lambda net: [-int(net.split("x")[0]), int(net.split("x")[1])])
    print("\nmeasuring torch ...\n", flush=True)
    torch = measure_torch(nets)
    print("inputs x width x layers x batch   ours, it/s   torch.compile   whole graph   ratio")
    for net in nets:
        theirs = [torch.get((engine, net)) for engine in ("torch.compile", "torch.compile.step")]
        shown = ["-" if rate is None else f"{rate:.1f}" for rate in theirs]
        best = max((rate for rate in theirs if rate is not None), default=None)
        ratio = "-" if best is None else f"{1 / ours[net] / best:.2f}"
        print(f"{net:<31} {1 / ours[net]:>12.1f} {shown[0]:>15} {shown[1]:>13} {ratio:>7}")
    print("ratio: ours to the faster of torch's two")


if __name__ == "__main__":
    main()
