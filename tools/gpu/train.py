"""Trains on the CPU and on the GPU with the program built with `--features cuda`, and compares the results.

python train.py FULD

Runs of each rule, and a sweep of two seeds, on the built-in digits. The devices round differently, and training amplifies the
differences tenfold every hundred iterations, so the runs are short.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Relative difference of the losses after 20 iterations, by rounding.
TOLERANCE = 1e-4
RUNS = {
    "fuld": ["--alpha", "1.5"],
    "sgdm": ["--optimizer", "sgdm"],
    "matched": ["--alpha", "1.5", "--noise-scale", "1e-3"],
    "guard": ["--guard", "--inject-noise", "1.5,1e-3"],
}


def losses(folder: Path) -> list[float]:
    """Returns the final losses of every run below a folder: the first `train_loss` of each result is its summary's."""
    results = [path.read_text() for path in sorted(folder.rglob("result.toml"))]
    return [float(re.findall(r"^train_loss = (.*)$", text, re.MULTILINE)[0]) for text in results]


def compare(name: str, cpu: list[float], cuda: list[float]) -> bool:
    close = len(cpu) == len(cuda) > 0 and all(
        abs(a - b) <= TOLERANCE * (1 + abs(a)) for a, b in zip(cpu, cuda)
    )
    print(f"{name}: loss {cpu} on the CPU, {cuda} on the GPU{'' if close else ': TOO FAR APART'}")
    return close


program = sys.argv[1]
passed = []
with tempfile.TemporaryDirectory() as scratch:
    network = ["--width", "32", "--depth", "3", "--iterations", "20", "--measure-every", "10"]
    for name, options in RUNS.items():
        for device in ("cpu", "cuda"):
            out = Path(scratch, name, device)
            subprocess.run(
                [program, "train", *network, *options, "--device", device, "--out", out, "-q"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        passed.append(
            compare(name, losses(Path(scratch, name, "cpu")), losses(Path(scratch, name, "cuda")))
        )
    grid = Path(scratch, "grid.toml")
    grid.write_text("width = 32\ndepth = 3\niterations = 20\nmeasure_every = 10\nseed = [1, 2]\n")
    for device in ("cpu", "cuda"):
        out = Path(scratch, "sweep", device)
        subprocess.run(
            [program, "sweep", grid, "--device", device, "--out", out, "-q"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    passed.append(
        compare(
            "sweep", losses(Path(scratch, "sweep", "cpu")), losses(Path(scratch, "sweep", "cuda"))
        )
    )
print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
sys.exit(not all(passed))
