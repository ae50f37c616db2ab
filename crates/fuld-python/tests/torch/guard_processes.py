"""The program of `torchrun`: trainings with a guard, replicated and in parts.

`guard_processes.py DIRECTORY` writes what came of them to `guard.pt` there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from fuld.torch import FULD, guard
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.nn.parallel import DistributedDataParallel

from tests.torch.sharded_gradients import not_summed
from tests.torch.training import STEPS, network, outcome
from tests.torch.two_processes import sharded, step


def adam(model: nn.Module) -> torch.optim.Optimizer:
    """AdamW with a guard that clips much."""
    return guard(torch.optim.AdamW(model.parameters(), lr=0.05), 2.0)


def auto(model: nn.Module) -> torch.optim.Optimizer:
    """FULD with the guard inside."""
    return FULD(model.parameters(), lr=0.05, alpha="auto")


def states(optimizer: torch.optim.Optimizer) -> list[list[Any]]:
    """Return the state of the guard of each parameter, in every process."""
    params = [x for group in optimizer.param_groups for x in group["params"]]
    found: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(found, [optimizer.state[x]["guard"].clone() for x in params])
    return found


def main(directory: Path) -> None:
    """Trains, saves half-way, and goes on."""
    found: dict[Any, Any] = {}
    for name, make in {"adam": adam, "auto": auto}.items():
        model = DistributedDataParallel(network())
        optimizer = make(model)
        for number in range(STEPS):
            step(model, optimizer, number)
        found[name, "ddp"] = (outcome(model, optimizer), states(optimizer))

        parts = sharded()
        optimizer = make(parts)
        for number in range(STEPS - 1):
            step(parts, optimizer, number)
        weights, state = get_state_dict(parts, optimizer)
        save({"model": weights, "optimizer": state}, checkpoint_id=directory / name)
        step(parts, optimizer, STEPS - 1)
        found[name, "fsdp"] = (outcome(parts, optimizer), states(optimizer))

        again = sharded()
        optimizer = make(again)
        weights, state = get_state_dict(again, optimizer)
        load({"model": weights, "optimizer": state}, checkpoint_id=directory / name)
        set_state_dict(again, optimizer, model_state_dict=weights, optim_state_dict=state)
        step(again, optimizer, STEPS - 1)
        found[name, "resumed"] = (outcome(again, optimizer), states(optimizer))
    mesh = dist.device_mesh.init_device_mesh("cpu", (2,))
    found["not summed"] = not_summed(mesh, {"lr": 0.1, "alpha": "auto"})
    if dist.get_rank() == 0:
        torch.save(found, directory / "guard.pt")


if __name__ == "__main__":
    dist.init_process_group("gloo")
    main(Path(sys.argv[1]))
    dist.barrier()
    dist.destroy_process_group()
