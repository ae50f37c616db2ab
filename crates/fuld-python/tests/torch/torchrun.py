"""`torchrun`, of the interpreter that runs the tests."""

import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent.parent


def torchrun(*arguments, cwd=PACKAGE):
    """What the processes print."""
    process = subprocess.Popen(
        [sys.executable, "-m", "torch.distributed.run", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            printed, errors = process.communicate(timeout=50)
        except subprocess.TimeoutExpired:
            # It ends those that it started; killed, it would leave them.
            process.terminate()
            raise
    assert process.returncode == 0, errors
    return printed
