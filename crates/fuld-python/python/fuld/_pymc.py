"""PyMC models: their log density over unconstrained values, compiled for all chains at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuld._constraints import Array
from fuld._function_identity import UnidentifiedError
from fuld._model import Model


class PyMCModel(Model):
    """A PyMC model whose variables are continuous."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401
        from pytensor.graph.traversal import ancestors
        from pytensor.tensor.random.type import RandomType

        discrete = [variable.name for variable in model.discrete_value_vars]
        if discrete:
            raise TypeError(
                f"the PyMC model has discrete variables ({', '.join(discrete)}), which fuld cannot "
                "sample: sum over them in the model, for example with pymc_extras.marginalize"
            )
        self.model = model
        self.name = model.name or "PyMC model"
        if any(isinstance(variable.type, RandomType) for variable in ancestors([model.logp()])):
            raise TypeError(
                "the log density of the PyMC model is random, as with pm.Minibatch, but it decides "
                "about proposals: use all data, or give fuld.sample a function with data= and "
                "batch_size="
            )
        self.dim = sum(np.size(value) for value in self._point.values())
        if self.dim == 0:
            raise TypeError("the PyMC model has no variables to sample: all are observed")
        self.dims = {
            name: axes for name, axes in model.named_vars_to_dims.items() if None not in axes
        }
        self.coords = {
            axis: list(labels) for axis, labels in model.coords.items() if labels is not None
        }

    @property
    def _point(self) -> dict[str, Any]:
        point: dict[str, Any] = self.model.initial_point()
        return point

    def _compiled(self, outputs: list[Any], *, gradient: bool) -> Any:  # noqa: ANN401
        """Compile outputs as functions of points (n, dim), if asked with the gradient of the first.

        Raises an error if an operation of the model cannot take many points.
        """
        import pytensor.tensor as pt
        from pymc.pytensorf import compile, join_nonshared_inputs
        from pytensor.gradient import DisconnectedInputError, grad
        from pytensor.graph.replace import vectorize_graph

        variables = self.model.value_vars
        joined, point = join_nonshared_inputs(self._point, outputs, variables)
        points = pt.matrix("points", dtype="float64")
        batched = list(vectorize_graph(joined, {point: points}))
        if gradient:
            try:
                batched.append(grad(batched[0].sum(), points))
            except DisconnectedInputError:
                raise TypeError(
                    f"the log density of {self.name} is constant, as with pm.Flat alone, so it "
                    "cannot be normalised: add a prior or a likelihood"
                ) from None
        return compile([points], batched)

    @cached_property
    def _log_density(self) -> Any:  # noqa: ANN401
        return self._compiled([self.model.logp()], gradient=True)

    @cached_property
    def _values(self) -> tuple[list[str], Any]:
        from pymc.util import is_transformed_name

        outputs = [v for v in self.model.unobserved_value_vars if not is_transformed_name(v.name)]
        return [output.name for output in outputs], self._compiled(outputs, gradient=False)

    def __call__(self, x: Array, *words: Any) -> tuple[Any, Any]:  # noqa: ANN401
        """Return f = -log p and its gradient."""
        value, gradient = self._log_density(np.atleast_2d(x))
        return (-value, -gradient) if np.ndim(x) > 1 else (-value[0], -gradient[0])

    def values(self, x: Array) -> dict[str, NDArray[Any]]:
        """Return the free variables and the deterministic ones."""
        names, compiled = self._values
        # A variable that does not depend on the others has no axis for the points.
        arrays = zip(names, compiled(x), strict=True)
        shapes = {name: self.model[name].ndim for name in names}
        return {
            name: a if a.ndim > shapes[name] else np.broadcast_to(a, (len(x), *a.shape))
            for name, a in arrays
        }

    def coordinates(self, values: Mapping[str, object]) -> Array:
        """Return the point at which variables have these values, and others those of PyMC."""
        from pymc.initial_point import make_initial_point_fn

        names = [variable.name for variable in self.model.free_RVs]
        for name, value in values.items():
            if name not in names:
                raise ValueError(
                    f"start must have values of {names}: no variable is called {name!r}"
                )
            shape = tuple(self.model[name].shape.eval().tolist())
            array = np.asarray(value)
            if array.shape != shape:
                raise ValueError(f"start[{name!r}] must have shape {shape}, got {array.shape}")
        start = make_initial_point_fn(model=self.model, overrides=dict(values))(0)
        parts = [np.ravel(start[variable.name]) for variable in self.model.value_vars]
        point: Array = np.concatenate(parts).astype(np.float64)
        if not np.isfinite(point).all():
            raise ValueError(f"start must be inside the support of its variables, got {values}")
        return point

    def identity(self) -> object:
        """Return a hash of the graph of the log density, with its constants and data."""
        digest = hashlib.sha256()
        _hash_graph(digest, list(self.model.value_vars), [self.model.logp()])
        return digest.hexdigest()

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        """Pickle with cloudpickle, which PyMC requires: models hold functions of their own."""
        import cloudpickle

        return _load, (cloudpickle.dumps(self.model),)


def _load(pickled: bytes) -> PyMCModel:
    import cloudpickle

    return PyMCModel(cloudpickle.loads(pickled))


def _hash_graph(digest: Any, inputs: list[Any], outputs: list[Any]) -> None:  # noqa: ANN401
    """Add a graph to a digest: operations with their properties, and which variables they join."""
    from pytensor.graph.basic import Constant
    from pytensor.graph.traversal import toposort

    numbers: dict[Any, int] = {}

    def add(text: str, data: bytes = b"") -> None:
        for part in (text.encode(), data):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)

    def use(variable: Any) -> None:  # noqa: ANN401
        if variable not in numbers:
            numbers[variable] = len(numbers)
            data: Any = None
            if isinstance(variable, Constant):
                data = variable.data
            elif hasattr(variable, "get_value"):
                data = variable.get_value(borrow=True)
            array = np.asarray(data)
            if array.dtype == object and data is not None:
                array = np.frombuffer(repr(data).encode(), np.uint8)
            add(f"{variable.type} {array.dtype} {array.shape}", array.tobytes())
        add(str(numbers[variable]))

    for variable in inputs:
        use(variable)
    for node in toposort(outputs):
        kind = type(node.op)
        if kind.__module__.split(".")[0] not in ("pytensor", "pymc", "pymc_extras"):
            raise UnidentifiedError(
                f"the PyMC model uses {kind.__qualname__}, an operation that cannot be identified "
                "when the store is continued: sample without store="
            )
        properties = node.op._props_dict() if hasattr(node.op, "_props_dict") else {}
        add(f"{kind.__module__}.{kind.__qualname__} {sorted(properties.items(), key=str)}")
        inner = getattr(node.op, "fgraph", None)
        if inner is not None:
            _hash_graph(digest, list(inner.inputs), list(inner.outputs))
        for variable in node.inputs:
            use(variable)
        for variable in node.outputs:
            numbers[variable] = len(numbers)
    for variable in outputs:
        use(variable)
