"""Named variables with shapes and constraints, laid out in one vector of free coordinates.

A variable is declared by its shape, alone or after a constraint:

    {"mu": (), "tau": ("positive", ()), "theta": 8, "p": ("interval", 0, 10, ())}
"""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from fuld._constraints import CONSTRAINTS, Array, Constraint, Real, Shape, constraint

_FORMS = (
    "a shape like (), 8 or (2, 3), or a constraint and a shape like ('positive', ()), "
    "('interval', 0, 1, 8) or ('simplex', 3)"
)


#: Axes of all draws.
RESERVED = ("chain", "draw")


@dataclass(frozen=True)
class Variable:
    """A variable: its name, its shape and its constraint."""

    name: str
    shape: Shape
    constraint: Constraint

    @property
    def free_shape(self) -> Shape:
        """The shape of its coordinates."""
        return self.constraint.free_shape(self.shape)

    @property
    def size(self) -> int:
        """The number of its coordinates."""
        return int(np.prod(self.free_shape, dtype=int))


class Variables:
    """Variables one after the other in a vector of coordinates, each of any real value."""

    def __init__(self, declared: Mapping[str, object]) -> None:
        if not isinstance(declared, Mapping) or not declared:
            raise TypeError(
                "variables must be a dict with one entry per variable, like "
                f"{{'mu': (), 'tau': ('positive', ())}}, got {declared!r}"
            )
        self.all = tuple(_variable(name, form) for name, form in declared.items())
        ends = np.cumsum([0, *(variable.size for variable in self.all)])
        self._slices = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self.dim = int(ends[-1])
        if self.dim == 0:
            raise ValueError(f"variables must have at least one coordinate, got {declared!r}")

    @property
    def names(self) -> list[str]:
        """The names of the variables."""
        return [variable.name for variable in self.all]

    def values(self, x: Array) -> tuple[dict[str, Array], Array]:
        """Return the variables at points (n, dim), and the logarithms of the Jacobians (n,)."""
        values, log_jacobian = {}, np.zeros(len(x))
        for variable, u in self._parts(x):
            values[variable.name], log = variable.constraint.forward(u)
            log_jacobian += log
        return values, log_jacobian

    def pull_back(
        self, x: Array, values: Mapping[str, Array], gradients: Mapping[str, Array]
    ) -> Array:
        """Return the gradient in x of the log density with its Jacobian, from that in variables."""
        gradient = np.empty_like(x)
        for (variable, u), place in zip(self._parts(x), self._slices, strict=True):
            name = variable.name
            back = variable.constraint.pull_back(u, values[name], gradients[name])
            gradient[:, place] = back.reshape(len(x), -1)
        return gradient

    def coordinates(self, values: Mapping[str, object]) -> Array:
        """Return the point (dim,) at which the variables have these values, or one per chain.

        A value has the shape of its variable, or one that can be broadcast to it; a value with
        one more axis, the first, has one entry per chain.
        """
        unknown = [name for name in values if name not in self.names]
        missing = [name for name in self.names if name not in values]
        if unknown or missing:
            what = (
                f"no variable is called {unknown[0]!r}" if unknown else f"{missing[0]!r} is missing"
            )
            raise ValueError(f"start must have a value for each of {self.names}: {what}")
        given = {name: np.asarray(value, np.float64) for name, value in values.items()}
        counts = {len(given[v.name]) for v in self.all if given[v.name].ndim == len(v.shape) + 1}
        if len(counts) > 1:
            raise ValueError(
                f"start has values for {' and '.join(map(str, sorted(counts)))} chains"
            )
        per_chain = bool(counts)
        chains = counts.pop() if counts else 1
        parts = []
        for variable in self.all:
            y = given[variable.name]
            try:
                y = np.broadcast_to(y, (chains, *variable.shape))
            except ValueError:
                raise ValueError(
                    f"start[{variable.name!r}] must have shape {variable.shape}, got {y.shape}"
                ) from None
            with np.errstate(invalid="ignore", divide="ignore"):
                u = variable.constraint.inverse(y)
            if not np.isfinite(u).all():
                raise ValueError(
                    f"start[{variable.name!r}] must {variable.constraint.says}, got "
                    f"{values[variable.name]!r}"
                )
            parts.append(u.reshape(chains, -1))
        points = np.concatenate(parts, axis=1)
        return points if per_chain else points[0]

    def _parts(self, x: Array) -> Iterable[tuple[Variable, Array]]:
        for variable, place in zip(self.all, self._slices, strict=True):
            yield variable, x[:, place].reshape(len(x), *variable.free_shape)


def element_names(
    shapes: Mapping[str, Shape],
    dims: Mapping[str, Sequence[str]],
    coords: Mapping[str, Sequence[Any]],
) -> list[str]:
    """Return a name for each element of the variables: mu, theta[0], or theta[Choate]."""
    names = []
    for name, shape in shapes.items():
        axes = dims.get(name, [""] * len(shape))
        for index in np.ndindex(*shape):
            labels = (
                str(coords[axis][i]) if axis in coords else str(i)
                for axis, i in zip(axes, index, strict=True)
            )
            names.append(f"{name}[{', '.join(labels)}]" if shape else name)
    return names


def check_dims(
    shapes: Mapping[str, Shape],
    dims: Mapping[str, Sequence[str]] | None,
    coords: Mapping[str, Sequence[Any]] | None,
) -> tuple[dict[str, tuple[str, ...]], dict[str, list[Any]]]:
    """Return the names of the axes of each variable, and their labels, as ArviZ has them."""
    labels = {axis: list(values) for axis, values in (coords or {}).items()}
    axes_named = {axis for axes in (dims or {}).values() for axis in np.atleast_1d(axes).tolist()}
    for axis in (*axes_named, *labels):
        if axis in RESERVED:
            raise ValueError(f"an axis cannot be called {axis!r}, which all draws have")
    unused = [axis for axis in labels if axis not in axes_named]
    if unused:
        raise ValueError(
            f"coords names the axis {unused[0]!r}, which dims does not: it has {sorted(axes_named)}"
        )
    named: dict[str, tuple[str, ...]] = {}
    for name, axes in (dims or {}).items():
        if name not in shapes:
            raise ValueError(f"dims names {name!r}, but the variables are {list(shapes)}")
        named[name] = (axes,) if isinstance(axes, str) else tuple(axes)
        if len(named[name]) != len(shapes[name]):
            raise ValueError(
                f"dims[{name!r}] must name {len(shapes[name])} axes, got {list(named[name])}"
            )
        for axis, size in zip(named[name], shapes[name], strict=True):
            if axis in labels and len(labels[axis]) != size:
                raise ValueError(
                    f"coords[{axis!r}] must have {size} labels, as many as {name!r} has entries "
                    f"there, got {len(labels[axis])}"
                )
    return named, labels


def _variable(name: object, form: Any) -> Variable:  # noqa: ANN401
    if not isinstance(name, str) or not name.isidentifier():
        raise TypeError(f"a variable must have a name like 'mu', got {name!r}")
    if name in RESERVED:
        raise ValueError(f"a variable cannot be called {name!r}, which is an axis of the draws")
    words = (form,) if isinstance(form, str) else form
    if isinstance(words, tuple) and words and isinstance(words[0], str):
        word, *rest = words
        if word not in CONSTRAINTS:
            close = difflib.get_close_matches(word, CONSTRAINTS, n=1)
            hint = f": did you mean {close[0]!r}?" if close else ""
            raise ValueError(
                f"variables[{name!r}] has an unknown constraint {word!r}{hint}; there are "
                f"{', '.join(CONSTRAINTS)}"
            )
        wanted = CONSTRAINTS[word][0]
        if len(rest) not in (len(wanted), len(wanted) + 1):
            raise ValueError(
                f"variables[{name!r}] must be ({', '.join([repr(word), *wanted, 'shape'])}), got "
                f"{form!r}"
            )
        try:
            numbers = tuple(float(number) for number in rest[: len(wanted)])
        except (TypeError, ValueError):
            raise TypeError(
                f"variables[{name!r}] must be ({', '.join([repr(word), *wanted, 'shape'])}), got "
                f"{form!r}"
            ) from None
        if not np.isfinite(numbers).all() or list(numbers) != sorted(set(numbers)):
            raise ValueError(
                f"variables[{name!r}]: the ends of {word!r} must be finite and ascend, "
                f"got {numbers}"
            )
        shape = _shape(name, rest[-1] if len(rest) > len(wanted) else (), form)
        if word in ("ordered", "simplex") and (not shape or shape[-1] < 2):
            raise ValueError(
                f"variables[{name!r}]: {word!r} needs a last axis of at least 2, got {shape}"
            )
        return Variable(name, shape, constraint(word, numbers))
    return Variable(name, _shape(name, form, form), Real())


def _shape(name: str, shape: Any, form: object) -> Shape:  # noqa: ANN401
    try:
        sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        whole = tuple(operator.index(size) for size in sizes)
    except TypeError:
        raise TypeError(f"variables[{name!r}] must be {_FORMS}, got {form!r}") from None
    if any(size < 0 for size in whole):
        raise ValueError(
            f"variables[{name!r}] must have a shape without negative sizes, got {form!r}"
        )
    return whole
