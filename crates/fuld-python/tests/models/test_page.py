"""Every block of the pages about models and about minibatches runs and gives right answers."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.models.eight_schools import assert_same, nuts_draws

DOCS = Path(__file__).parents[4] / "docs"
PAGE = DOCS / "models.md"
#: Packages of the blocks that need one.
PACKAGES = {"PyMC": "pymc", "NumPyro": "numpyro", "Stan": "bridgestan", "BlackJAX": "blackjax"}


def blocks(page: Path) -> dict[str, str]:
    """The code of each section, by its heading."""
    sections = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    code = {}
    for section in sections:
        found = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
        if found:
            code[section.split("\n")[0]] = "\n".join(found)
    return code


SECTIONS = blocks(PAGE)


@pytest.mark.parametrize("heading", [name for name in SECTIONS if name != "The example"])
def test_draws_agree_with_nuts(heading, tmp_path, monkeypatch):
    package = PACKAGES.get(heading)
    if package is not None and find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {"__name__": "page"}
    for code in (SECTIONS["The example"], SECTIONS[heading]):
        exec(compile(code, f"{PAGE.name}: {heading}", "exec"), scope)
    assert_same({name: scope[name] for name in ("mu", "tau", "theta")}, nuts_draws())


def test_the_page_has_all_front_ends():
    assert {"A formula", "NumPy", "JAX", "torch", *PACKAGES} <= SECTIONS.keys()


def test_minibatches():
    """The known noise scale removes the bias. Ratios of sds have standard errors of 0.005."""
    scope: dict[str, Any] = {"__name__": "page"}
    page = DOCS / "stochastic-gradients.md"
    for heading, code in blocks(page).items():
        exec(compile(code, f"{page.name}: {heading}", "exec"), scope)
    widths = {name: scope[name]["w"].std((0, 1)) / scope["sd"] for name in ("noisy", "known")}
    assert (widths["noisy"] > 1.04).all(), widths
    assert (abs(widths["known"] - 1) < 0.03).all(), widths
    assert 0.6 < scope["error"] < 1.6
