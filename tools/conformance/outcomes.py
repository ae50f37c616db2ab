"""Runs other people's tests with pytest and prints what came of them."""

from __future__ import annotations

import contextlib
import io
from collections import Counter, defaultdict
from collections.abc import Callable

import pytest

RESULTS = ("passed", "failed", "does not apply")


class Outcomes:
    """A plugin of pytest: it runs the tests that are about us, and keeps what came of each."""

    def __init__(self, label: Callable[[str], str | None], excuses: dict[str, str]) -> None:
        self._label = label
        self._excuses = excuses
        self._found: dict[str, tuple[str, str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leaves out what is about others, and passes over what cannot be asked of us."""
        items[:] = [item for item in items if self._label(item.name) is not None]
        for item in items:
            reason = self._excuses.get(self._label(item.name) or "")
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be read is a failure."""
        if report.failed:
            self._found[report.nodeid] = "failed", _error(report.longreprtext)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keeps the worst of a test's phases."""
        if report.failed:
            self._found[report.nodeid] = "failed", _error(report.longreprtext)
        elif report.skipped:
            reason = (
                report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
            )
            self._found[report.nodeid] = "does not apply", reason.removeprefix("Skipped: ")
        else:
            self._found.setdefault(report.nodeid, ("passed", ""))

    def table(self) -> str:
        """A line for each test, with its cases counted, and the reasons where some did not pass."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        reasons: dict[str, set[str]] = defaultdict(set)
        for node, (result, reason) in self._found.items():
            name = node.rsplit("::", 1)[-1]
            label = self._label(name) or name
            counts[label][result] += 1
            reasons[label] |= {reason} - {""}
        counts["all"] = sum(counts.values(), Counter())
        width = max(map(len, counts))
        lines = [f"{'test':{width}}  " + "  ".join(RESULTS) + "  why"]
        for label, of in counts.items():
            cells = "  ".join(f"{of[result] or '':>{len(result)}}" for result in RESULTS)
            lines.append(f"{label:{width}}  {cells}  {'; '.join(sorted(reasons[label]))}".rstrip())
        return "\n".join(lines)

    @property
    def good(self) -> bool:
        """Whether something was run and nothing failed."""
        results = [result for result, _ in self._found.values()]
        return "passed" in results and "failed" not in results


def run(
    arguments: list[str], label: Callable[[str], str | None], excuses: dict[str, str], verbose: bool
) -> bool:
    """Runs pytest, prints the table and says whether all is well.

    `label` names the line of a test, None if it is not about us; `excuses` has the lines that do not apply, and why. The
    settings of whoever wrote the tests are left aside.
    """
    outcomes = Outcomes(label, excuses)
    plain = ["-c", "/dev/null", "-p", "no:cacheprovider", "-q"]
    with contextlib.nullcontext() if verbose else contextlib.redirect_stdout(io.StringIO()):
        pytest.main([*plain, *arguments], plugins=[outcomes])
    print(outcomes.table())
    return outcomes.good


def _error(text: str) -> str:
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return (lines or text.strip().splitlines() or ["no reason given"])[0]
