"""The curves of `fuld train`, the trainer that this project has in Rust."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[3]


class TrainerError(Exception):
    """The program was not found, or it failed."""


def find(given: Path | None) -> Path:
    """The program: the one given, that of the path, or the one built last in this repository."""
    if given is not None:
        if not given.is_file():
            raise TrainerError(f"there is no program {given}")
        return given.resolve()
    built = [ROOT / "target" / profile / "fuld" for profile in ("release", "debug")]
    built = sorted((p for p in built if p.is_file()), key=lambda p: p.stat().st_mtime)
    on_path = shutil.which("fuld")
    if built:
        return built[-1]
    if on_path is not None:
        return Path(on_path)
    raise TrainerError("there is no program fuld: cargo build --release -p fuld-cli builds it")


def train(program: Path, data: Path | None, settings: dict[str, object]) -> list[dict[str, float]]:
    """The measurements of one run; `settings` are options of `fuld train`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program), "train", "--json", "--quiet", "--threads", "1", "--out", folder]
        command += ["--fresh", "--data", "digits" if data is None else str(data.resolve())]
        for name, value in settings.items():
            command += [f"--{name}", str(value)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    # 3: diverged, which is a result too.
    if done.returncode not in (0, 3):
        raise TrainerError(f"{' '.join(command)}\n{done.stderr.strip()}")
    measured: list[dict[str, float]] = json.loads(done.stdout)["measurements"]
    return measured
