"""`torchrun`, of the interpreter that runs the tests."""

import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent.parent


def torchrun(*arguments, cwd=PACKAGE):
    """What the processes print."""
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
