"""Trainings in two processes that `torchrun` starts, beside the same in this one.

Of two processes each has one half of the data. One process that adds up the gradients of the two
halves adds the same two numbers, so everything is equal to the last bit: the step treats
every coordinate by itself, wherever it is. The gradient of all data at once is summed in another
order, and differs in the last bits.
"""

import pytest

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("this torch has no torch.distributed", allow_module_level=True)
dcp = pytest.importorskip("torch.distributed.checkpoint")

from fuld.torch import FULD  # noqa: E402
from torch.distributed.checkpoint.state_dict import (  # noqa: E402
    get_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)

from tests.torch import sharded_gradients, training  # noqa: E402
from tests.torch.torchrun import torchrun  # noqa: E402
from tests.torch.training import SETTINGS, STEPS  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled:UserWarning")

TWO_PROCESSES = ("--standalone", "--nproc-per-node=2", "-m", "tests.torch.two_processes")

#: Rounding, after six steps; the likely mistakes are wrong in the first digits.
NEAR = {"rtol": 1e-11, "atol": 1e-11}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("distributed")


@pytest.fixture(scope="module")
def trained(directory):
    torchrun(*TWO_PROCESSES, "train", directory)
    return torch.load(directory / "train.pt", weights_only=True)


@pytest.fixture(scope="module")
def resumed(trained, directory):
    """New processes continue from checkpoints of two processes, of one, and of SGD."""
    model, fuld = one_process("pulled", range(STEPS // 2))
    weights, state = get_state_dict(model, fuld)
    dcp.save({"model": weights, "optimizer": state}, checkpoint_id=directory / "one", no_dist=True)
    model, sgd = one_process("sgd", range(STEPS // 2), torch.optim.SGD)
    weights, state = get_state_dict(model, sgd)
    torch.save({"model": weights, "optimizer": state}, directory / "sgd.pt")
    dcp.save({"model": weights, "optimizer": state}, checkpoint_id=directory / "sgd", no_dist=True)
    torchrun(*TWO_PROCESSES, "resume", directory)
    return torch.load(directory / "resume.pt", weights_only=True)


def start(name, kind=None):
    model = training.network()
    settings = dict(SETTINGS[name])
    if kind is torch.optim.SGD:
        settings = {k: v for k, v in settings.items() if k != "alpha"} | {"momentum": 0.9}
        return model, kind(model.parameters(), **settings)
    return model, training.optimizer(model, settings)


def one_process(name, steps=range(STEPS), kind=None):
    """The training of a network in this process, on the sum of the halves' gradients."""
    model, optimizer = start(name, kind)
    return go_on(model, optimizer, steps)


def go_on(model, optimizer, steps):
    for number in steps:
        optimizer.zero_grad()
        for half in training.halves(number):
            (training.loss(model, half) / 2).backward()
        optimizer.step()
    return model, optimizer


def assert_equal(one, other):
    assert one.keys() == other.keys()
    for what in one:
        torch.testing.assert_close(one[what], other[what], rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", ["default", "foreach", "single", "pulled", "paper"])
def test_a_step_does_not_see_where_a_coordinate_is(name, dtype):
    torch.manual_seed(2)
    x, gradient = 10 * torch.randn(2, 1001, dtype=dtype)
    shards = [x[:2].clone(), x[2:511].clone(), x[511:].clone()]
    for parts in ([x], shards):
        fuld = FULD(parts, **SETTINGS[name])
        for factor in (1.0, -0.3):
            for part, g in zip(parts, gradient.split([len(p) for p in parts]), strict=True):
                part.grad = factor * g
            fuld.step()
    assert torch.cat(shards).equal(x)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("way", ["ddp", "zero", "fsdp", "hsdp"])
def test_two_processes_are_one(trained, way, name):
    here = training.outcome(*one_process(name))
    if name == "sgd fused" and way == "fsdp":
        # torch's own kernel rounds the last coordinates of a tensor in another way.
        torch.testing.assert_close(trained["fsdp sgd fused"], here, **NEAR)
    else:
        assert_equal(trained[f"{way} {name}"], here)


@pytest.mark.parametrize("name", SETTINGS)
def test_two_processes_are_one_pass_through_all_data(trained, name):
    model, fuld = start(name)
    for number in range(STEPS):
        fuld.zero_grad()
        training.loss(model, training.batch(number)).backward()
        fuld.step()
    here = training.outcome(model, fuld)
    torch.testing.assert_close(trained[f"ddp {name}"], here, **NEAR)
    torch.testing.assert_close(trained[f"fsdp {name}"], here, **NEAR)
    torch.testing.assert_close(trained[f"tensor {name}"], here, **NEAR)


@pytest.mark.parametrize("name", SETTINGS)
def test_accumulated_and_clipped_gradients(trained, name):
    model, fuld = start(name)
    for number in range(0, STEPS, 2):
        fuld.zero_grad()
        for at in (number, number + 1):
            training.loss(model, training.batch(at)).backward()
        assert torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) > 1
        fuld.step()
    here = training.outcome(model, fuld)
    torch.testing.assert_close(trained[f"clipped fsdp {name}"], here, **NEAR)
    torch.testing.assert_close(trained[f"clipped ddp {name}"], here, **NEAR)


@pytest.mark.parametrize("name", ["sgd", "sgd foreach", "sgd fused", "sgd single", "sgd pulled"])
def test_at_alpha_2_it_is_torchs_sgd(trained, name):
    here = training.outcome(*one_process(name, kind=torch.optim.SGD))
    assert_equal(trained[f"ddp {name}"], here)


@pytest.mark.parametrize("name", SETTINGS)
def test_gradients_that_are_summed_or_moved_by_the_step(trained, name):
    x = sharded_gradients.START.clone()
    x.grad = sharded_gradients.GRADIENT + sharded_gradients.GRADIENT * 2
    FULD([x], **SETTINGS[name]).step()
    torch.testing.assert_close(trained[f"not summed {name}"], x, rtol=0, atol=0)
    torch.testing.assert_close(trained[f"on its way {name}"], x, rtol=1e-15, atol=0)


@pytest.mark.parametrize("name", SETTINGS)
def test_all_processes_skip_a_step_that_one_must_skip(trained, name):
    x = sharded_gradients.START.clone()
    x.grad = sharded_gradients.GRADIENT.clone()
    FULD([x], **SETTINGS[name]).step()
    first, second = trained[f"scaled {name}"]
    torch.testing.assert_close(first, x, rtol=1e-15, atol=0)
    assert first.equal(second)


def test_the_gradients_reach_the_knee(trained):
    fuld, sgd = trained["fsdp default"]["parameters"], trained["fsdp sgd"]["parameters"]
    assert (fuld[0] - sgd[0]).abs().max() > 0.1


@pytest.mark.parametrize("saved_by", ["one", "two"])
def test_two_processes_go_on_where_others_stopped(resumed, saved_by):
    assert_equal(resumed[saved_by], training.outcome(*one_process("pulled")))


def test_one_process_goes_on_where_two_stopped(trained, directory):
    model, fuld = start("pulled")
    weights, state = get_state_dict(model, fuld)
    dcp.load({"model": weights, "optimizer": state}, checkpoint_id=directory / "two", no_dist=True)
    set_state_dict(model, fuld, model_state_dict=weights, optim_state_dict=state)
    go_on(model, fuld, range(STEPS // 2, STEPS))
    assert_equal(training.outcome(model, fuld), training.outcome(*one_process("pulled")))


def test_sgd_goes_on_where_two_processes_stopped(trained, directory):
    outcomes = []
    for kind in (torch.optim.SGD, None):
        saved = torch.load(directory / "whole.pt", weights_only=True)
        model, optimizer = start("sgd", kind)
        model.load_state_dict(saved["model"])
        set_optimizer_state_dict(model, optimizer, saved["optimizer"])
        assert optimizer.param_groups[0]["nesterov"]
        optimizer.param_groups[0]["alpha"] = 2.0
        outcomes.append(training.outcome(*go_on(model, optimizer, range(STEPS // 2, STEPS))))
    assert_equal(*outcomes)


@pytest.mark.parametrize("file", ["sgd", "sgd.pt"])
def test_two_processes_go_on_where_sgd_stopped(resumed, file):
    model, sgd = one_process("sgd", range(STEPS // 2), torch.optim.SGD)
    fuld = training.optimizer(model, SETTINGS["default"])
    for x in model.parameters():
        fuld.state[x] = dict(sgd.state[x])
    here = training.outcome(*go_on(model, fuld, range(STEPS // 2, STEPS)))
    assert_equal(resumed[file], here)
