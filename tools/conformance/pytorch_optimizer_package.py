"""The optimizer tests of the PyPI package pytorch-optimizer, with FULD among its optimizers.

python pytorch_optimizer_package.py PATH/TO/pytorch_optimizer-VERSION

The folder is the unpacked source distribution of the installed version: pip download --no-binary :all: --no-deps
pytorch-optimizer. Its tests go through a table of optimizers by name, in which FULD is entered; those about one optimizer
of the package alone are left out.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from importlib.metadata import version
from pathlib import Path

import outcomes
import pytorch_optimizer
from fuld.torch import FULD

NAME = "fuld"
# Name, settings and steps, as the package's own recipes have them.
RECIPES = [
    (NAME, {"lr": 5e-1}, 10),
    (NAME, {"lr": 5e-1, "weight_decay": 1e-3, "nesterov": True}, 10),
    (NAME, {"lr": 5e-1, "weight_decay": 1e-3, "decoupled_weight_decay": True, "alpha": 1.5}, 10),
    (NAME, {"lr": 5e-1, "momentum": 0.0, "alpha": 1.2}, 10),
    (NAME, {"lr": 1e-1, "form": "paper"}, 10),
    (NAME, {"lr": 5e-1, "alpha": 2.0}, 10),
]
EXCUSES = {
    "test_learning_rate": "wants the package's own class of error, from which it excuses torch's optimizers too",
}


def enter(folder: Path) -> None:
    """Puts FULD into the package's tables, before its tests read them."""
    pytorch_optimizer.optimizer.OPTIMIZERS[NAME] = FULD
    sys.path.insert(0, str(folder))
    recipes = importlib.import_module("tests.recipes")
    recipes.OPTIMIZER_RECIPES.extend(RECIPES)
    recipes.COMPILE_SUPPORTED_OPTIMIZERS.append(RECIPES[0])


def label(name: str) -> str | None:
    """The test's name, if FULD is what it was run for."""
    test, _, case = name.partition("[")
    return test if NAME in re.split(r"[^a-z0-9]+", case) else None


def main() -> int:
    """Runs the tests and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", type=Path, help="where the package's pyproject.toml and tests/ are"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="what pytest prints, too")
    options = parser.parse_args()
    if not (options.folder / "tests" / "recipes.py").is_file():
        parser.error(
            f"there is no tests/recipes.py in {options.folder}: it is in the package's source distribution"
        )
    enter(options.folder)
    print(f"pytorch-optimizer {version('pytorch-optimizer')}, {options.folder}")
    return (
        0 if outcomes.run([str(options.folder / "tests")], label, EXCUSES, options.verbose) else 1
    )


if __name__ == "__main__":
    sys.exit(main())
