"""The package as a whole."""

import subprocess
import venv
from pathlib import Path

import fuld
import pytest

from tests.test_readme import readme_examples

ROOT = Path(__file__).parents[3]


def test_everything_that_is_exported_has_words() -> None:
    for name in fuld.__all__:
        thing = getattr(fuld, name)
        assert not callable(thing) or (thing.__doc__ or "").strip(), name


def test_numpy_is_enough(tmp_path: Path) -> None:
    """With only NumPy the first example works, and errors name missing packages."""
    wheels = sorted((ROOT / "target" / "wheels").glob("fuld-*.whl"))
    if not wheels:
        pytest.skip("no wheel in target/wheels: make wheel")
    venv.create(tmp_path / "bare", with_pip=True)

    def python(*args: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
        command = [str(tmp_path / "bare" / "bin" / "python"), *args]
        return subprocess.run(
            command, cwd=tmp_path, check=not fails, capture_output=True, text=True
        )

    python("-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheels[-1]))
    listed = python("-m", "pip", "list").stdout
    assert "numpy" in listed
    assert "scipy" not in listed
    assert "xarray" not in listed
    python("-W", "error", "-c", readme_examples()[0])
    shown = python("-c", "import fuld; print(fuld.sample('x^2', seed=1))").stdout
    assert "R-hat" in shown
    refused = python("-c", "import fuld; fuld.sample('x^2', output='arviz')", fails=True)
    assert refused.returncode == 1
    assert "pip install 'fuld[arviz]'" in refused.stderr.splitlines()[-1]
