"""The networks of the examples: those of `fuld train`, with PyTorch's initialisation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import torch
from images import Images
from torch import Tensor
from torch.nn.functional import cross_entropy


def make_network(images: Images, width: int, depth: int) -> torch.nn.Sequential:
    """A network of `depth` linear layers without biases; torch's generator draws the weights."""
    sizes = [images.train.shape[1], *[width] * (depth - 1), 10]
    layers: list[torch.nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [torch.nn.Linear(inputs, outputs, bias=False), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def minibatches(count: int, batch: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Indices without end: each epoch in an order of its own, its short rest left out."""
    while True:
        order = torch.randperm(count, generator=generator)
        yield from order[: count // batch * batch].split(batch)


def measure(network: torch.nn.Module, images: Images) -> tuple[float, float]:
    """Mean cross entropy and accuracy on the test set."""
    with torch.no_grad():
        logits = network(images.test)
        right = logits.argmax(1) == images.test_labels
        loss = cross_entropy(logits, images.test_labels)
    return float(loss), float(right.double().mean())
