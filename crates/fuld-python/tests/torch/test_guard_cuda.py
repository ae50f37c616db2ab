"""The guard on a GPU: the rule, CUDA graphs, checkpoints, scaled gradients, and no waiting."""

import copy
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fuld.torch import FULD, guard  # noqa: E402

from tests.torch.guarded import (  # noqa: E402
    INF,
    OPTIMIZERS,
    Reference,
    assert_gradients_may_be_scaled,
    corrupted,
    fill,
    parameters,
    states,
)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="requires a GPU"),
]

#: Largest difference, relative to the numbers: halves are rounded once.
CLOSE = {torch.float64: 1e-6, torch.float32: 1e-6, torch.bfloat16: 0.01, torch.float16: 0.002}

#: Optimizers whose steps can be captured.
CAPTURED: dict[str, Any] = {
    "AdamW fused": lambda p: guard(torch.optim.AdamW(p, fused=True, capturable=True)),
    "AdamW foreach": lambda p: guard(torch.optim.AdamW(p, foreach=True, capturable=True)),
    "SGD": lambda p: guard(torch.optim.SGD(p, lr=0.01, momentum=0.9)),
    "SGD fused": lambda p: guard(torch.optim.SGD(p, lr=0.01, momentum=0.9, fused=True)),
    "FULD fused": lambda p: FULD(p, lr=0.01, alpha=1.5, guard=3.0, fused=True),
    "FULD auto": lambda p: FULD(p, lr=0.01, alpha="auto", fused=True),
    "FULD foreach": lambda p: FULD(p, lr=0.01, alpha=1.5, guard=3.0, foreach=True),
}


def on_gpu(dtype=torch.float32):
    return parameters(dtype, device="cuda")


@pytest.mark.parametrize("dtype", CLOSE, ids=str)
@pytest.mark.parametrize("clip", [1.0, 30.0, INF])
def test_the_rule(dtype, clip):
    params = on_gpu(dtype)
    optimizer = guard(torch.optim.SGD(params, lr=0.0), clip)
    references = [Reference(clip) for _ in params]
    for step in range(60):
        corrupted(params, step)
        expected = [
            of.apply(x.grad.double().cpu().numpy())
            for of, x in zip(references, params, strict=True)
        ]
        optimizer.step()
        for x, numbers in zip(params, expected, strict=True):
            found = x.grad.double().cpu()
            np.testing.assert_allclose(found, numbers, rtol=CLOSE[dtype], atol=1e-30)
    for x, of in zip(params, references, strict=True):
        version, steps, log_scale = optimizer.state[x]["guard"].tolist()
        assert (version, steps) == (1, of.steps)
        assert log_scale == pytest.approx(of.log_scale, abs=1e-5)


@pytest.mark.parametrize("name", [n for n in OPTIMIZERS if n not in ("Sign", "AdamW fused")])
def test_gradients_of_usual_size_keep_their_bits(name):
    ours, theirs = on_gpu(), on_gpu()
    guarded, plain = guard(OPTIMIZERS[name](ours), 1e6), OPTIMIZERS[name](theirs)
    for step in range(5):
        fill(ours, step)
        # The first gradient is measured and becomes 0.
        fill(theirs, step, 1.0 if step else 0.0)
        guarded.step()
        plain.step()
        for x, y in zip(ours, theirs, strict=True):
            assert torch.equal(x.grad, y.grad)
            assert torch.equal(x, y)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW])
def test_the_guard_inside_adam_is_the_guard_before_it(kind, dtype):
    ours, theirs = on_gpu(dtype), on_gpu(dtype)
    fused = guard(kind(ours, lr=0.01, weight_decay=0.1, fused=True), 2.0)
    foreach = guard(kind(theirs, lr=0.01, weight_decay=0.1, foreach=True), 2.0)
    for step in range(12):
        corrupted(ours, step)
        corrupted(theirs, step)
        ours[0].grad[1, 1] = theirs[0].grad[1, 1] = 1e6
        fused.step()
        foreach.step()
    # The gradients were not changed.
    assert ours[0].grad.abs().max() > 2 * theirs[0].grad.abs().max()
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-6)
        for key in ("step", "exp_avg", "exp_avg_sq", "guard"):
            a, b = (of.state[p][key].cpu() for of, p in ((fused, x), (foreach, y)))
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CAPTURED)
def test_a_cuda_graph_takes_the_same_steps(name):
    def run(captured):
        params = on_gpu()
        optimizer = CAPTURED[name](params)
        for x in params:
            x.grad = torch.zeros_like(x)
        own, graph = [x.grad for x in params], None
        for step in range(12):
            corrupted(params, step)
            for x, g in zip(params, own, strict=True):
                g.copy_(x.grad)
                x.grad = g
            if not captured or step < 3:
                optimizer.step()
                continue
            if graph is None:
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    optimizer.step()
            graph.replay()
        return params, states(params, optimizer)

    (ours, our_states), (theirs, their_states) = run(True), run(False)
    assert our_states == their_states
    assert all(torch.equal(x, y) for x, y in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("name", CAPTURED)
def test_a_checkpoint_continues_to_the_same_bits(tmp_path, name):
    ours = on_gpu()
    optimizer = CAPTURED[name](ours)
    for step in range(5):
        corrupted(ours, step)
        optimizer.step()
    torch.save([[x.data for x in ours], optimizer.state_dict()], tmp_path / "checkpoint.pt")
    # Through the memory of the host, as when a run continues on another machine.
    weights, state = torch.load(tmp_path / "checkpoint.pt", map_location="cpu", weights_only=True)
    theirs = [torch.nn.Parameter(x.cuda()) for x in weights]
    again = CAPTURED[name](theirs)
    again.load_state_dict(state)
    for step in range(5, 10):
        for params, of in ((ours, optimizer), (theirs, again)):
            corrupted(params, step)
            of.step()
    assert states(theirs, again) == states(ours, optimizer)
    for x, y in zip(ours, theirs, strict=True):
        assert again.state[y]["guard"].is_cuda
        assert torch.equal(x, y)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: guard(torch.optim.AdamW(p, fused=True)),
        lambda p: guard(torch.optim.AdamW(p)),
        lambda p: FULD(p, lr=0.01, alpha="auto", fused=True),
    ],
    ids=["AdamW fused", "AdamW", "FULD auto"],
)
def test_scaled_gradients(make):
    assert_gradients_may_be_scaled(make, "cuda")


# torch's compiler uses parts of torch that torch has given up.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_compiled_step():
    torch._dynamo.reset()
    ours, theirs = on_gpu(), on_gpu()
    guarded, plain = (
        guard(torch.optim.AdamW(p, lr=torch.tensor(0.01, device="cuda"), capturable=True))
        for p in (ours, theirs)
    )
    step = torch.compile(guarded.step)
    for k in range(4):
        corrupted(ours, k)
        corrupted(theirs, k)
        step()
        plain.step()
    assert states(ours, guarded) == states(theirs, plain)
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-6)


def test_other_kinds_of_gradients_are_as_on_the_cpu():
    def run(device):
        random = torch.Generator().manual_seed(5)
        z = torch.nn.Parameter(torch.zeros(30, dtype=torch.complex64, device=device))
        gaps = torch.nn.Parameter(torch.zeros(64, 3, 16, device=device))
        table = torch.nn.Embedding(50, 8, sparse=True)
        with torch.no_grad():
            table.weight.zero_()
        table.to(device)
        optimizer = guard(torch.optim.SGD([z, gaps, table.weight], 0.1), 5.0)
        for step in range(4):
            z.grad = torch.randn(30, dtype=torch.complex64, generator=random).to(device)
            image = torch.randn(64, 3, 16, generator=random)
            image[0, 0, 0] = INF
            gaps.grad = torch.zeros(64, 3, 32, device=device)[..., ::2].copy_(image)
            rows = torch.randint(50, (6 + step,), generator=random).to(device)
            factors = torch.randn(6 + step, 8, generator=random).to(device)
            table.weight.grad = None
            (table(rows) * factors).sum().backward()
            optimizer.step()
        return [torch.view_as_real(z.detach()), gaps.detach(), table.weight.detach()]

    for x, y in zip(run("cuda"), run("cpu"), strict=True):
        assert y.isfinite().all()
        torch.testing.assert_close(x.cpu(), y, rtol=1e-5, atol=1e-6)


# The mode says of itself that it is a prototype.
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.parametrize("name", CAPTURED)
def test_a_step_does_not_wait_for_the_device(name):
    params = on_gpu()
    optimizer = CAPTURED[name](params)
    gradients = []
    for step in range(6):
        corrupted(params, step)
        gradients.append([x.grad for x in params])
    try:
        for step, given in enumerate(gradients):
            if step == 2:
                torch.cuda.set_sync_debug_mode("error")
            for x, g in zip(params, given, strict=True):
                x.grad = g
            optimizer.step()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert all(x.isfinite().all() for x in params)


def test_a_state_moves_from_the_cpu():
    cpu = parameters()
    first = guard(torch.optim.AdamW(cpu))
    for step in range(3):
        corrupted(cpu, step)
        first.step()
    cuda = [torch.nn.Parameter(x.detach().cuda()) for x in cpu]
    second = guard(torch.optim.AdamW(cuda))
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    for step in range(3, 6):
        for params, optimizer in ((cpu, first), (cuda, second)):
            corrupted(params, step)
            optimizer.step()
    np.testing.assert_allclose(states(cuda, second), states(cpu, first), atol=1e-6)
    for x, y in zip(cuda, cpu, strict=True):
        torch.testing.assert_close(x.cpu(), y, rtol=1e-4, atol=1e-6)


def test_a_model_that_moves_to_the_gpu():
    params, moved = parameters(), parameters()
    plain, optimizer = (guard(torch.optim.SGD(p, lr=0.1), 2.0) for p in (params, moved))
    for step in range(6):
        if step == 3:
            for x in moved:
                # As torch.nn.Module.cuda does.
                x.data, x.grad = x.data.cuda(), None
        for of, own in ((plain, params), (optimizer, moved)):
            corrupted(own, step)
            of.step()
    np.testing.assert_allclose(states(moved, optimizer), states(params, plain), atol=1e-6)
    for x, y in zip(moved, params, strict=True):
        torch.testing.assert_close(x.cpu(), y, rtol=1e-5, atol=1e-6)
