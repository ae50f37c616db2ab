"""The Triton kernels under Triton's interpreter, against the step in Rust on the same tensors.

Run by `test_interpreter.py` in a process with TRITON_INTERPRET=1: Triton decides on import whether
it compiles or interprets.
"""

from __future__ import annotations

import os
from typing import Any

import fuld
import numpy as np
import pytest
import torch
from fuld.torch import FULD, _cpu, guard

# NumPy, which the interpreter computes with, warns of infinities that kernels do not select.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

#: Parts of chunks, whole chunks, and no numbers at all.
SHAPES = [(33, 7), (5,), (), (0, 3), (4096,), (5000,)]
#: Largest difference, as a part of the largest number: halves are rounded once per step.
CLOSE = {torch.float64: 1e-12, torch.float32: 3e-6, torch.bfloat16: 0.03, torch.float16: 0.004}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"nesterov": True},
    {"weight_decay": 0.1},
    {"weight_decay": 0.1, "decoupled_weight_decay": True},
    {"weight_decay": 0.1, "maximize": True, "nesterov": True},
    {"momentum": 0.0},
    {"form": "paper"},
    {"alpha": 2.0},
    {"guard": 2.0},
    {"guard": 1.0, "alpha": 2.0, "momentum": 0.0, "maximize": True},
]


class Launcher:
    """A kernel that gets Python's numbers in double precision, as compiled kernels do."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def __getitem__(self, grid: tuple[int, ...]) -> Any:
        def launch(*arguments: object, **constants: object) -> None:
            self.kernel[grid](*map(_double, arguments), **constants)

        return launch


def _double(argument: Any) -> Any:
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    if not isinstance(argument, float):
        return argument
    return tl.tensor(TensorHandle(np.array([argument]), tl.float64), tl.float64)


@pytest.fixture
def cuda(monkeypatch):
    """The module that launches the kernels."""
    assert os.environ["TRITON_INTERPRET"] == "1"
    from fuld.torch import _cuda, _guard_decisions

    for module, name in (
        (_cuda, "step_kernel"),
        (_cuda, "field_kernel"),
        (_guard_decisions, "guard_decisions_kernel"),
    ):
        monkeypatch.setattr(module, name, Launcher(getattr(module, name)))
    return _cuda


def run(dtype, options, *, scaled=False, lr=0.1):
    """Parameters and buffers after three steps of the fused optimizer."""
    generator = torch.Generator().manual_seed(1)
    params = [torch.nn.Parameter(torch.randn(s, generator=generator).to(dtype)) for s in SHAPES]
    optimizer = FULD(params, lr, fused=True, **{"alpha": 1.5, **options})
    for k in range(3):
        for x in params:
            size = 12 if scaled else 3
            x.grad = (size * torch.randn(x.shape, generator=generator)).to(dtype)
        if scaled:
            # As torch.amp.GradScaler sets them.
            optimizer.grad_scale = torch.tensor(4.0)  # type: ignore[attr-defined]
            optimizer.found_inf = torch.tensor(float(k == 0))  # type: ignore[attr-defined]
        optimizer.step()
    states = optimizer.state.values()
    buffers = [state["momentum_buffer"] for state in states if "momentum_buffer" in state]
    return [*params, *buffers]


def differ(ours, theirs):
    """Return the largest difference, as a part of the largest number."""
    ours = torch.cat([x.detach().double().flatten() for x in ours])
    theirs = torch.cat([x.detach().double().flatten() for x in theirs])
    return ((ours - theirs).abs().max() / theirs.abs().max()).item()


@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.75, 1.999, 2.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_field(cuda, dtype, alpha):
    generator = torch.Generator().manual_seed(3)
    v = (20 * torch.randn(10_000, generator=generator, dtype=torch.float64)).exp2()
    v = (v * torch.randn(10_000, generator=generator).sign()).to(dtype)
    exact = fuld.grad_g(v.double().numpy(), alpha)
    cuda.field_([v], alpha)
    bound = 4e-7 if dtype == torch.float32 else 1e-12
    assert np.abs(v.double().numpy() / exact - 1).max() < bound
    special = torch.tensor([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan], dtype=dtype)
    cuda.field_([special], alpha)
    assert special[:2].tolist() == [0.0, 0.0]
    assert special[2:].isnan().all()


#: Halves differ in how numbers are loaded and stored, which two sets of options cover.
HALVES = [OPTIONS[0], OPTIONS[4], OPTIONS[8]]
CASES = [(d, o) for d in CLOSE for o in (OPTIONS if d.itemsize > 2 else HALVES)]


@pytest.mark.parametrize(("dtype", "options"), CASES, ids=str)
def test_step(cuda, monkeypatch, dtype, options):
    rust = run(dtype, options)
    monkeypatch.setattr(_cpu, "fused", cuda.fused)
    assert differ(run(dtype, options), rust) < CLOSE[dtype]


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("options", [{}, {"guard": 2.0}], ids=str)
def test_scaled_gradients_and_a_rate_in_a_tensor(cuda, monkeypatch, dtype, options):
    lr = torch.tensor(0.1)
    rust = run(dtype, options, scaled=True, lr=lr)
    monkeypatch.setattr(_cpu, "fused", cuda.fused)
    assert differ(run(dtype, options, scaled=True, lr=lr), rust) < CLOSE[dtype]


@pytest.fixture
def cuda_guard(monkeypatch):
    """The guard's kernels, for gradients on the CPU."""
    from fuld.torch import _guard_cuda, _guard_decisions, _guard_gradients

    for module, name in (
        (_guard_decisions, "guard_decisions_kernel"),
        (_guard_cuda, "guard_gradients_kernel"),
    ):
        monkeypatch.setattr(module, name, Launcher(getattr(module, name)))
    monkeypatch.setattr(_guard_gradients, "dense_part", _guard_cuda.CudaPart)


def guarded_gradients(dtype, clip, scaled):
    """Gradients and states after some steps, one a burst and one with numbers that are not."""
    generator = torch.Generator().manual_seed(2)
    params = [torch.nn.Parameter(torch.zeros(s, dtype=dtype)) for s in [*SHAPES, (9000,)]]
    optimizer = guard(torch.optim.SGD(params, lr=0.0), clip)
    engine = optimizer.__dict__["_fuld_guard"]
    found = []
    for k in range(4):
        size = (4.0 if scaled else 1.0) * (1000.0 if k == 2 else 1.0)
        for x in params:
            x.grad = (size * torch.randn(x.shape, generator=generator)).to(dtype)
            if k == 3 and x.numel() > 3:
                x.grad.view(-1)[:4] = torch.tensor([np.nan, np.inf, -np.inf, 0.0])
        if scaled:
            optimizer.grad_scale = torch.tensor(4.0)  # type: ignore[attr-defined]
            optimizer.found_inf = torch.tensor(float(k == 1))  # type: ignore[attr-defined]
        # Without the step, since that of the CPU does not unscale gradients.
        engine.before_step(optimizer, (optimizer,), {})
        engine.after_step(optimizer)
        found += [x.grad for x in params]
    return found, torch.stack([optimizer.state[x]["guard"] for x in params])


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("clip", [1.0, np.inf])
def test_guard(request, dtype, clip, scaled):
    rust, states = guarded_gradients(dtype, clip, scaled)
    request.getfixturevalue("cuda_guard")
    triton, found = guarded_gradients(dtype, clip, scaled)
    torch.testing.assert_close(found, states, rtol=0, atol=1e-6)
    bound = {torch.bfloat16: 0.01, torch.float16: 0.002}.get(dtype, 2e-6)
    for ours, theirs in zip(triton, rust, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=bound, atol=0)


@pytest.fixture
def cuda_adam(monkeypatch):
    """Adam's step with the guard inside, for parameters on the CPU."""
    from fuld.torch import _adam_cuda, _guard_decisions, _guarded_adam

    for module, name in (
        (_guard_decisions, "guard_decisions_kernel"),
        (_adam_cuda, "adam_kernel"),
    ):
        monkeypatch.setattr(module, name, Launcher(getattr(module, name)))
    types = {"cpu": (torch.float32, torch.float64, torch.bfloat16, torch.float16)}
    monkeypatch.setattr(_guarded_adam, "_TYPES", types)
    calls: list[object] = []

    def counted(kept, group, grads, *settings):
        calls.append(kept)
        _adam_cuda.step(kept, group, *settings)

    monkeypatch.setattr(_guarded_adam, "cpu_step", counted)
    return calls


ADAMS: list[dict[str, Any]] = [
    {},
    {"weight_decay": 0.0, "betas": (0.0, 0.9)},
    {"weight_decay": 0.1, "maximize": True},
    {"lr": torch.tensor(0.02)},
]


def guarded_adam(make, dtype, scaled=False, compiled=False):
    """Parameters, averages and states after some steps, one of them with faults."""
    generator = torch.Generator().manual_seed(4)
    shapes = [*SHAPES, (9000,)]
    params = [torch.nn.Parameter(torch.randn(s, generator=generator).to(dtype)) for s in shapes]
    optimizer = make(params)
    step = torch.compile(optimizer.step, backend="eager") if compiled else optimizer.step
    for k in range(5):
        for x in params:
            size = (4.0 if scaled else 1.0) * (1000.0 if k == 2 else 1.0)
            x.grad = (size * torch.randn(x.shape, generator=generator)).to(dtype)
            if k == 3 and x.numel() > 3:
                x.grad.view(-1)[:4] = torch.tensor([np.nan, np.inf, -np.inf, 0.0])
        # Some have no gradient once.
        if k == 4:
            params[1].grad = None
        if scaled:
            optimizer.grad_scale = torch.tensor(4.0)
            optimizer.found_inf = torch.tensor(float(k == 1))
        step()
    states = optimizer.state_dict()["state"]
    named = [states[i][key] for i in states for key in ("step", "exp_avg", "exp_avg_sq", "guard")]
    return [*params, *named]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("options", ADAMS, ids=str)
@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW])
def test_adam(request, kind, options, scaled, dtype):
    def make(params):
        return guard(kind(params, **{"lr": 0.02, **options}, fused=True), 2.0)

    theirs = guarded_adam(make, dtype, scaled)
    calls = request.getfixturevalue("cuda_adam")
    ours = guarded_adam(make, dtype, scaled)
    assert len(calls) == 5
    # The guard alone rounds what it changes to halves.
    bound = 0.06 if dtype == torch.bfloat16 else 3e-6
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, rtol=bound, atol=bound)


def test_adams_that_have_no_such_step(request):
    def amsgrad(params):
        return guard(torch.optim.Adam(params, lr=0.02, fused=True, amsgrad=True), 2.0)

    def subclass(params):
        return guard(type("Own", (torch.optim.Adam,), {})(params, lr=0.02, fused=True), 2.0)

    def not_fused(params):
        return guard(torch.optim.AdamW(params, lr=0.02), 2.0)

    makers = (amsgrad, subclass, not_fused)
    theirs = [guarded_adam(make, torch.float32) for make in makers]
    calls = request.getfixturevalue("cuda_adam")
    ours = [guarded_adam(make, torch.float32) for make in makers]
    assert not calls
    for one, other in zip(ours, theirs, strict=True):
        assert all(torch.equal(x, y) for x, y in zip(one, other, strict=True))


# torch's compiler uses parts of torch that torch has given up.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_compiled_adam_is_torchs(request):
    def make(params):
        return guard(torch.optim.AdamW(params, lr=torch.tensor(0.02), fused=True), 2.0)

    theirs = guarded_adam(make, torch.float32, compiled=True)
    calls = request.getfixturevalue("cuda_adam")
    ours = guarded_adam(make, torch.float32, compiled=True)
    assert not calls
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-6, atol=1e-6)
