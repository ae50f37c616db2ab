"""The kernels on a GPU, against the same steps on the CPU."""

import copy
from typing import Any

import fuld
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fuld.torch import FULD, TailMonitor  # noqa: E402
from fuld.torch._kernels import field_  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="requires a GPU"),
]

SHAPES = [(33, 7), (5,), (), (0, 3), (50_000,), (3, 1, 5, 2)]
# Of a step's results, as a part of the largest: halves are rounded once at each of ten steps.
CLOSE = {torch.float64: 1e-12, torch.float32: 3e-6, torch.bfloat16: 0.03, torch.float16: 0.004}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"nesterov": True},
    {"weight_decay": 0.1},
    {"weight_decay": 0.1, "decoupled_weight_decay": True},
    {"weight_decay": 0.1, "maximize": True, "nesterov": True},
    {"momentum": 0.0},
    {"form": "paper", "beta": 2.0**-1.75},
]


def parameters(device, dtype=torch.float32, shapes=SHAPES):
    generator = torch.Generator().manual_seed(1)
    return [
        torch.nn.Parameter(torch.randn(s, generator=generator).to(dtype).to(device)) for s in shapes
    ]


def steps(optimizer, params, count=10, seed=2):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        for x in params:
            x.grad = (3 * torch.randn(x.shape, generator=generator)).to(x.dtype).to(x.device)
        optimizer.step()


def differ(ours, theirs):
    """The largest difference, as a part of the largest number."""
    ours = torch.cat([x.detach().double().cpu().flatten() for x in ours])
    theirs = torch.cat([x.detach().double().cpu().flatten() for x in theirs])
    return ((ours - theirs).abs().max() / theirs.abs().max()).item()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.5, 1.75, 1.999])
def test_field(alpha, dtype):
    generator = torch.Generator().manual_seed(3)
    v = (20 * torch.randn(100_000, generator=generator, dtype=torch.float64)).exp2()
    v = (v * torch.randn(100_000, generator=generator).sign()).to(dtype)
    exact = fuld.grad_g(v.double().numpy(), alpha)
    found = field_([v.cuda()], alpha)[0].double().cpu().numpy()
    assert np.abs(found / exact - 1).max() < (4e-7 if dtype == torch.float32 else 1e-12)
    odd = torch.tensor([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan], dtype=dtype)
    special = field_([odd.cuda()], alpha)[0].cpu()
    assert special[:2].tolist() == [0.0, 0.0]
    assert special[2:].isnan().all()


@pytest.mark.parametrize("way", [{"fused": True}, {"foreach": True}, {"foreach": False}, {}])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dtype", CLOSE)
def test_like_the_cpu(dtype, options, way):
    results = []
    for device, chosen in (("cuda", way), ("cpu", {"fused": True})):
        params = parameters(device, dtype)
        optimizer = FULD(params, 0.1, **{"alpha": 1.5, **options, **chosen})
        steps(optimizer, params)
        state = [s["momentum_buffer"] for s in optimizer.state.values() if s]
        results.append((params, state))
    (x, b), (cpu_x, cpu_b) = results
    assert differ(x, cpu_x) < CLOSE[dtype]
    assert not b or differ(b, cpu_b) < CLOSE[dtype]


@pytest.mark.parametrize("way", [{"fused": True}, {"foreach": True}, {"foreach": False}, {}])
@pytest.mark.parametrize("options", OPTIONS[:3] + OPTIONS[4:6])
def test_at_two_it_is_sgd(options, way):
    ours, theirs = parameters("cuda"), parameters("cuda")
    steps(FULD(ours, 0.1, alpha=2.0, **options, **way), ours)
    steps(torch.optim.SGD(theirs, 0.1, **{"momentum": 0.9, **options}, **way), theirs)
    assert all(torch.equal(x, y) for x, y in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("alpha", [1.5, 2.0])
@pytest.mark.parametrize("fused", [True, None])
def test_grad_scaler(fused, alpha):
    results = []
    for scale in (None, 2.0**14):
        params = parameters("cuda", torch.float32)
        optimizer = FULD(params, 0.1, alpha=alpha, fused=fused, weight_decay=0.1)
        scaler = torch.amp.GradScaler("cuda", init_scale=scale or 1.0, enabled=scale is not None)
        generator = torch.Generator().manual_seed(4)
        for k in range(6):
            for x in params:
                x.grad = torch.randn(x.shape, generator=generator).cuda() * (scale or 1.0)
            if k == 3:
                if scale is None:
                    continue
                params[0].grad[0, 0] = torch.inf
            # As autograd would call the scaler.
            scaler.scale(torch.ones((), device="cuda"))
            scaler.step(optimizer)
            scaler.update(scale)
        results.append(params)
    assert differ(*results) < 1e-6


@pytest.mark.parametrize("form", ["matched", "paper"])
@pytest.mark.parametrize("fused", [True, None])
def test_cuda_graph(fused, form):
    def run(graphed):
        params = parameters("cuda")
        lr = torch.tensor(0.1, device="cuda")
        optimizer = FULD(params, lr, form=form, fused=fused, capturable=True)
        generator = torch.Generator().manual_seed(5)
        gradients = [
            [torch.randn(x.shape, generator=generator).cuda() for x in params] for _ in range(8)
        ]
        for x in params:
            x.grad = torch.zeros_like(x)
        graph = None
        for k, given in enumerate(gradients):
            lr.fill_(0.1 / (k + 1))
            for x, g in zip(params, given, strict=True):
                x.grad.copy_(g)
            if not graphed or k < 3:
                optimizer.step()
            else:
                if graph is None:
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph):
                        optimizer.step()
                graph.replay()
        return params

    assert differ(run(True), run(False)) == 0


# torch's compiler uses parts of torch that torch has given up.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("way", [{"fused": True}, {"foreach": True}, {"foreach": False}])
def test_compiled(way):
    torch._dynamo.reset()
    eager, compiled = parameters("cuda"), parameters("cuda")
    steps(FULD(eager, torch.tensor(0.1, device="cuda"), **way), eager)
    optimizer = FULD(compiled, torch.tensor(0.1, device="cuda"), **way)
    optimizer.step = torch.compile(optimizer.step)  # type: ignore[method-assign]
    steps(optimizer, compiled)
    assert differ(compiled, eager) < 2e-6


def test_a_graph_outlives_what_it_was_captured_with():
    params = parameters("cuda", shapes=[(1000,)])
    x = params[0]
    optimizer = FULD(params, 0.1, fused=True)
    static = torch.ones_like(x)
    x.grad = static
    for _ in range(3):
        optimizer.step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        optimizer.step()
    # Another plan, and memory where the first one's tables were.
    x.grad = torch.full_like(x, 2.0)
    optimizer.step()
    rubbish = [torch.full((4,), -1, dtype=torch.int64, device="cuda") for _ in range(100)]
    before = x.detach().clone()
    graph.replay()
    torch.cuda.synchronize()
    assert (x < before).all()
    assert all((r == -1).all() for r in rubbish)


def test_tensor_lr_and_groups():
    def run(lr, device):
        params = parameters(device)
        groups = [
            {"params": params[:2], "alpha": 1.2, "noise_scale": 0.3},
            {"params": params[2:4], "alpha": 2.0},
            {"params": params[4:], "form": "paper"},
        ]
        steps(FULD(groups, lr, fused=True), params)
        return params

    reference = run(0.1, "cpu")
    for lr in (0.1, torch.tensor(0.1), torch.tensor(0.1, device="cuda"), torch.tensor([0.1])):
        assert differ(run(lr, "cuda"), reference) < 3e-6


def test_tensors_that_move_between_steps():
    """Parameters whose memory is another than at the last step, and buffers that were replaced."""

    def run(device):
        params = parameters(device, shapes=[(7,), (300,)])
        optimizer = FULD(params, 0.1, fused=True)
        steps(optimizer, params, seed=8)
        params[0].data = params[0].data.clone()
        optimizer.state[params[1]]["momentum_buffer"] = torch.ones_like(params[1])
        steps(optimizer, params, seed=9)
        for x in params:
            x.data = x.data.double()
        for state in optimizer.state.values():
            state["momentum_buffer"] = state["momentum_buffer"].double()
        for x in params:
            x.grad = None
        steps(optimizer, params, seed=10)
        return params

    ours, theirs = run("cuda"), run("cpu")
    assert ours[0].dtype == torch.float64
    assert differ(ours, theirs) < 3e-6


def test_layouts():
    def run(device, fused):
        generator = torch.Generator().manual_seed(6)
        image = torch.randn(4, 3, 5, 6, generator=generator).to(device)
        params = [
            torch.nn.Parameter(image.to(memory_format=torch.channels_last)),
            torch.nn.Parameter(torch.randn(6, 8, generator=generator).to(device).t()),
            # Not aligned to sixteen bytes.
            torch.nn.Parameter(torch.randn(1001, generator=generator).to(device)[1:]),
            torch.nn.Parameter(torch.randn(40, 2, generator=generator).to(device)[:, 1]),
        ]
        optimizer = FULD(params, 0.1, fused=fused, foreach=False if fused is None else None)
        steps(optimizer, params)
        return params

    assert differ(run("cuda", True), run("cpu", None)) < 3e-6


def test_state_moves_between_devices():
    cpu = parameters("cpu")
    first = FULD(cpu, 0.1, fused=True)
    steps(first, cpu)
    cuda = [torch.nn.Parameter(x.detach().cuda()) for x in cpu]
    second = FULD(cuda, 0.1, fused=True)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    assert second.state[cuda[0]]["momentum_buffer"].device.type == "cuda"
    steps(first, cpu, seed=7)
    steps(second, cuda, seed=7)
    assert differ(cuda, cpu) < 3e-6


def test_foreach_needs_one_copy_of_the_parameters():
    size = 1 << 22
    for options in OPTIONS:
        x = torch.nn.Parameter(torch.ones(size, device="cuda"))
        optimizer = FULD([x], 0.1, foreach=True, **options)
        x.grad = torch.ones_like(x)
        optimizer.step()
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        optimizer.step()
        assert torch.cuda.max_memory_allocated() - before < 1.01 * 4 * size


# The mode says of itself that it is a prototype.
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
def test_the_monitor_does_not_wait_for_the_device():
    params = parameters("cuda", shapes=[(300, 200), (50,), (7, 3)])
    optimizer = FULD(params, 1e-3, fused=True)
    law = fuld.SymmetricStable(1.5, scale=0.1)
    # The same for every parameter; forty steps of it in the device's memory beforehand.
    noise = torch.from_numpy(law.rvs((40, 60_000), random_state=11)).float().cuda()
    monitor = TailMonitor(optimizer)
    try:
        for k, row in enumerate(noise):
            if k == 8:
                torch.cuda.set_sync_debug_mode("error")
            for x in params:
                x.grad = row[: x.numel()].view_as(x).clone()
            optimizer.step()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    total = monitor.total()
    assert abs(total.alpha - 1.5) < 6 * total.alpha_error + 0.02
    assert abs(total.noise_scale - 0.1) < 6 * total.noise_scale_error + 0.002
