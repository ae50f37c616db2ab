"""The examples, run as a user runs them but shorter."""

import json
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(monkeypatch, tmp_path, capsys):
    """Runs an example in an empty folder; returns what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)

    def run(name, *options):
        monkeypatch.setattr(sys, "argv", [name, *map(str, options)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def is_png(path):
    return path.read_bytes().startswith(b"\x89PNG")


NAMES = ["rosenbrock.py", "mnist.py", "injected_noise.py"]


@pytest.mark.parametrize("name", NAMES)
def test_help_says_how_to_begin(example, capsys, name):
    with pytest.raises(SystemExit) as ended:
        example(name, "--help")
    assert ended.value.code == 0
    assert f"python {name} " in capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_without_matplotlib_there_is_help_and_a_sentence(example, monkeypatch, name):
    for module in [name for name in sys.modules if name.split(".")[0] in ("matplotlib", "drawing")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit) as ended:
        example(name, "--help")
    assert ended.value.code == 0
    with pytest.raises(SystemExit, match="pip install matplotlib"):
        example(name)


def test_landscapes(example, tmp_path):
    # Of 2000 runs 1 to 2 % leave the picture with FULD 1.2, so that about one seed in four fails.
    printed = example("rosenbrock.py", "--steps", 200, "--runs", 20, "--seed", 40)
    assert is_png(tmp_path / "rosenbrock.png")
    outside = re.findall(r"^(\S.*?)  .* (\d+)%$", printed, re.MULTILINE)
    assert [name for name, _ in outside].count("FULD 1.2") == 2
    # The noise throws SGD out of the picture, and not FULD.
    assert all(int(share) == 0 for name, share in outside if name.startswith("FULD"))
    assert any(int(share) > 20 for name, share in outside if name == "SGD")


def test_noise_that_sgd_does_not_bear(example, tmp_path):
    settings = ("--steps", 60, "--seeds", 1, "--noise-scale", 0.01)
    printed = example("injected_noise.py", *settings, "--out", tmp_path / "figure.svg")
    rows = dict(re.findall(r"^(\S.*?)  +([\d. ]+)$", printed, re.MULTILINE))
    end = {name: float(numbers.split()[-1]) for name, numbers in rows.items()}
    assert end["SGD"] < 50 < 80 < end["FULD, matched"], printed
    figure = (tmp_path / "figure.svg").read_text()
    assert all(f"<!-- {name} -->" in figure for name in [*rows, "guessing"]), rows


def test_text_with_faults(example, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("To be, or not to be, that is the question: " * 200)
    settings = (text, "--size", "tiny", "--seeds", 1, "--optimizers", "AdamW")
    printed = example("guard_text.py", *settings)
    rows = re.findall(r"^\| AdamW, (.*?) \|", printed, re.MULTILINE)
    assert [row.split()[0] for row in rows] == ["nothing", "clip", "clip", "ZClip", "guard"]
    # Finished runs are not made again.
    assert example("guard_text.py", *settings).count("seed") == 0


def test_outliers_in_the_labels(example):
    printed = example("guard_outliers.py", "--seeds", 1, "--steps", 5)
    assert len(re.findall(r"^\| (SGD|AdamW), ", printed, re.MULTILINE)) == 12


def test_the_rust_trainer_has_the_same_curve(example, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    import rust_trainer

    try:
        rust_trainer.find(None)
    except rust_trainer.TrainerError as error:
        pytest.skip(str(error))
    printed = example("mnist.py", "--seeds", 5, "--steps", 60)
    # A false alarm has a chance of 1 %; the seeds are fixed.
    assert "agree within seed noise" in printed, printed
    assert is_png(tmp_path / "mnist.png")


def test_another_curve_is_seen(example, tmp_path):
    measured = [{"test_loss": 3.0, "test_accuracy": 0.1}] * 3
    other = tmp_path / "other"
    other.write_text(f"#!/bin/sh\ncat <<'end'\n{json.dumps({'measurements': measured})}\nend\n")
    other.chmod(0o755)
    printed = example("mnist.py", "--seeds", 5, "--steps", 2, "--program", other)
    assert "DIFFER" in printed, printed


def test_a_trainer_that_fails_is_quoted(example, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no disk >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(SystemExit, match="no disk"):
        example("mnist.py", "--steps", 1, "--program", broken)


def test_a_trainer_that_is_asked_for_must_be_there(example):
    with pytest.raises(SystemExit, match="--program: there is no program nowhere"):
        example("mnist.py", "--program", "nowhere")


@pytest.fixture
def no_trainer(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    import rust_trainer

    def none(given):
        raise rust_trainer.TrainerError("there is no program fuld")

    monkeypatch.setattr(rust_trainer, "find", none)


def test_one_side_says_that_it_is_one(example, no_trainer):
    printed = example("mnist.py", "--seeds", 5, "--steps", 2)
    assert "5 seeds of fuld.torch" in printed
    assert "each" not in printed


def test_nobody_takes_the_alpha_of_a_trainer_that_is_not_there(example, no_trainer):
    with pytest.raises(SystemExit, match=r"--rust-alpha .* there is no program fuld"):
        example("mnist.py", "--rust-alpha", 1.2)


def test_the_permutation_test_is_exact(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    from comparison import permutation_test, standard_errors

    low = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
    # Means 3 and 13, variances 2.5, so 10 / sqrt(2.5 / 5 + 2.5 / 5).
    np.testing.assert_allclose(standard_errors(low, low + 10), -10)
    # Of 252 divisions only this one and its mirror image are as far apart.
    assert permutation_test(low, low + 10)[1] == pytest.approx(2 / 252)
    assert permutation_test(low, low)[1] == 1


def test_digits_are_divided_as_in_the_rust_program(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    from images import digits

    images = digits()
    assert images.test_labels.bincount().tolist() == [35, 36, 35, 36, 36, 36, 36, 35, 34, 36]
    assert images.train.shape == (1442, 64)
    assert abs(float(images.train.mean())) < 1e-6
    assert abs(float(images.train.std(correction=0)) - 1) < 1e-6


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("mnist.py", ["--data", "nowhere"], "train-images-idx3-ubyte.gz is in nowhere: `fuld data"),
        ("mnist.py", ["--alpha", "2.1"], "alpha .* 2.1"),
        ("injected_noise.py", ["--noise-scale", "-1"], "scale .* -1"),
        ("injected_noise.py", ["--data", "nowhere"], "fuld data fetch mnist"),
    ],
)
def test_what_cannot_be_is_said(example, name, options, sentence):
    with pytest.raises(SystemExit, match=sentence):
        example(name, *options)


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("rosenbrock.py", ["--out", "figure.doc"], "figure.png, .svg or .pdf, got 'figure.doc'"),
        ("mnist.py", ["--out", "deep/figure.png"], "there is no folder 'deep'"),
        ("injected_noise.py", ["--full", "--steps", "9"], "not allowed with argument --full"),
        ("rosenbrock.py", ["--runs", "0"], "1 or more, got '0'"),
        ("mnist.py", ["--seeds", "4"], "at least 5"),
        ("mnist.py", ["--seed", "-1"], "0 or more, got '-1'"),
    ],
)
def test_options_are_checked(example, capsys, name, options, sentence):
    with pytest.raises(SystemExit):
        example(name, *options)
    assert sentence in capsys.readouterr().err


def test_a_file_that_is_cut_off_is_named(example, tmp_path):
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03\0\0")
    with pytest.raises(SystemExit, match=r"train-images-idx3-ubyte .* is not a complete idx file"):
        example("mnist.py", "--data", tmp_path)
