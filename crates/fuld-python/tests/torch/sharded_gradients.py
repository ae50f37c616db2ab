"""Steps along gradients that are not in the shape that FSDP leaves them in."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from fuld.torch import FULD
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard

#: Of five coordinates one process has three.
START = torch.tensor([1.0, -2.0, 0.5, 0.0, 3.0], dtype=torch.float64)
GRADIENT = torch.tensor([1.0, 0.1, -3.0, 1e-3, 50.0], dtype=torch.float64)


def parameter(mesh: DeviceMesh, placement: Placement) -> Any:
    """The start, the same in both processes or a part in each."""
    whole = DTensor.from_local(START.clone(), mesh, [Replicate()])
    return whole.redistribute(mesh, [placement]).requires_grad_()


def summands(mesh: DeviceMesh) -> DTensor:
    """A gradient that is the sum of what the two processes have."""
    return DTensor.from_local(GRADIENT * (dist.get_rank() + 1), mesh, [Partial()])


def not_summed(mesh: DeviceMesh, settings: dict[str, Any]) -> Any:
    """A gradient that is still to be summed, as norms in sequence parallelism have it."""
    x = parameter(mesh, Replicate())
    x.grad = summands(mesh)
    FULD([x], **settings).step()
    return x.detach().full_tensor()


def on_its_way(mesh: DeviceMesh, settings: dict[str, Any]) -> Any:
    """A gradient whose transport was begun and not awaited."""
    x = parameter(mesh, Shard(0))
    x.grad = summands(mesh).redistribute(mesh, [Shard(0)], async_op=True)
    FULD([x], **settings).step()
    return x.detach().full_tensor()


def scaled(mesh: DeviceMesh, settings: dict[str, Any]) -> list[Tensor]:
    """Two steps under a GradScaler; in the second one coordinate of one process is infinite."""
    x = parameter(mesh, Shard(0))
    fuld = FULD([x], **settings)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(torch.zeros(()))
    outcomes = []
    for end in (1.0, torch.inf):
        gradient = 8 * GRADIENT
        gradient[-1] *= end
        whole = DTensor.from_local(gradient, mesh, [Replicate()])
        x.grad = whole.redistribute(mesh, [Shard(0)])
        scaler.step(fuld)
        scaler.update()
        outcomes.append(x.detach().full_tensor().clone())
    return outcomes
