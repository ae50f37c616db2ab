"""The examples of the README run as they stand."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def readme_examples() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = text.split("```python\n")[1:]
    return [block.split("```")[0] for block in blocks]


def test_the_readme_has_examples() -> None:
    assert readme_examples()


@pytest.mark.parametrize("number", range(len(readme_examples())))
def test_readme(number: int, tmp_path: Path) -> None:
    code = readme_examples()[number]
    for framework in ("torch", "optax"):
        if f"fuld.{framework}" in code and find_spec(framework) is None:
            pytest.skip(f"{framework} is not installed")
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, check=True)
