"""`torchrun`, of the interpreter that runs the tests."""

import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent.parent

#: gloo sometimes aborts a process while another one leaves, on a machine that is busy: some one
#: run in ten. Errors of the code occur every time.
ATTEMPTS = 3


def torchrun(*arguments, cwd=PACKAGE):
    """Return the output of the processes."""
    for attempt in range(ATTEMPTS):
        code, printed, errors = _run(arguments, cwd)
        if "SIGABRT" not in errors or attempt == ATTEMPTS - 1:
            assert code == 0, errors
            break
    return printed


def _run(arguments, cwd):
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
    return process.returncode, printed, errors
