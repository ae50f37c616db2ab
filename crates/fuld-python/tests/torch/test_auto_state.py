"""The state of a calibrated group, in checkpoints and copies."""

import copy
import io
import pickle

import pytest

torch = pytest.importorskip("torch")
from fuld import _native  # noqa: E402
from fuld.torch import FULD  # noqa: E402

from tests.torch.calibrated import AUTO, WAYS, Noise, known, led, starts  # noqa: E402
from tests.torch.walk import IMPLEMENTATIONS  # noqa: E402


def saved(optimizer):
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def of_checkpoint(params, optimizer):
    new = [x.clone() for x in params]
    again = FULD(new, lr=9.0)
    again.load_state_dict(saved(optimizer))
    return new, again


def of_deepcopy(params, optimizer):
    again = copy.deepcopy(optimizer)
    return again.param_groups[0]["params"], again


def of_pickle(params, optimizer):
    again = pickle.loads(pickle.dumps(optimizer))
    return again.param_groups[0]["params"], again


@pytest.mark.parametrize("way", [of_checkpoint, of_deepcopy, of_pickle])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
@pytest.mark.parametrize("implementation", ["single", "default"])
@pytest.mark.parametrize("steps", [6, 7])
def test_copies_go_on_to_the_same_bits(way, dtype, implementation, steps):
    """In the middle of four gradients that are compared, too."""
    if dtype.is_complex:
        params = [torch.view_as_complex(x) for x in starts([(30, 20, 2), (50, 2)])]
    else:
        params = starts(dtype=dtype)
    optimizer = FULD(params, lr=0.01, **AUTO, **IMPLEMENTATIONS[implementation])
    Noise(1.4).lead(params, optimizer, steps)
    new, again = way(params, optimizer)
    for c, d in zip(known(params, optimizer), known(new, again), strict=True):
        assert (d.dtype, d.device.type) == (torch.float32, "cpu")
        assert c.data_ptr() != d.data_ptr()
    Noise(1.4, seed=2).lead(new, again, 10)
    Noise(1.4, seed=2).lead(params, optimizer, 10)
    for x, y in zip([*params, *known(params, optimizer)], [*new, *known(new, again)], strict=True):
        assert torch.equal(x, y)


@pytest.mark.parametrize("way", WAYS)
def test_the_state_is_buffer_and_calibration(way):
    params, optimizer = led(steps=3, **IMPLEMENTATIONS[way])
    for x in params:
        assert set(optimizer.state[x]) == {"momentum_buffer", "calibration"}
        assert optimizer.state[x]["calibration"].shape == _native.calibration_start(x.numel()).shape
    params, optimizer = led(steps=3, momentum=0.0, **IMPLEMENTATIONS[way])
    assert set(optimizer.state[params[0]]) == {"calibration"}


def test_a_checkpoint_of_single_precision_goes_to_half_without_loss():
    params, optimizer = led()
    new = [x.bfloat16() for x in params]
    again = FULD(new)
    again.load_state_dict(optimizer.state_dict())
    for c, d in zip(known(params, optimizer), known(new, again), strict=True):
        assert torch.equal(c, d)
    assert again.state[new[0]]["momentum_buffer"].dtype == torch.bfloat16
    assert again.calibration() == optimizer.calibration()


def test_sgd_goes_on_and_back():
    params, optimizer = led()
    found = optimizer.calibration()
    sgd = torch.optim.SGD(params, lr=1.0)
    sgd.load_state_dict(optimizer.state_dict())
    assert sgd.param_groups[0]["lr"] == 0.01
    Noise(1.4, seed=2).lead(params, sgd, 3)
    again = FULD(params, **AUTO)
    again.load_state_dict(sgd.state_dict())
    # It knows what it knew.
    assert again.calibration() == found
    Noise(1.4, seed=3).lead(params, again, 3)


@pytest.mark.parametrize("way", WAYS)
def test_a_checkpoint_of_sgd_starts_a_calibration(way):
    params = starts()
    sgd = torch.optim.SGD(params, lr=0.01, momentum=0.9)
    Noise(1.4).lead(params, sgd, 5)
    optimizer = FULD(params, **AUTO, **IMPLEMENTATIONS[way])
    optimizer.load_state_dict(sgd.state_dict())
    assert optimizer.param_groups[0]["alpha"] == "auto"
    assert not optimizer.calibration()
    buffer = optimizer.state[params[0]]["momentum_buffer"].clone()
    Noise(1.4, seed=2).lead(params, optimizer, 1)
    assert set(optimizer.calibration()) == {"0", "1", "2", "3"}
    limit = optimizer.calibration()["0"].limit
    expected = 0.9 * buffer + params[0].grad.clamp(-limit, limit)
    torch.testing.assert_close(optimizer.state[params[0]]["momentum_buffer"], expected)


def test_fixed_settings_go_to_auto_and_back():
    params, fixed = led(alpha=1.5, noise_scale=0.1)
    optimizer = FULD(params, **AUTO)
    optimizer.load_state_dict(fixed.state_dict())
    # Settings come from the checkpoint, as with every optimizer; they can be set again.
    assert optimizer.param_groups[0]["alpha"] == 1.5
    optimizer.param_groups[0].update(AUTO)
    Noise(1.4, seed=2).lead(params, optimizer, 3)
    assert set(optimizer.calibration()) == {"0", "1", "2", "3"}
    optimizer.param_groups[0].update(alpha=1.5, noise_scale=0.1)
    assert not optimizer.calibration()
    Noise(1.4, seed=3).lead(params, optimizer, 3)
    fixed.load_state_dict(optimizer.state_dict())
    Noise(1.4, seed=4).lead(params, fixed, 3)


def test_loading_leaves_the_checkpoint_as_it_is():
    params, optimizer = led()
    state = optimizer.state_dict()
    kept = copy.deepcopy(state)
    again = FULD([x.clone() for x in params])
    again.load_state_dict(state)
    Noise(1.4, seed=2).lead(again.param_groups[0]["params"], again, 3)
    for i in range(len(params)):
        assert torch.equal(*(s["state"][i]["calibration"] for s in (state, kept)))


@pytest.mark.parametrize("way", WAYS)
def test_the_calibration_of_another_model_is_refused(way):
    params, optimizer = led(**IMPLEMENTATIONS[way])
    optimizer.state[params[1]]["calibration"] = torch.zeros(7)
    before = [x.clone() for x in (*params, *known(params, optimizer))]
    with pytest.raises(
        RuntimeError,
        match=r"shape \(100,\) has a calibration state that does not fit: 7 numbers instead",
    ):
        Noise(1.4, seed=2).lead(params, optimizer, 1)
    for x, y in zip(before, (*params, *known(params, optimizer)), strict=True):
        assert torch.equal(x, y)


def test_a_state_of_another_version_or_size_is_refused_when_it_is_loaded():
    params, optimizer = led()
    other = FULD([torch.zeros_like(x) for x in params], **AUTO)
    before = copy.deepcopy(other.state_dict())
    version, length = -3, -2
    for place, value, says in [
        (version, 99.0, "format version 99"),
        (length, 5000.0, "the length 5000 of another tensor"),
    ]:
        state = copy.deepcopy(optimizer.state_dict())
        head = len(_native.calibration_start(0))
        state["state"][0]["calibration"][:head][place] = value
        with pytest.raises(RuntimeError, match=says):
            other.load_state_dict(state)
        assert other.state_dict() == before
    wrong = FULD([torch.zeros(70, 34), *(torch.zeros_like(x) for x in params[1:])], **AUTO)
    with pytest.raises(RuntimeError, match=r"momentum_buffer of shape \(70, 33\)"):
        wrong.load_state_dict(optimizer.state_dict())
