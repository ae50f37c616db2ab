"""Builds the package from the root of the repository: maturin, in the folder where the package is."""

import os
from pathlib import Path

os.chdir(Path(__file__).parent)

from maturin import *  # noqa: E402, F403
