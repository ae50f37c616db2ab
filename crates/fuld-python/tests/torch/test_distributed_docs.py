"""The scripts of docs/distributed.md print the output shown there."""

import re

import pytest

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("this torch has no torch.distributed", allow_module_level=True)

from fuld.torch import FULD  # noqa: E402

from tests.torch.torchrun import PACKAGE, torchrun  # noqa: E402

TEXT = (PACKAGE / "docs" / "distributed.md").read_text()


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("docs")
    for name, code in re.findall(r"```python\n# (\S+)\n(.*?)```", TEXT, re.DOTALL):
        (directory / name).write_text(code)
    return directory


@pytest.mark.parametrize(("script", "times"), [("ddp.py", 1), ("fsdp.py", 2)])
def test_the_commands(directory, script, times):
    """Line by line: a command, and what it prints."""
    console = "".join(re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL))
    commands = re.findall(rf"\$ torchrun (.*{script}.*)\n(.*)\n", console)
    assert len(commands) == times
    for line, printed in commands:
        assert torchrun(*line.split(), cwd=directory) == printed + "\n"


def test_the_checkpoint_of_ddp_is_one_of_one_process(directory):
    saved = torch.load(directory / "ddp.pt", weights_only=True)
    model = torch.nn.Linear(16, 1)
    model.load_state_dict(saved["model"])
    fuld = FULD(model.parameters())
    fuld.load_state_dict(saved["optimizer"])
    assert fuld.param_groups[0]["alpha"] == 1.2
    assert fuld.state[model.weight]["momentum_buffer"].shape == (1, 16)
