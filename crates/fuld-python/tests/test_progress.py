"""The line that says how far a run is."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import fuld
from fuld._progress import Progress

#: Two seconds of work, so that there is something to show.
RUN = """
import fuld, time, warnings
from tests.wells import well
warnings.simplefilter("ignore", fuld.SamplingWarning)
def slowly(x):
    time.sleep(0.002)
    return well(x)
fuld.sample(slowly, draws=1000, thin=1, warmup=0, chains=4, output="numpy")
print("done")
"""


def run(columns, encoding="utf-8"):
    """Return the text as a terminal of this width would show it."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN],
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "COLUMNS": str(columns), "PYTHONIOENCODING": encoding},
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            block = os.read(ours, 1000)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        seen += block
    os.close(ours)
    assert process.wait() == 0
    return seen.decode(encoding)


def test_a_terminal_sees_a_bar_that_leaves_nothing_behind():
    seen = run(100)
    lines = [line for line in seen.split("\r") if line.strip()]
    assert len(lines) > 3
    words = r"\d+ % of 1,000 steps, \d+ draws a chain, \d+ % accepted, \d+ s left *"
    bar = rf"fuld ▕█+ *▏ {words}"
    assert all(re.fullmatch(bar, line) for line in lines), lines
    assert max(map(len, lines)) < 100
    assert re.search(r"\r +\r$", seen)


def test_a_narrow_terminal_sees_one_line():
    lines = run(40).split("\r")
    assert all(len(line) < 40 for line in lines)
    assert any(re.match(r"fuld \d+ % of 1,000 steps", line) for line in lines)


def test_a_terminal_without_blocks_sees_other_signs():
    assert re.search(r"\rfuld \[#+ *\] \d+ % of 1,000 steps", run(100, encoding="ascii"))


def test_nothing_is_said_elsewhere():
    process = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (process.stdout, process.stderr) == ("done\n", "")


def test_a_program_without_standard_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert fuld.sample("x", chains=1, draws=1, output="numpy")["x"].shape == (1, 1)


def test_words():
    half = Progress(500, 1000, 40, 0, 2.0)
    assert str(half) == "50 % of 1,000 steps, 40 draws a chain, 2 s left"
    assert ", 87 % accepted, 2 s" in str(Progress(500, 1000, 40, 0, 2.0, acceptance=0.874))
    assert "3 chains diverged" in str(Progress(500, 1000, 40, 3, 2.0))
    assert Progress(0, 1000, 0, 0, 2.0).remaining == float("inf")
    # Steps of an earlier run took no time of this one.
    assert Progress(900, 1000, 0, 0, 10.0, resumed_at=800).remaining == 10.0
    assert "2 min left" in str(Progress(500, 1000, 40, 0, 120.0))
    assert "2.0 h left" in str(Progress(500, 1000, 40, 0, 7200.0))
