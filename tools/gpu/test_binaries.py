"""Copies the test programs that cargo built, without debug information, into a folder.

cargo test --no-run --message-format json | python test_binaries.py FOLDER
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

folder = Path(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["profile"]["test"]:
        target = folder / f"{message['target']['name']}-{message['target']['kind'][0]}"
        shutil.copy(message["executable"], target)
        subprocess.run(["strip", target], check=True)
