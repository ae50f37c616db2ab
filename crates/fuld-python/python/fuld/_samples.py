"""The draws of a run, as `fuld.sample` returns them; NumPy is all they need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuld import _native
from fuld._result import Draws, Output


def interruption(stopped: str) -> str:
    """Return the warning about a run that was stopped when it had come this far."""
    return f"the run was stopped: {stopped}; see {_native.explanation('interrupted-runs')}"


class Samples(Mapping[str, NDArray[np.float64]]):
    """Draws of all chains by name, with statistics, settings and a summary.

    ``samples["x"]`` is an array with axes chain and draw, and with a third one for the coordinates
    if there are several; ``samples["v"]`` are velocities, if they were kept. The draws of a model
    have the names of its variables, as in ``samples["tau"]``, with axes chain, draw and those of
    the variable. The text of the object is its headline, its summary, the warnings and the notes.

    Examples
    --------
    >>> import fuld
    >>> samples = fuld.sample("x^4/4 - x^2/2", seed=1)
    >>> samples["x"].shape
    (64, 1000)
    >>> sorted(samples.stats)
    ['acceptance_rate', 'diverging', 'energy', 'lp']
    >>> samples.settings["seed"], samples.warnings
    (1, [])
    """

    def __init__(
        self, draws: Draws, planned: _native.PlannedRun, suspicions: Sequence[str] = ()
    ) -> None:
        self._draws = draws
        self._planned: _native.PlannedRun | None = planned
        self._headline = planned.headline
        self._suspicions = list(suspicions)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        arrays = self._draws.variables
        try:
            return arrays[name]
        except KeyError:
            raise KeyError(f"{name!r}: there are {', '.join(map(repr, arrays))}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._draws.variables)

    def __len__(self) -> int:
        return len(self._draws.variables)

    @property
    def coordinates(self) -> list[str]:
        """Names of the coordinates: x1, x2, ..., or elements of variables like theta[0]."""
        return list(self._draws.elements()[1])

    @property
    def unconstrained(self) -> NDArray[np.float64]:
        """The points that the chains visited, (chain, draw, coordinate), before any transform."""
        return self._draws.x

    @property
    def chains(self) -> NDArray[np.int64]:
        """Numbers of the chains: all of them, unless a run in an executor was stopped."""
        return self._draws.chains

    @cached_property
    def stats(self) -> dict[str, NDArray[Any]]:
        """Arrays (chain, draw) by name.

        ``lp`` is the logarithm of the density, up to a constant; ``acceptance_rate`` the acceptance
        probability of the proposal; ``energy`` the energy before it; ``diverging`` whether it
        diverged. Integrators other than ``"exact"`` have only ``diverging``.
        """
        return self._draws.statistics_by_name()

    @property
    def settings(self) -> dict[str, Any]:
        """All settings by name, with the seed and with what was adapted."""
        return dict(self._draws.settings)

    @property
    def warnings(self) -> list[str]:
        """Why the draws are not to be trusted, and what helps; empty if nothing was found."""
        stopped = [interruption(self.stopped)] if self.stopped else []
        return self._suspicions + [text for _, text in self._summarised[1]] + stopped

    @property
    def notes(self) -> list[str]:
        """Remarks that are not warnings, such as that the system has another stationary law."""
        return list(self._summarised[2])

    @property
    def stopped(self) -> str:
        """How far the run was when it was stopped; empty if it was not."""
        return self._draws.stopped

    def summary(self) -> str:
        """Return the table that ``fuld sample`` prints.

        It has means, standard deviations, quantiles, effective sample sizes and R-hat; the distance
        from the exact law, if that is known; and what was adapted.
        """
        return self._summarised[0]

    def to(self, output: Output) -> Any:  # noqa: ANN401
        """Return the draws as the object of the installed ArviZ, or as a dataset of xarray.

        Parameters
        ----------
        output
            ``"arviz"``, ``"xarray"``, or ``"numpy"``, which is this object.
        """
        return self if output == "numpy" else self._draws.to(output)

    @cached_property
    def _summarised(self) -> tuple[str, list[tuple[str, str]], list[str]]:
        """The summary, the warnings with the anchors of their sections, and the notes."""
        assert self._planned is not None
        draws = self._draws
        if draws.x.size == 0:
            return "no draws\n", [], []
        text, warnings, notes = self._planned.summary(
            *draws.elements(), draws.statistics, dict(draws.settings)
        )
        lost = draws.not_finite()
        if lost:
            shown = ", ".join(lost[:4]) + (f" and {len(lost) - 4} more" if len(lost) > 4 else "")
            remark = f"{shown}: not finite in some draws, so the summary leaves them out"
            warnings.append(("", remark))
        return text, warnings, notes

    def __repr__(self) -> str:
        shapes = [
            f"{name} ({', '.join(f'{axis}: {size}' for axis, size in sizes.items())})"
            for name, sizes in self._draws.axes().items()
        ]
        lines = [self._headline, "", self.summary().rstrip(), "", ", ".join(shapes)]
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join(lines + [f"note: {text}" for text in self.notes])

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, in which the summary replaces the planned run."""
        return {**self.__dict__, "_summarised": self._summarised, "_planned": None}
