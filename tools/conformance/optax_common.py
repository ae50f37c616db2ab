"""optax's own tests of contributed optimizers, run with fuld.optax in place of theirs.

The file is optax's contrib/_common_test.py, of the version that is installed: from the package
itself, or from its source distribution where the package comes without tests. Only the two lists of
optimizers under test are replaced; nothing of it is kept here.

    python tools/conformance/optax_common.py
"""

import ast
import importlib.util
import subprocess
import sys
import tarfile
import tempfile
import types
import unittest
from collections import Counter
from pathlib import Path

import optax
import optax.contrib
from fuld.optax import from_paper, fuld

FILE = "contrib/_common_test.py"

# What is put in place of optax's lists: name, settings, and which wrapper goes around it.
SETTINGS = [
    ("fuld", {"learning_rate": 1e-2}, None, None),
    (
        "fuld",
        {"learning_rate": 1e-3, "alpha": 1.2, "noise_scale": 3.0, "nesterov": True},
        None,
        None,
    ),
    ("fuld", {"learning_rate": 1e-3, "alpha": 2.0}, None, None),
    ("fuld", {"learning_rate": 1e-3, "form": "paper"}, None, None),
    ("fuld", {"learning_rate": 1e-3, "momentum": None, "noise_scale": 10.0}, None, None),
    ("fuld", {"learning_rate": 1e-3, "noise_scale": 10.0, "weight_decay": 1e-4}, None, None),
    ("fuld", {"learning_rate": 1e-3, "alpha": "auto"}, None, None),
    ("from_paper", {"eta": 0.03, "gamma": 3.0}, None, None),
    ("fuld", {"learning_rate": 1.0}, "mechanize", {"weight_decay": 0.0}),
    ("fuld", {"learning_rate": 1e-2}, "schedule_free", {"learning_rate": 1e-2}),
    (
        "fuld",
        {"learning_rate": 1e-3, "momentum": None, "noise_scale": 10.0},
        "reduce_on_plateau",
        {},
    ),
]
KEYS = ("opt_name", "opt_kwargs", "wrapper_name", "wrapper_kwargs")
OURS = tuple(dict(zip(KEYS, setting, strict=True)) for setting in SETTINGS)

# What a test's full name has in it, and why it says nothing about our optimizer then.
NOT_APPLICABLE = {
    (
        "accept_extra_args",
        "reduce_on_plateau",
        "wrap=True",
    ): "The test gives reduce_on_plateau the loss that it needs "
    "only around the optimizers that it knows by name.",
}


def source() -> str:
    """Return the text of optax's test."""
    spec = importlib.util.find_spec("optax")
    assert spec is not None
    assert spec.origin is not None
    installed = Path(spec.origin).parent / FILE
    if installed.exists():
        return installed.read_text()
    with tempfile.TemporaryDirectory() as folder:
        name = f"optax=={optax.__version__}"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-binary", ":all:"]
        subprocess.run([*pip, "--no-deps", "--dest", folder, name], check=True)
        with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as archive:
            member = next(m for m in archive.getmembers() if m.name.endswith(f"optax/{FILE}"))
            text = archive.extractfile(member)
            assert text is not None
            return text.read().decode()


def tests() -> types.ModuleType:
    """Return optax's test as a module, with our settings under test."""
    tree = ast.parse(source())
    place = next(k for k, node in enumerate(tree.body) if isinstance(node, ast.ClassDef))
    lists = "_MAIN_OPTIMIZERS_UNDER_TEST = _ALL_OPTIMIZERS_UNDER_TEST = OURS"
    tree.body[place:place] = ast.parse(lists).body
    module = types.ModuleType("optax_common")
    module.__dict__["OURS"] = OURS
    # Where the test looks for an optimizer by its name.
    optax.contrib.fuld, optax.contrib.from_paper = fuld, from_paper
    sys.modules[module.__name__] = module
    exec(compile(ast.fix_missing_locations(tree), FILE, "exec"), module.__dict__)  # noqa: S102
    return module


class Result(unittest.TextTestResult):
    """Keeps what passed, too, and skips what does not apply."""

    def __init__(self, *arguments: object, **names: object) -> None:
        super().__init__(*arguments, **names)  # type: ignore[arg-type]
        self.passed: list[str] = []

    def startTest(self, test: unittest.TestCase) -> None:
        """Begin a test, or have it skip itself."""
        super().startTest(test)
        for words, reason in NOT_APPLICABLE.items():
            if all(word in test.id() for word in words):
                test.setUp = lambda: test.skipTest(reason)  # type: ignore[method-assign]  # noqa: B023

    def addSuccess(self, test: unittest.TestCase) -> None:
        """Note its name."""
        super().addSuccess(test)
        self.passed.append(kind(test))


def kind(test: unittest.TestCase) -> str:
    """Return the name of a test, or of that which it is a part of, without the number of its settings."""
    whole = getattr(test, "test_case", test)
    return whole._testMethodName.rstrip("0123456789")


def main() -> int:
    """Run all, print a table, and fail if one failed."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(tests())
    result = unittest.TextTestRunner(resultclass=Result, verbosity=0).run(suite)
    assert isinstance(result, Result)
    passed = Counter(result.passed)
    failed = Counter(kind(test) for test, _ in result.failures + result.errors)
    skipped: dict[str, list[str]] = {}
    for test, reason in result.skipped:
        skipped.setdefault(kind(test), []).append(reason)
    print(f"optax {optax.__version__}, {FILE}, with {len(OURS)} settings of fuld.optax:")
    for name in sorted({*passed, *failed, *skipped}):
        print(f"  {passed[name]:3} passed, {failed[name]} failed: {name}")
        for reason, count in Counter(skipped.get(name, [])).items():
            print(f"      {count} not applicable. {reason}")
    print(f"{passed.total()} passed, {failed.total()} failed, {len(result.skipped)} not applicable")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
