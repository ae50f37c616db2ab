"""Builds the package from the root of the repository: maturin, in the folder of the package."""

import os
from pathlib import Path

os.chdir(Path(__file__).parent)

from maturin import *  # noqa: E402, F403
