"""The state of the guard in checkpoints."""

import copy

import pytest

torch = pytest.importorskip("torch")

from fuld.torch import FULD, guard  # noqa: E402

from tests.torch.guarded import OPTIMIZERS, fill, lead, parameters, states  # noqa: E402


def guarded(make):
    return lambda params: guard(make(params))


MAKERS = {
    **{name: guarded(make) for name, make in OPTIMIZERS.items()},
    "FULD": lambda p: FULD(p, 0.01, alpha=1.5, guard=3.0),
    "FULD auto": lambda p: FULD(p, 0.01, alpha="auto"),
    "FULD foreach": lambda p: FULD(p, 0.01, alpha=1.5, guard=3.0, foreach=True),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_checkpoint_continues_to_the_same_bits(tmp_path, name, dtype):
    ours = parameters(dtype)
    optimizer = MAKERS[name](ours)
    lead(ours, optimizer, range(4))
    torch.save([[x.data for x in ours], optimizer.state_dict()], tmp_path / "checkpoint.pt")
    lead(ours, optimizer, range(4, 9))

    weights, state = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    theirs = [torch.nn.Parameter(x) for x in weights]
    again = MAKERS[name](theirs)
    again.load_state_dict(state)
    lead(theirs, again, range(4, 9))
    assert states(theirs, again) == states(ours, optimizer)
    for x, y in zip(ours, theirs, strict=True):
        assert again.state[y]["guard"].dtype == torch.float32
        assert torch.equal(x, y)


@pytest.mark.parametrize("name", MAKERS)
def test_a_state_that_is_loaded_is_a_copy(name):
    params = parameters()
    optimizer = MAKERS[name](params)
    lead(params, optimizer, range(3))
    saved = copy.deepcopy(optimizer.state_dict())
    kept = copy.deepcopy(saved)
    lead(params, optimizer, range(3, 6))
    optimizer.load_state_dict(saved)
    lead(params, optimizer, range(3, 6))
    for i, of in saved["state"].items():
        assert torch.equal(of["guard"], kept["state"][i]["guard"])


def test_a_checkpoint_without_a_guard_begins_a_new_state():
    params = parameters()
    plain = torch.optim.AdamW(params)
    lead(params, plain, range(3))
    guarded = guard(torch.optim.AdamW(params))
    guarded.load_state_dict(plain.state_dict())
    lead(params, guarded, range(3, 5))
    assert [s[1] for s in states(params, guarded)] == [2, 2, 2, 2, 0]
    assert guarded.state[params[0]]["step"] == 5


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_without_a_guard_loads_a_guarded_checkpoint(name):
    params = parameters()
    guarded = MAKERS[name](params)
    lead(params, guarded, range(3))
    plain = OPTIMIZERS[name](params)
    plain.load_state_dict(guarded.state_dict())
    lead(params, plain, range(3, 5))
    assert plain.state[params[0]]["guard"][1] == 3


def test_a_copy_keeps_the_state_but_has_no_guard():
    params = parameters()
    optimizer = guard(torch.optim.AdamW(params))
    lead(params, optimizer, range(3))
    copied = copy.deepcopy(optimizer)
    own = copied.param_groups[0]["params"]
    lead(own, copied, [3])
    assert [s[1] for s in states(own, copied)] == [3, 3, 3, 3, 0]
    guard(copied)
    lead(own, copied, [4])
    assert [s[1] for s in states(own, copied)] == [4, 4, 4, 4, 0]


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ([2.0, 3.0, 0.0], "format version 2"),
        ([1.0, 51.0, 0.0], "from 0 to 50, got 51"),
        ([1.0, 3.0, float("nan")], "must be finite"),
        ([1.0, 3.0], "3 numbers, got 2"),
    ],
)
@pytest.mark.parametrize("name", ["AdamW", "FULD"])
def test_a_wrong_state_is_refused_before_anything_is_loaded(name, numbers, says):
    params = parameters()
    optimizer = MAKERS[name](params)
    lead(params, optimizer, range(3))
    before = states(params, optimizer)
    state = copy.deepcopy(optimizer.state_dict())
    state["state"][1]["guard"] = torch.tensor(numbers)
    state["param_groups"][0]["lr"] = 0.5
    with pytest.raises(RuntimeError, match=says):
        optimizer.load_state_dict(state)
    assert states(params, optimizer) == before
    assert optimizer.param_groups[0]["lr"] != 0.5


def test_states_of_a_fused_step_are_those_of_the_checkpoint():
    params = parameters()
    optimizer = guard(torch.optim.SGD(params, 0.1))
    lead(params, optimizer, range(2))
    saved = optimizer.state_dict()["state"]
    fill(params, 2)
    optimizer.step()
    # The checkpoint has the numbers that the next step writes to, as for all states of torch.
    assert saved[0]["guard"][1] == 3
