"""The program of `torchrun`: trainings that calibrate themselves, replicated and in parts.

`auto_processes.py DIRECTORY` writes what came of them to `auto.pt` there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.nn.parallel import DistributedDataParallel

from tests.torch.training import AUTO, STEPS, network, optimizer, outcome
from tests.torch.two_processes import sharded, step


def known(optimizer: torch.optim.Optimizer) -> list[Any]:
    """Return the state of the calibration of each parameter in this process."""
    params = [x for group in optimizer.param_groups for x in group["params"]]
    return [optimizer.state[x]["calibration"].clone() for x in params]


def of_all(numbers: list[Any]) -> list[list[Any]]:
    """The same of every process."""
    found: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(found, numbers)
    return found


def main(directory: Path) -> None:
    """Trains, saves half-way, and goes on."""
    model = DistributedDataParallel(network())
    fuld = optimizer(model, AUTO)
    for number in range(STEPS):
        step(model, fuld, number)
    found: dict[str, Any] = {"ddp": outcome(model, fuld), "ddp known": of_all(known(fuld))}

    parts = sharded()
    fuld = optimizer(parts, AUTO)
    for number in range(STEPS - 1):
        step(parts, fuld, number)
    found["before"] = of_all(known(fuld))
    weights, state = get_state_dict(parts, fuld)
    save({"model": weights, "optimizer": state}, checkpoint_id=directory / "auto")

    again = sharded()
    fuld = optimizer(again, AUTO)
    weights, state = get_state_dict(again, fuld)
    load({"model": weights, "optimizer": state}, checkpoint_id=directory / "auto")
    set_state_dict(again, fuld, model_state_dict=weights, optim_state_dict=state)
    found["loaded"] = of_all(known(fuld))
    step(again, fuld, STEPS - 1)
    found["fsdp"] = outcome(again, fuld)
    if dist.get_rank() == 0:
        torch.save(found, directory / "auto.pt")


if __name__ == "__main__":
    dist.init_process_group("gloo")
    main(Path(sys.argv[1]))
    dist.barrier()
    dist.destroy_process_group()
