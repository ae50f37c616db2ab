"""More than one device: pmap, sharded parameters, shard_map."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")
pytest.importorskip("optax")


def test_four_devices_take_the_steps_of_one():
    script = Path(__file__).with_name("on_four_devices.py")
    # How many devices there are is settled when JAX is imported.
    env = os.environ | {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "JAX_PLATFORMS": "cpu",
    }
    run = subprocess.run(
        [sys.executable, script], env=env, capture_output=True, text=True, timeout=100, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split("\n") == [
        "pmap",
        "pmap guarded",
        "jit Auto injected",
        "jit Auto known",
        "jit Auto guarded",
        "shard_map Auto",
        "shard_map Auto guarded",
        "jit Explicit injected",
        "jit Explicit known",
        "jit Explicit guarded",
        "shard_map Explicit",
        "shard_map Explicit guarded",
        "",
    ]
