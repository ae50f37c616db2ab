"""The state of the monitor: with new groups, in checkpoints and copies."""

import copy
import io
import itertools
import pickle

import pytest

torch = pytest.importorskip("torch")

from fuld.torch import TailMonitor  # noqa: E402

from tests.torch.noise import StableGradients, parameters, same, sgd_with_knee, watched  # noqa: E402


def test_groups_that_come_later():
    params, optimizer, monitor = watched(200)
    noise = StableGradients(1.5, params)
    noise.train(optimizer, 20)
    before = monitor.report()["0"]
    late = parameters(30)
    optimizer.add_param_group({"params": late})
    assert same(monitor.report()["0"], before)
    assert monitor.report()["1"].note == "no gradients yet"
    StableGradients(1.5, params + late).train(optimizer, 40)
    assert [tail.steps for tail in monitor.report().values()] == [60, 40]
    assert [step for step, _ in monitor.history()] == list(range(4, 64, 4))
    assert monitor.history()[0][1]["1"].note


def test_state_dict_goes_on():
    params, optimizer, monitor = watched(60, 20)
    noise = StableGradients(1.5, params)
    noise.train(optimizer, 21)
    file = io.BytesIO()
    torch.save(monitor.state_dict(), file)
    file.seek(0)
    other = TailMonitor(optimizer)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert same(other.report(), monitor.report())
    assert same(other.history(), monitor.history())
    # Both begin a group of four now.
    monitor.load_state_dict(monitor.state_dict())
    noise.train(optimizer, 8)
    assert other.total().steps == 28
    assert same(other.total(), monitor.total())


def test_state_dicts_of_others():
    _, _, monitor = watched(60, 20)
    _, _, named = watched(60, 20, names=["a", "b"])
    with pytest.raises(ValueError, match="has no parameter 'a', only 0, 1"):
        named.load_state_dict(monitor.state_dict())
    with pytest.raises(ValueError, match="not that of a TailMonitor"):
        named.load_state_dict({"state": {}})


def pickled(pair):
    return pickle.loads(pickle.dumps(pair))


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
def test_copies_watch_the_copied_optimizer(copied):
    params, optimizer, monitor = watched(60)
    StableGradients(1.5, params).train(optimizer, 22)
    other_optimizer, other = copied((optimizer, monitor))
    assert same(other.report(), monitor.report())
    for one in (optimizer, other_optimizer):
        StableGradients(1.5, one.param_groups[0]["params"], seed=2).train(one, 8)
    assert other.steps == monitor.steps == 30
    assert same(other.report(), monitor.report())
    monitor.detach()
    last_optimizer, last = copied((optimizer, monitor))
    StableGradients(1.5, last_optimizer.param_groups[0]["params"]).train(last_optimizer, 8)
    assert last.steps == 30


def test_the_optimizer_may_load_a_state():
    (param,) = params = parameters(100)
    optimizer = sgd_with_knee(params, form="matched", momentum=0.5, noise_scale=1e-9, alpha=1.5)
    monitor = TailMonitor(optimizer, half_life=1)
    StableGradients(1.5, params).train(optimizer, 8)
    assert monitor.total().beyond_knee == 1
    optimizer.load_state_dict(optimizer.state_dict())
    optimizer.param_groups[0]["noise_scale"] = 1e9
    StableGradients(1.5, params).train(optimizer, 80)
    assert monitor.total().beyond_knee < 1e-6
    assert param.grad is not None


def test_history_stays_short():
    params, optimizer, monitor = watched(10)
    StableGradients(1.5, params).train(optimizer, 4 * 300)
    steps = [step for step, _ in monitor.history()]
    assert 30 < len(steps) < 64
    gaps = {after - before for before, after in itertools.pairwise(steps)}
    assert len(gaps) == 1
    assert steps[-1] >= 1200 - max(gaps)
