"""The guard in two processes that `torchrun` starts."""

import pytest

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("this torch has no torch.distributed", allow_module_level=True)
pytest.importorskip("torch.distributed.checkpoint")

from tests.torch import training  # noqa: E402
from tests.torch.torchrun import torchrun  # noqa: E402

MAKERS = ["adam", "auto"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    directory = tmp_path_factory.mktemp("guard")
    processes = ("--standalone", "--nproc-per-node=2", "-m", "tests.torch.guard_processes")
    torchrun(*processes, directory)
    return torch.load(directory / "guard.pt", weights_only=True)


def alone(make):
    """Return the outcome and the guard's states of one process with all of the data."""
    model = training.network()
    optimizer = make(model)
    for number in range(training.STEPS):
        optimizer.zero_grad()
        for half in training.halves(number):
            (training.loss(model, half) / 2).backward()
        optimizer.step()
    states = [optimizer.state[x]["guard"] for x in model.parameters()]
    return training.outcome(model, optimizer), states


@pytest.mark.parametrize("kind", ["ddp", "fsdp", "resumed"])
@pytest.mark.parametrize("name", MAKERS)
def test_two_processes_are_one(trained, name, kind):
    from tests.torch import guard_processes

    expected, states = alone(getattr(guard_processes, name))
    found, of_processes = trained[name, kind]
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9)
    # Both processes have the same bits, and those of one process up to rounding.
    for ours, theirs, expected_state in zip(*of_processes, states, strict=True):
        assert torch.equal(ours, theirs)
        torch.testing.assert_close(ours, expected_state, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MAKERS)
def test_a_checkpoint_of_parts_continues_to_the_same_bits(trained, name):
    torch.testing.assert_close(trained[name, "fsdp"], trained[name, "resumed"], rtol=0, atol=0)


def test_a_gradient_that_is_not_summed_yet(trained):
    from fuld.torch import FULD

    from tests.torch.sharded_gradients import GRADIENT, START

    x = torch.nn.Parameter(START.clone())
    # The sum of once and twice the gradient.
    x.grad = 3 * GRADIENT
    FULD([x], lr=0.1, alpha="auto").step()
    torch.testing.assert_close(trained["not summed"], x.detach())
