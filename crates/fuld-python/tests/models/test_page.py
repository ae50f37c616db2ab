"""Every block of docs/models.md runs, and its draws agree with those of NUTS."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.models.eight_schools import assert_same, nuts_draws

PAGE = Path(__file__).parents[4] / "docs" / "models.md"
#: Packages of the blocks that need one.
PACKAGES = {"PyMC": "pymc", "NumPyro": "numpyro", "Stan": "bridgestan", "BlackJAX": "blackjax"}


def blocks() -> dict[str, str]:
    """The code of each section, by its heading."""
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    code = {}
    for section in sections:
        found = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
        if found:
            code[section.split("\n")[0]] = "\n".join(found)
    return code


SECTIONS = blocks()


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
