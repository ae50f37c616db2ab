"""Two processes as users start them."""

import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent.parent


def torchrun(*arguments, cwd=PACKAGE):
    """Runs a script in two processes, which find each other on this machine; what they print."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
