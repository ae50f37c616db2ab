"""Ctrl-C, kills, forks and the end of the interpreter, in processes of their own."""

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import fuld
import numpy as np
import pytest
from fuld._function_identity import code_hash

from tests.wells import well

PACKAGE = Path(__file__).parent.parent


#: A function may say that it is ready: in the run, and not in the trial.
PREAMBLE = """
    import fuld, os, signal, sys, time, warnings
    from tests.wells import *

    def ready(function, at=20):
        calls = []
        def tell(x):
            calls.append(0)
            if len(calls) == at:
                print("ready", flush=True)
            return function(x)
        return tell
"""


class Script:
    """A Python process that says `ready` when it is."""

    def __init__(self, code):
        code = textwrap.dedent(PREAMBLE) + textwrap.dedent(code)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=PACKAGE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ready(self):
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line != "ready\n":
            self.process.kill()
            raise AssertionError((line, self.process.communicate()))
        return self

    def send(self, what, after):
        time.sleep(after)
        self.process.send_signal(what)
        return self

    def end(self, code=0, seconds=10):
        """Return its output; it must end in time, and with this exit code."""
        try:
            out, err = self.process.communicate(timeout=seconds)
        finally:
            self.process.kill()
        assert self.process.returncode == code, (out, err)
        return out, err


@pytest.mark.parametrize("potential", ["'x^2/2'", "well"])
def test_ctrl_c_returns_what_there_is(potential):
    script = Script(f"""
        print("ready", flush=True)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            samples = fuld.sample({potential}, draws=10**7, thin=20, chains=4, warmup=0)
        assert 0 < samples["x"].shape[1] < 10**7, samples["x"].shape
        assert str(warned[0].message) in samples.warnings, samples.warnings
        assert [w.category for w in warned] == [fuld.Interrupted], warned
        print(warned[0].message, warned[0].filename)
    """)
    # On a busy machine there are no draws yet after one second.
    out, _ = script.ready().send(signal.SIGINT, 4.0).end()
    assert out.startswith("the run was stopped: ")
    assert "of 10000000 draws a chain made; see docs/sampling.md#interrupted-runs" in out
    assert out.endswith(" <string>\n")


def test_ctrl_c_in_the_warm_up_is_a_keyboard_interrupt():
    script = Script("""
        try:
            fuld.sample(ready(well), draws=10, chains=4, warmup=10**12, output="numpy")
        except KeyboardInterrupt:
            print("interrupted")
    """)
    assert script.ready().send(signal.SIGINT, 0.3).end()[0] == "interrupted\n"


def test_ctrl_c_twice_gets_out_of_a_function_that_hangs():
    script = Script("""
        def hang(x):
            if len(hung) > 20:
                time.sleep(2.0)
            hung.append(0)
            return well(x)
        hung = []
        try:
            fuld.sample(ready(hang), draws=10**6, chains=4, output="numpy")
        except KeyboardInterrupt:
            print("interrupted", len(hung))
    """)
    script.ready().send(signal.SIGINT, 0.3).send(signal.SIGINT, 0.3)
    # The interpreter ends when the call does, since nothing can end that.
    assert script.end()[0].startswith("interrupted")


STORED: dict[str, Any] = {
    "draws": 4000,
    "chains": 4,
    "seed": 5,
    "thin": 2,
    "warmup": 100,
    "output": "numpy",
}


def files(store):
    """Return the contents of a store without the state of the run."""
    paths = (path for path in Path(store).rglob("*") if path.is_file())
    return {
        str(path.relative_to(store)): path.read_bytes()
        for path in paths
        if not str(path.relative_to(store)).startswith(".fuld-")
    }


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    store = tmp_path_factory.mktemp("unbroken") / "store"
    return fuld.sample(well, store=store, **STORED)["x"], files(store)


@pytest.mark.parametrize(("what", "code"), [(signal.SIGINT, 0), (signal.SIGKILL, -9)])
def test_a_run_that_was_broken_goes_on(what, code, tmp_path, unbroken):
    store = tmp_path / "store"
    # Slow enough to be caught on the way: 8100 steps of more than 0.5 ms.
    script = Script(f"""
        def slowly(x):
            time.sleep(0.0005)
            return well(x)
        warnings.simplefilter("ignore")
        fuld._potential.code_hash = lambda function: {code_hash(well)!r}
        fuld.sample(ready(slowly, 500), name="well", store={str(store)!r}, **{STORED})
    """)
    script.ready().send(what, 1.5).end(code)
    x = fuld.sample(well, store=store, resume=True, **STORED)["x"]
    np.testing.assert_array_equal(x, unbroken[0])
    assert files(store) == unbroken[1]


@pytest.mark.parametrize("potential", ["'x^2/2'", "well", "slow_well"])
@pytest.mark.parametrize("keep", ["handle = ", ""], ids=["held", "dropped"])
def test_the_interpreter_ends_in_the_middle_of_a_run(potential, keep):
    began = time.monotonic()
    script = Script(f"""
        {keep}fuld.sample({potential}, draws=10**7, chains=4, output="numpy", blocking=False)
        print("ready", flush=True)
        time.sleep(0.2)
    """)
    assert script.ready().end() == ("", "")
    assert time.monotonic() - began < 5


def test_an_error_ends_the_interpreter_in_the_middle_of_a_run():
    script = Script("""
        handle = fuld.sample(well, draws=10**7, chains=4, output="numpy", blocking=False)
        print("ready", flush=True)
        raise KeyError("mine")
    """)
    assert script.ready().end(1)[1].endswith("KeyError: 'mine'\n")


def test_a_fork_leaves_the_run_with_its_parent():
    script = Script("""
        handle = fuld.sample(well, draws=10**7, chains=4, output="numpy", blocking=False)
        while handle.progress is None:
            time.sleep(0.05)
        print("ready", flush=True)
        if os.fork() == 0:
            for ask in (handle.result, handle.peek, handle.abort, handle.pause):
                try:
                    ask()
                except RuntimeError as error:
                    assert f"goes on in process {os.getppid()}" in str(error), error
                else:
                    sys.exit(1)
            fuld.sample(well, draws=10, chains=4, output="numpy")
            mine = fuld.sample(well, draws=10**7, chains=4, output="numpy", blocking=False)
            sys.exit(0)
        _, status = os.wait()
        before = handle.progress.steps
        time.sleep(0.2)
        assert handle.progress.steps > before
        sys.exit(os.waitstatus_to_exitcode(status))
    """)
    script.ready().end()
