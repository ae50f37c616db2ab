"""Writes the module tree with the lines of each crate into CONTRIBUTING.md.

python tools/modules/tree.py
"""

import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]
CRATES = [
    "levy-stable",
    "fuld",
    "fuld-burn",
    "fuld-sample",
    "fuld-train",
    "fuld-plot",
    "fuld-reproduce",
    "fuld-cli",
    "fuld-python",
]
SPECIAL = {"lib", "main", "mod", "tests"}


def modules(folder: Path) -> str:
    """Returns the names of the modules in a folder; those with modules of their own are followed by these in braces."""
    names = {
        path.relative_to(folder).parts[0].removesuffix(".rs") for path in folder.rglob("*.rs")
    } - SPECIAL
    inner = {
        name: modules(folder / name) if (folder / name).is_dir() else "" for name in sorted(names)
    }
    return ", ".join(f"{name} {{{inside}}}" if inside else name for name, inside in inner.items())


def crate(name: str) -> str:
    source = ROOT / "crates" / name / "src"
    lines = sum(len(path.read_text().splitlines()) for path in source.rglob("*.rs"))
    tree = textwrap.fill(modules(source), 118, initial_indent="    ", subsequent_indent="    ")
    return f"{name} ({lines:,} lines)\n{tree}\n"


page = ROOT / "CONTRIBUTING.md"
before, fence, rest = page.read_text().partition("## Modules\n")
intro, _, after = rest.partition("```text\n")
page.write_text(
    f"{before}{fence}{intro}```text\n{''.join(map(crate, CRATES))}```{after.partition('```')[2]}"
)
