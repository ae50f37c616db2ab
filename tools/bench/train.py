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

NETS = ["128x2x128", "256x4x128", "512x6x500"]


def read_ours(directory):
    """Seconds by function and net."""
    ours = {}
    for path in directory.glob("training/**/new/benchmark.json"):
        about = json.loads(path.read_text())
        estimates = json.loads(path.with_name("estimates.json").read_text())
        ours[about["function_id"], about["value_str"]] = (
            estimates["median"]["point_estimate"] * 1e-9
        )
    return ours


def measure_torch():
    """Iterations a second by engine and net, or nothing where there is no torch."""
    script = Path(__file__).with_name("train_torch.py")
    command = [sys.executable, str(script), "--engines", "compile,step"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {(line["engine"], f"{line['net']}x{line['batch']}"): line["it_per_s"] for line in lines}


def main():
    root = Path(__file__).resolve().parents[2]
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "target" / "criterion"
    ours = read_ours(directory)
    if not ours:
        sys.exit(f"no estimates under {directory}: run cargo bench -p fuld-train first")
    print("\nmeasuring torch ...\n", flush=True)
    torch = measure_torch()
    print(
        "net, batch    ours, it/s   optimizer   torch.compile   whole graph   ratio to the faster"
    )
    for net in NETS:
        if ("iteration", net) not in ours or ("optimizer", net) not in ours:
            continue  # a bench that was stopped
        seconds, step = ours["iteration", net], ours["optimizer", net]
        theirs = [torch.get((engine, net)) for engine in ("torch.compile", "torch.compile.step")]
        shown = ["-" if rate is None else f"{rate:.1f}" for rate in theirs]
        best = max((rate for rate in theirs if rate is not None), default=None)
        ratio = "-" if best is None else f"{1 / seconds / best:.2f}"
        share = f"{100 * step / seconds:.1f} %"
        print(
            f"{net:<12} {1 / seconds:>11.1f} {share:>11} {shown[0]:>15} {shown[1]:>13} {ratio:>21}"
        )


if __name__ == "__main__":
    main()
