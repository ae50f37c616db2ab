"""Calibration in two processes that `torchrun` starts."""

import pytest

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("this torch has no torch.distributed", allow_module_level=True)
dcp = pytest.importorskip("torch.distributed.checkpoint")

from fuld import _native  # noqa: E402
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict  # noqa: E402

from tests.torch import training  # noqa: E402
from tests.torch.torchrun import torchrun  # noqa: E402
from tests.torch.training import AUTO, STEPS  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled:UserWarning")

#: Numbers of a calibration that are not gradients of single coordinates; the first counts steps.
HEAD = len(_native.calibration_start(0))
#: Where the length of the part is, which differs between processes.
LENGTH = HEAD - 2


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("auto")


@pytest.fixture(scope="module")
def trained(directory):
    processes = ("--standalone", "--nproc-per-node=2", "-m", "tests.torch.auto_processes")
    torchrun(*processes, directory)
    return torch.load(directory / "auto.pt", weights_only=True)


def test_replicas_are_one_process(trained):
    model = training.network()
    fuld = training.optimizer(model, AUTO)
    for number in range(STEPS):
        fuld.zero_grad()
        for half in training.halves(number):
            (training.loss(model, half) / 2).backward()
        fuld.step()
    assert trained["ddp"].keys() == training.outcome(model, fuld).keys()
    torch.testing.assert_close(trained["ddp"], training.outcome(model, fuld), rtol=0, atol=0)
    for process in trained["ddp known"]:
        for x, found in zip(model.parameters(), process, strict=True):
            assert torch.equal(fuld.state[x]["calibration"], found)


def test_parts_go_on_from_what_one_process_had_found(trained):
    for now in trained["loaded"]:
        for i, numbers in enumerate(now):
            heads = [process[i][:HEAD] for process in trained["before"]]
            # Five gradients were seen; the next four are compared with each other.
            assert numbers[0] == 8
            assert any(torch.equal(numbers[1:LENGTH], head[1:LENGTH]) for head in heads)
            assert not numbers[HEAD:].any()
    for x in trained["fsdp"]["parameters"]:
        assert x.isfinite().all()


def test_one_process_goes_on_where_two_stopped(trained, directory):
    model = training.network()
    fuld = training.optimizer(model, AUTO)
    weights, state = get_state_dict(model, fuld)
    dcp.load({"model": weights, "optimizer": state}, checkpoint_id=directory / "auto", no_dist=True)
    set_state_dict(model, fuld, model_state_dict=weights, optim_state_dict=state)
    training.loss(model, training.batch(STEPS)).backward()
    fuld.step()
    assert len(fuld.calibration(model)) == 4
    assert all(x.isfinite().all() for x in model.parameters())
