"""Runs of the study `guard_text.py`: language models trained with faulty gradients.

On a GPU the next steps of several runs are one CUDA graph, in which they take place side by side:
the kernels of one small model do not fill a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from faults import FAULTS
from language_model import SIZES, LanguageModel, Text
from torch import Tensor
from treatments import make_optimizer, make_treatment

#: Steps before the next is captured in a CUDA graph: memory is allocated and kernels are compiled.
ORDINARY_STEPS = 3


@dataclass(frozen=True)
class TextRun:
    """What a run depends on; raise `version` when results change."""

    size: str
    optimizer: str
    treatment: str
    fault: str
    lr: float
    seed: int
    version: int = 3


def use_one_thread() -> None:
    """Prepare a process for small models and for several processes side by side."""
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("high")


def final_losses(runs: list[TextRun], text: Path, device_name: str) -> list[float]:
    """Train side by side, and return the validation losses; infinite where not finite.

    The runs have the same size.
    """
    device = torch.device(device_name)
    on_gpu = device.type == "cuda"
    with torch.cuda.stream(torch.cuda.Stream()) if on_gpu else nullcontext():
        trainings = [_Training(run, _text(text, device), device) for run in runs]
        step = _side_by_side(trainings) if on_gpu else trainings[0].step
        steps = trainings[0].size.steps
        for k in range(steps):
            # A linear warm-up over a twentieth of the steps, then a cosine to a tenth.
            factor = min(20 * (k + 1) / steps, 0.55 + 0.45 * math.cos(math.pi * k / steps))
            for training in trainings:
                training.lr.fill_(factor * training.run.lr)
            if on_gpu and k == ORDINARY_STEPS:
                step = _captured(step, trainings)
            step()
        losses = [training.loss() for training in trainings]
    return [loss if math.isfinite(loss) else math.inf for loss in losses]


class _Training:
    """A model with its optimizer and its random numbers."""

    def __init__(self, run: TextRun, text: Text, device: torch.device) -> None:
        self.run, self.size, self._text = run, SIZES[run.size], text
        torch.manual_seed(run.seed)
        self._model = LanguageModel(self.size).to(device)
        self._params = list(self._model.parameters())
        self._gradient = _joined_gradients(self._params)
        self.lr = torch.zeros((), device=device)
        self._optimizer = make_optimizer(run.optimizer, run.treatment, self._params, self.lr)
        self._treat, self._spoil = make_treatment(run.treatment, device), FAULTS[run.fault]
        self.generators = [torch.Generator(device).manual_seed(run.seed + k) for k in range(2)]
        # Half precision is what people train with on a GPU.
        self._precision = torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")

    def step(self) -> None:
        """Take a step; nothing in it waits for the device."""
        batches, spoiling = self.generators
        self._gradient.zero_()
        with self._precision:
            loss = self._model(self._text.minibatch(self.size, batches))
        loss.backward()
        self._spoil(self._gradient, spoiling)
        self._treat(self._params)
        self._optimizer.step()

    def loss(self) -> float:
        """Return the validation loss."""
        with self._precision:
            return self._text.loss(self._model, self.size)


@lru_cache(maxsize=1)
def _text(path: Path, device: torch.device) -> Text:
    return Text(path, device)


def _joined_gradients(params: list[torch.nn.Parameter]) -> Tensor:
    """Give parameters gradients that are parts of one vector, and return it."""
    gradient = torch.zeros(sum(p.numel() for p in params), device=params[0].device)
    for p, part in zip(params, gradient.split([p.numel() for p in params]), strict=True):
        p.grad = part.view_as(p)
    return gradient


def _side_by_side(trainings: list[_Training]) -> Callable[[], None]:
    """Return a function that takes a step of each, on a stream of its own."""
    streams = [torch.cuda.Stream() for _ in trainings]

    def step() -> None:
        together = torch.cuda.current_stream()
        for training, stream in zip(trainings, streams, strict=True):
            stream.wait_stream(together)
            with torch.cuda.stream(stream):
                training.step()
        for stream in streams:
            together.wait_stream(stream)

    return step


def _captured(step: Callable[[], None], trainings: list[_Training]) -> Callable[[], None]:
    """Return the step as a CUDA graph."""
    graph = torch.cuda.CUDAGraph()
    for training in trainings:
        for generator in training.generators:
            graph.register_generator_state(generator)
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
        step()
    return graph.replay
