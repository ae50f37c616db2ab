"""Cells of tables."""

from __future__ import annotations

import math
import statistics


def cell(losses: list[float]) -> str:
    """Return mean and standard error, and how many runs were lost."""
    kept = [loss for loss in losses if math.isfinite(loss)]
    if not kept:
        return "lost"
    error = statistics.stdev(kept) / math.sqrt(len(kept)) if len(kept) > 1 else 0.0
    lost = f", {len(losses) - len(kept)} lost" if len(kept) < len(losses) else ""
    return f"{statistics.mean(kept):.3f} ± {error:.3f}{lost}"
