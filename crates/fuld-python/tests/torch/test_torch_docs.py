"""The tour of fuld.torch: its code prints the output shown there, and its links are valid."""

import os
import re
import subprocess
import sys

import pytest

from tests.test_interrupt import PACKAGE

torch = pytest.importorskip("torch")

from fuld.torch import FULD  # noqa: E402

TEXT = (PACKAGE / "docs" / "torch.md").read_text()


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return the output of the code as one program."""
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 6
    folder = tmp_path_factory.mktemp("tour")
    (folder / "script.py").write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        # Tensors so small are no work for two threads, which would wait for each other.
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(text, pattern):
    found = re.findall(pattern, text, re.MULTILINE)
    return [(name, *map(float, numbers)) for name, *numbers in found]


def test_the_table_of_the_monitor(printed):
    pattern = r"^(\d\.\w+|all) +([\d.]+) ± ([\d.]+) "
    written, found = rows(TEXT, pattern), rows(printed, pattern)
    assert [name for name, *_ in written] == [name for name, *_ in found]
    assert len(written) == 5
    # The random numbers are the same everywhere, the sums are not to the last digit.
    for (_, alpha, error), (_, here, _) in zip(written, found, strict=True):
        assert here == pytest.approx(alpha, abs=error)


def test_the_table_of_scales(printed):
    pattern = r"^(\d\.\d{3}) +([\d.]+)%  ([\d.]+)$"
    written, found = rows(TEXT, pattern), rows(printed, pattern)
    assert len(written) == 7
    for (scale, beyond, loss), (_, beyond_here, loss_here) in zip(written, found, strict=True):
        assert beyond_here == pytest.approx(beyond, abs=1.5), scale
        assert loss_here == pytest.approx(loss, rel=0.2), scale
    # The text claims that 0.1 costs nothing, and that the scale of the noise does.
    losses = {scale: loss for scale, _, loss in found}
    assert losses["0.100"] < 1.2 * losses["1.000"] < losses["0.010"] / 10


def test_the_table_of_the_guard(printed):
    pattern = r"^(0\.\d+) +nan +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$"
    written, found = rows(TEXT, pattern), rows(printed, pattern)
    assert len(written) == len(found) == 3
    # Noise with such tails amplifies rounding, so only the success of training is compared.
    for (scale, *losses), (_, *here) in zip(written, found, strict=True):
        assert here == pytest.approx(losses, rel=0.6), scale
        fuld, guarded_sgd, *_ = here
        assert max(fuld, guarded_sgd) < 0.5
        assert guarded_sgd < fuld


def test_the_table_of_lasting_gradients():
    """The step of a gradient that lasts, as a share of SGD's."""
    heads = [0.1, 0.3, 1, 3]
    for momentum in (0.9, 0.99):
        cells = re.search(rf"^\| momentum {momentum} \| (.*) \|$", TEXT, re.MULTILINE)
        assert cells is not None
        for gradient, cell in zip(heads, cells[1].split(" | "), strict=True):
            x = torch.zeros(1, dtype=torch.float64)
            optimizer = FULD([x], lr=1.0, momentum=momentum)
            x.grad = torch.full_like(x, gradient)
            b = gradient / (1 - momentum)
            optimizer.state[x]["momentum_buffer"] = torch.full_like(x, b)
            optimizer.step()
            digits = len(cell.split(".")[1])
            assert -x.item() / b == pytest.approx(float(cell), abs=0.51 * 10**-digits)


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)]*)\)", TEXT):
        path, _, heading = link.partition("#")
        if path:
            assert (PACKAGE / "docs" / path).exists(), link
        else:
            headings = re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)
            assert heading in [title.lower().replace(" ", "-") for title in headings], link
