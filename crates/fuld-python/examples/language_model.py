"""A small GPT over bytes of text, and its minibatches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, scaled_dot_product_attention

#: The last share of a text is held back for validation.
HELD_BACK = 0.05
#: Minibatches of one measurement of the validation loss.
MEASURED = 20


@dataclass(frozen=True)
class Size:
    """Sizes of a model and of its minibatches."""

    layers: int
    width: int
    heads: int
    context: int
    batch: int
    steps: int


SIZES = {
    "tiny": Size(layers=1, width=16, heads=1, context=16, batch=4, steps=5),
    "small": Size(layers=2, width=64, heads=2, context=64, batch=16, steps=300),
    "prototype": Size(layers=4, width=256, heads=4, context=128, batch=32, steps=500),
    "large": Size(layers=6, width=320, heads=5, context=128, batch=32, steps=500),
}


class Block(nn.Module):
    """Attention and a fully connected network, each added to its input."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.before_attention = nn.LayerNorm(size.width)
        self.qkv = nn.Linear(size.width, 3 * size.width, bias=False)
        self.out = nn.Linear(size.width, size.width, bias=False)
        self.before_network = nn.LayerNorm(size.width)
        self.up = nn.Linear(size.width, 4 * size.width, bias=False)
        self.down = nn.Linear(4 * size.width, size.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the next layer's input."""
        n, time, width = x.shape
        qkv = self.qkv(self.before_attention(x)).view(n, time, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        seen = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(n, time, width))
        changed: Tensor = self.down(gelu(self.up(self.before_network(x))))
        return x + changed


class LanguageModel(nn.Module):
    """Predicts the next byte."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.bytes = nn.Embedding(256, size.width)
        self.places = nn.Embedding(size.context, size.width)
        self.blocks = nn.Sequential(*(Block(size) for _ in range(size.layers)))
        self.last = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, 256, bias=False)
        for weight in self.parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=0.02)

    def forward(self, text: Tensor) -> Tensor:
        """Return the mean loss, in nats per byte, of texts with one byte more than the context."""
        x, y = text[:, :-1], text[:, 1:]
        places = self.places(torch.arange(x.shape[1], device=x.device))
        logits = self.head(self.last(self.blocks(self.bytes(x) + places)))
        return cross_entropy(logits.reshape(-1, 256), y.reshape(-1))


class Text:
    """The bytes of a file, in a part for training and one for validation."""

    def __init__(self, path: Path, device: torch.device) -> None:
        data = torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8)
        cut = int((1 - HELD_BACK) * len(data))
        self.train, self.validation = data[:cut].to(device), data[cut:].to(device)

    def minibatch(
        self, size: Size, generator: torch.Generator, *, validation: bool = False
    ) -> Tensor:
        """Return random pieces of text, (batch, context + 1)."""
        data = self.validation if validation else self.train
        last = len(data) - size.context - 1
        starts = torch.randint(last, (size.batch, 1), generator=generator, device=data.device)
        return data[starts + torch.arange(size.context + 1, device=data.device)].long()

    @torch.no_grad()
    def loss(self, model: nn.Module, size: Size) -> float:
        """Return the validation loss, always over the same pieces of text."""
        generator = torch.Generator(self.validation.device).manual_seed(0)
        batches = (self.minibatch(size, generator, validation=True) for _ in range(MEASURED))
        return sum(float(model(batch)) for batch in batches) / MEASURED
