"""The tour of fuld.torch: its code runs, and what it points to is there."""

import re
import subprocess
import sys

import pytest

from tests.test_interrupt import PACKAGE

pytest.importorskip("torch")

TEXT = (PACKAGE / "docs" / "torch.md").read_text()


def test_the_code_of_the_documentation(tmp_path):
    # One program, as a reader would type it.
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 4
    (tmp_path / "script.py").write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "alpha" in done.stdout  # what the monitor prints


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)]*)\)", TEXT):
        assert (PACKAGE / "docs" / link).exists(), link
