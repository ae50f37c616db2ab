"""The picture that the monitor draws."""

import io
import math
import sys

import pytest

torch = pytest.importorskip("torch")
matplotlib = pytest.importorskip("matplotlib")

from fuld.torch import TailMonitor  # noqa: E402
from matplotlib import pyplot  # noqa: E402

from tests.torch.noise import StableGradients, parameters, sgd_with_knee, watched  # noqa: E402


@pytest.fixture(autouse=True)
def _no_screen():
    matplotlib.use("agg")
    yield
    pyplot.close("all")


def drawn(*sizes, noise=1.5, steps=40, noise_scale=1e-3, **settings):
    """The monitor of an optimizer with a knee, and its picture."""
    params = parameters(*sizes)
    optimizer = sgd_with_knee(params, alpha=1.5, noise_scale=noise_scale, form="matched")
    monitor = TailMonitor(optimizer, **settings)
    StableGradients(noise, params).train(optimizer, steps)
    figure = monitor.plot()
    figure.savefig(io.BytesIO())
    return monitor, figure


def names(figure):
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def panel(figure, label):
    (found,) = [axes for axes in figure.axes if label in (axes.get_xlabel(), axes.get_ylabel())]
    return found


def test_the_heaviest_of_many_and_all():
    monitor, figure = drawn(*[20] * 30)
    assert len(figure.axes) == 6
    assert len(names(figure)) == 25
    heaviest = sorted(monitor.report().items(), key=lambda item: item[1].alpha)[:24]
    assert set(names(figure)) == {name for name, _ in heaviest} | {"all"}
    assert "the 24 parameters of 30 with the heaviest tails" in figure.get_suptitle()
    # All stand out from the crowd: the last line is the widest and the darkest.
    *others, of_all = panel(figure, "noise scale").get_lines()
    assert all(line.get_linewidth() < of_all.get_linewidth() / 2 for line in others)
    brightness = [sum(matplotlib.colors.to_rgb(line.get_color())) for line in (*others, of_all)]
    assert brightness[-1] < 0.5 < 1.2 < min(brightness[:-1])
    assert of_all.get_ydata()[-1] == pytest.approx(monitor.total().noise_scale, rel=1e-12)


def test_scales_with_their_errors():
    monitor, figure = drawn(50, 20)
    axes = panel(figure, "noise scale, with 95 % intervals")
    assert axes.get_xscale() == panel(figure, "noise scale").get_yscale() == "log"
    tail = monitor.report()["0"]
    low, high = axes.get_lines()[0].get_xdata()
    assert low < tail.noise_scale < high
    assert math.log(high / low) == pytest.approx(
        2 * 1.96 * tail.noise_scale_error / tail.noise_scale
    )


def test_no_interval_leaves_the_range_of_alpha():
    monitor, figure = drawn(*[2] * 12, noise=1.2, steps=24)
    tails = monitor.report().values()
    assert any(tail.alpha < 1.96 * tail.alpha_error for tail in tails)
    assert any(tail.alpha + 1.96 * tail.alpha_error > 2 for tail in tails)
    axes = panel(figure, "tail index α, with 95 % intervals")
    seen = [x for line in axes.get_lines() for x in line.get_xdata()]
    assert (min(seen), max(seen)) == (0, 2)
    assert axes.get_xlim()[0] == 0


def test_nothing_beyond_the_knee_is_none_on_an_axis_of_percents():
    monitor, figure = drawn(50, 20, noise_scale=1e9)
    assert monitor.total().beyond_knee == 0
    axes = panel(figure, "coordinates beyond the knee, %")
    assert axes.get_xlim() == (0, 1)
    assert [text.get_text() for text in axes.texts] == ["none"] * 3
    assert panel(figure, "beyond knee, %").get_ylim()[1] == 1


def test_without_a_knee_its_panel_is_missing():
    params, optimizer, monitor = watched(50)
    StableGradients(1.5, params).train(optimizer, 40)
    figure = monitor.plot()
    assert len(figure.axes) == 4
    assert names(figure) == ["0"]


def test_one_coordinate_is_left_out_unless_there_is_nothing_else():
    assert names(drawn(50, 1, 20)[1]) == ["0", "2", "all"]
    assert names(drawn(1, 1)[1]) == ["0", "1", "all"]


def test_long_names_keep_their_end():
    _, figure = drawn(50, 20, names=["layers." * 10 + "weight", "b"])
    assert names(figure)[0].endswith(".layers.weight")
    assert len(names(figure)[0]) == 30


def test_a_figure_of_ones_own():
    monitor, _ = drawn(50, 20)
    own = matplotlib.figure.Figure()
    assert monitor.plot(own) is own
    part = pyplot.figure(layout="constrained").subfigures()
    assert monitor.plot(part) is part
    own.savefig(io.BytesIO())
    for wrong, words in [
        (own.axes[0], r"got Axes; give its \.figure"),
        (3, "got int; leave it out to have one made"),
    ]:
        with pytest.raises(TypeError, match=f"figure must be a matplotlib Figure, {words}"):
            monitor.plot(wrong)


def test_says_why_there_is_nothing():
    _, _, monitor = watched(3)
    with pytest.raises(ValueError, match="nothing to plot before four steps with gradients"):
        monitor.plot()
    table = torch.nn.Embedding(10, 3, sparse=True)
    (other,) = parameters(3)
    for params, words in [
        ([table.weight], "sparse gradients$"),
        ([table.weight, other], r"sparse gradients \(1\), constant gradients \(1\)"),
    ]:
        optimizer = torch.optim.SGD(params, lr=0.1)
        monitor = TailMonitor(optimizer)
        for _ in range(4):
            optimizer.zero_grad()
            (table(torch.tensor([1, 2])).sum() + other.sum()).backward()
            optimizer.step()
        with pytest.raises(ValueError, match=f"there is nothing to plot: {words}"):
            monitor.plot()


def test_without_matplotlib(monkeypatch):
    params, optimizer, monitor = watched(20)
    StableGradients(1.5, params).train(optimizer, 8)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"needs matplotlib.*pip install matplotlib"):
        monitor.plot()
