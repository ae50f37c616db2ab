"""The program of `torchrun`: trainings with every kind of parallelism, and their results.

`two_processes.py train DIRECTORY` writes `train.pt` and checkpoints there, and
`two_processes.py resume DIRECTORY` goes on from these, and from those that the test put there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from fuld.torch import FULD
from torch import nn
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_state_dict,
    set_state_dict,
)
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel

from tests.torch.sharded_gradients import not_summed, on_its_way, scaled
from tests.torch.training import SETTINGS, STEPS, batch, halves, loss, network, optimizer, outcome

Outcome = dict[str, list[torch.Tensor]]


def step(model: nn.Module, optimizer: torch.optim.Optimizer, number: int) -> None:
    """Take a step along the gradient of all data; this process has half of them."""
    optimizer.zero_grad()
    share_of_loss(model, number).backward()
    optimizer.step()


def share_of_loss(model: nn.Module, number: int) -> torch.Tensor:
    """The mean over this process's half of the data."""
    return loss(model, halves(number)[dist.get_rank()])


def sharded(shape: tuple[int, ...] = (2,)) -> Any:
    """The network under FSDP2; in two dimensions the first is that of replicas."""
    names = ("replicas", "shards")[-len(shape) :]
    model = network()
    fully_shard(model, mesh=init_device_mesh("cpu", shape, mesh_dim_names=names))
    return model


def replicated(settings: dict[str, Any]) -> Outcome:
    """DDP."""
    model = DistributedDataParallel(network())
    fuld = optimizer(model, settings)
    for number in range(STEPS):
        step(model, fuld, number)
    return outcome(model, fuld)


def zero(settings: dict[str, Any]) -> Outcome:
    """DDP, where each process steps some of the parameters for all."""
    model = DistributedDataParallel(network())
    fuld = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=FULD, **settings)
    for number in range(STEPS):
        step(model, fuld, number)
    fuld.consolidate_state_dict(to=0)
    if dist.get_rank() != 0:
        return {}
    states = fuld.state_dict()["state"].values()
    return {
        "parameters": [x.detach() for x in model.parameters()],
        "momentum": [s["momentum_buffer"] for s in states if "momentum_buffer" in s],
    }


def fsdp(settings: dict[str, Any], shape: tuple[int, ...] = (2,)) -> Outcome:
    """FSDP2."""
    model = sharded(shape)
    fuld = optimizer(model, settings)
    for number in range(STEPS):
        step(model, fuld, number)
    return outcome(model, fuld)


def tensor_parallel(settings: dict[str, Any]) -> Outcome:
    """All the data in both processes, and in each a part of the hidden units."""
    plan = {"0": ColwiseParallel(use_local_output=False), "2": RowwiseParallel()}
    model = parallelize_module(network(), init_device_mesh("cpu", (2,)), plan)
    fuld = optimizer(model, settings)
    for number in range(STEPS):
        fuld.zero_grad()
        loss(model, batch(number)).backward()
        fuld.step()
    return outcome(model, fuld)


def clipped(settings: dict[str, Any]) -> Outcome:
    """FSDP2 with accumulated gradients, two steps' data at a time, and a bound on their norm."""
    model = sharded()
    fuld = optimizer(model, settings)
    for number in range(0, STEPS, 2):
        fuld.zero_grad()
        model.set_requires_gradient_sync(False)
        share_of_loss(model, number).backward()
        model.set_requires_gradient_sync(True)
        share_of_loss(model, number + 1).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        fuld.step()
    return outcome(model, fuld)


def clipped_replicas(settings: dict[str, Any]) -> Outcome:
    """The same under DDP."""
    model = DistributedDataParallel(network())
    fuld = optimizer(model, settings)
    for number in range(0, STEPS, 2):
        fuld.zero_grad()
        with model.no_sync():
            share_of_loss(model, number).backward()
        share_of_loss(model, number + 1).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        fuld.step()
    return outcome(model, fuld)


def checkpoint(settings: dict[str, Any], directory: Path) -> None:
    """Half of a training under FSDP2, sharded and whole on disk."""
    model = sharded()
    fuld = optimizer(model, settings)
    for number in range(STEPS // 2):
        step(model, fuld, number)
    weights, state = get_state_dict(model, fuld)
    save({"model": weights, "optimizer": state}, checkpoint_id=directory / "two")
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    weights, state = get_state_dict(model, fuld, options=options)
    if dist.get_rank() == 0:
        torch.save({"model": weights, "optimizer": state}, directory / "whole.pt")


def resumed(settings: dict[str, Any], directory: Path, **options: Any) -> Outcome:
    """The other half, in a network that never saw the first."""
    model = sharded()
    fuld = optimizer(model, {**settings, "lr": 9.0})
    weights, state = get_state_dict(model, fuld)
    load({"model": weights, "optimizer": state}, checkpoint_id=directory, **options)
    set_state_dict(model, fuld, model_state_dict=weights, optim_state_dict=state)
    return second_half(model, fuld)


def resumed_from_whole(settings: dict[str, Any], file: Path) -> Outcome:
    """The other half, from a file that holds everything in one piece."""
    saved = torch.load(file, weights_only=True)
    model = sharded()
    fuld = optimizer(model, {**settings, "lr": 9.0})
    set_state_dict(
        model,
        fuld,
        model_state_dict=saved["model"],
        optim_state_dict=saved["optimizer"],
        options=StateDictOptions(full_state_dict=True),
    )
    return second_half(model, fuld)


def second_half(model: nn.Module, fuld: FULD) -> Outcome:
    """The steps after a checkpoint."""
    for number in range(STEPS // 2, STEPS):
        step(model, fuld, number)
    return outcome(model, fuld)


def main() -> None:
    """Runs what the command line names."""
    what, directory = sys.argv[1], Path(sys.argv[2])
    dist.init_process_group("gloo")
    outcomes: dict[str, Any] = {}
    if what == "train":
        mesh = init_device_mesh("cpu", (2,))
        for name, settings in SETTINGS.items():
            outcomes[f"ddp {name}"] = replicated(settings)
            outcomes[f"zero {name}"] = zero(settings)
            outcomes[f"fsdp {name}"] = fsdp(settings)
            outcomes[f"hsdp {name}"] = fsdp(settings, (2, 1))
            outcomes[f"tensor {name}"] = tensor_parallel(settings)
            outcomes[f"clipped fsdp {name}"] = clipped(settings)
            outcomes[f"clipped ddp {name}"] = clipped_replicas(settings)
            outcomes[f"not summed {name}"] = not_summed(mesh, settings)
            outcomes[f"on its way {name}"] = on_its_way(mesh, settings)
            outcomes[f"scaled {name}"] = scaled(mesh, settings)
        checkpoint(SETTINGS["pulled"], directory)
    else:
        outcomes["two"] = resumed(SETTINGS["pulled"], directory / "two")
        outcomes["one"] = resumed(SETTINGS["pulled"], directory / "one")
        # SGD's has no alpha: that is as it was given.
        some = DefaultLoadPlanner(allow_partial_load=True)
        outcomes["sgd"] = resumed(SETTINGS["default"], directory / "sgd", planner=some)
        outcomes["sgd.pt"] = resumed_from_whole(SETTINGS["default"], directory / "sgd.pt")
    if dist.get_rank() == 0:
        torch.save(outcomes, directory / f"{what}.pt")
    # Together: a process that is taken down while the other still talks to it may abort.
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
