#!/usr/bin/env python3
"""Runs a tutorial: a Markdown file whose blocks of Python are one program, as in a notebook.

After each block comes what it prints, as a block of text, and the pictures it draws, as links. Without options the
program is run and must print what the file says, but for a tenth in its numbers, and draw as many pictures; --write
puts in what was printed and drawn.
"""

import argparse
import ast
import contextlib
import difflib
import io
import os
import re
import sys
import tempfile
import traceback
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

STYLE = {
    "figure.figsize": (7.2, 3.4),
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": mpl.cycler(
        color=["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
    ),
    "font.size": 10,
    "legend.frameon": False,
    "svg.fonttype": "none",
    # The same bytes whenever it is drawn.
    "svg.hashsalt": "fuld",
}

# Code, then what it prints, then its pictures.
CELL = re.compile(
    r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```\n)?(?P<pictures>(?:\n!\[[^\]]*\]\([^)]*\)\n)*)",
    re.DOTALL,
)
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]*)\)")


NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
# Chains of a Python function follow the last bits of NumPy's sums, which are not those of every
# processor.
TOLERANCE = 0.1


class Failed(Exception):
    """The program did not do what the file says."""


def run(code: str, line: int, name: str, scope: dict) -> str:
    """Runs a cell; a last line that is an expression is shown, as notebooks do. Returns what it prints."""
    tree = ast.parse("\n" * line + code, filename=name)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), scope)  # noqa: S102 (it is what this program is for)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), scope)
            # What the last command of a picture returns is of no interest.
            if value is not None and not plt.get_fignums():
                print(repr(value))
    return printed.getvalue()


def alike(one: str, other: str) -> bool:
    """Whether two texts are the same but for their numbers, and these nearly so."""
    words = [re.sub(r"\s+", " ", NUMBER.sub("0", text)) for text in (one, other)]
    numbers = [[float(number) for number in NUMBER.findall(text)] for text in (one, other)]
    if words[0] != words[1]:
        return False
    return all(abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) for a, b in zip(*numbers, strict=True))


def tutorial(path: Path, write: bool) -> str:
    text = path.read_text(encoding="utf-8")
    scope: dict = {"__name__": "__main__"}
    folder = path.parent.resolve()

    def cell(match: re.Match) -> str:
        line = text[: match.start("code")].count("\n")
        try:
            printed = run(match["code"], line, str(path), scope)
        except Exception as error:
            raise Failed(traceback.format_exc()) from error
        links = PICTURE.findall(match["pictures"])
        drawn = [plt.figure(number) for number in plt.get_fignums()]
        if len(drawn) != len(links):
            raise Failed(
                f"{path}:{line}: draws {len(drawn)} pictures, and has links to {len(links)}"
            )
        for figure, link in zip(drawn, links, strict=True):
            if write:
                (folder / link).parent.mkdir(parents=True, exist_ok=True)
                figure.savefig(
                    folder / link, metadata={"Date": None} if link.endswith(".svg") else None
                )
            else:
                figure.savefig(Path(link).name)
                if not (folder / link).exists():
                    raise Failed(f"{path}:{line}: {link} is not there; make tutorial draws it")
        plt.close("all")
        result = f"```python\n{match['code']}```\n"
        if printed:
            result += f"\n```text\n{printed}```\n"
        return result + match["pictures"]

    here = os.getcwd()
    with tempfile.TemporaryDirectory() as scratch, plt.rc_context(STYLE):
        os.chdir(scratch)
        try:
            return CELL.sub(cell, text)
        finally:
            os.chdir(here)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--write", action="store_true", help="put what is printed and drawn into the file"
    )
    args = parser.parse_args()
    try:
        result = tutorial(args.file.resolve(), args.write)
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    before = args.file.read_text(encoding="utf-8")
    if args.write:
        args.file.write_text(result, encoding="utf-8")
    elif not alike(result, before):
        difference = difflib.unified_diff(
            before.splitlines(), result.splitlines(), "the file", "the program", lineterm=""
        )
        print(
            "\n".join(difference),
            "\nmake tutorial puts in what the program prints",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
