"""The tour of fuld.optax: its code runs, and what it says of what it prints is so."""

import re
import subprocess
import sys

import pytest

from tests.test_interrupt import PACKAGE

pytest.importorskip("optax")

TEXT = (PACKAGE / "docs" / "optax.md").read_text()


def test_the_code_of_the_documentation(tmp_path):
    # One program, as a reader would type it.
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 10
    (tmp_path / "script.py").write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, "-W", "error", "script.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    loss = re.search(r"^loss (\S+)$", printed, re.MULTILINE)
    assert loss is not None
    assert float(loss[1]) < 0.1  # of 1 at first
    pattern = r"^noise_scale +\S+: ([\d.]+)% beyond the knee$"
    written, found = (
        [float(share) for share in re.findall(pattern, text, re.MULTILINE)]
        for text in (TEXT, printed)
    )
    assert len(written) == 4
    assert found == pytest.approx(written, abs=1)
    assert "alpha has come to 2.00" in printed
    assert "alpha is 1.7550" in printed  # in half precision too
    # In noise of index 1.5 and scale 0.01 SGD diverges, unless it is guarded.
    assert re.findall(r"^(.*): loss nan$", printed, re.MULTILINE) == ["sgd"]
    guarded = re.search(r"^guarded: loss (\S+)$", printed, re.MULTILINE)
    assert guarded is not None
    assert float(guarded[1]) < 0.3
    assert printed.count("nan") == 1


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)]*)\)", TEXT):
        path, _, heading = link.partition("#")
        there = (PACKAGE / "docs" / path).read_text()
        if not heading:
            continue
        headings = re.findall(r"^#+ (.*)$", there, re.MULTILINE)
        assert heading in [title.lower().replace(" ", "-") for title in headings], link
