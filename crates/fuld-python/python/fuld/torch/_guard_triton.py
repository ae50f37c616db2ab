# Triton's language has types of its own.
# ruff: noqa: ANN001, ANN202
# mypy: disable-error-code="no-untyped-def"
"""The kernels of the guard for CUDA: the rule of `fuld::guard` over many tensors in one launch.

The addresses of gradients, their lengths and the addresses of states are vectors in the device's
memory. `decisions` has two numbers per tensor: the factor and the limit of its gradient.
"""

# No postponed annotations: Triton reads them.

import triton
import triton.language as tl

from fuld.torch._triton import _chunk, _guarded


@triton.jit
def guard_decisions_kernel(
    gradients,
    lengths,
    states,
    decisions,
    counters,
    grad_scale,
    found_inf,
    clip: tl.float64,
    burst: tl.float64,
    weight: tl.float64,
    tiny: tl.float64,
    largest: tl.float64,
    NUMBER: tl.constexpr,
    WIDE: tl.constexpr,
    BLOCK: tl.constexpr,
    SAMPLE: tl.constexpr,
    RUN: tl.constexpr,
    COUNTED: tl.constexpr,
    SCALED: tl.constexpr,
    FOUND: tl.constexpr,
):
    """Update the state of one tensor per program, and store the factor and limit of its gradient.

    The positions are those of `fuld::guard::sampled_positions`. If COUNTED, the numbers at the
    addresses in `counters`, one per tensor, are increased by 1.
    """
    program = tl.program_id(0)
    gradient = tl.load(gradients + program).to(tl.pointer_type(NUMBER))
    length = tl.load(lengths + program)
    size = tl.minimum(length, SAMPLE).to(tl.int32)
    RUNS: tl.constexpr = SAMPLE // RUN
    sums = tl.zeros([BLOCK], tl.float64)
    counts = tl.zeros([BLOCK], tl.int32)
    for offset in range(0, size, BLOCK):
        i = (offset + tl.arange(0, BLOCK)).to(tl.int64)
        j = i // RUN
        jitter = (((j * 2654435769) & 0xFFFFFFFF) * (length // RUNS - RUN + 1)) >> 32
        start = (j * length // RUNS + jitter) // RUN * RUN
        position = tl.where(length <= SAMPLE, i, start + i % RUN)
        inside = i < size
        g = tl.abs(tl.load(gradient + position, inside, other=0.0).to(WIDE)).to(tl.float64)
        normal = inside & (g >= tiny) & (g <= largest)
        sums += tl.log(tl.where(normal, g, 1.0))
        counts += normal.to(tl.int32)
    count = tl.sum(counts, 0)
    scale = tl.full([], 1.0, tl.float64)
    if SCALED:
        scale = tl.load(grad_scale).to(tl.float64)
    mean = tl.sum(sums, 0) / tl.maximum(count, 1).to(tl.float64) - tl.log(scale)
    state = tl.load(states + program).to(tl.pointer_type(tl.float32))
    steps = tl.load(state + 1).to(tl.float64)
    log_scale = tl.load(state + 2).to(tl.float64)
    first = steps == 0
    smaller = tl.where(steps == 1, tl.minimum(log_scale, mean), log_scale)
    before = tl.where(first, mean, smaller)
    deviation = tl.where(count > 0, mean - before, 0.0)
    bound = tl.log(burst)
    counted = tl.minimum(steps + 1, tl.floor(1 / weight + 0.5))
    share = tl.maximum(weight, 1 / counted)
    moved = before + share * tl.minimum(tl.maximum(deviation, -bound), bound)
    used = count > 0
    taken = 1.0
    if FOUND:
        taken = tl.where(tl.load(found_inf) != 0, 0.0, 1.0)
        used = used & (taken != 0)
    if COUNTED:
        counter = tl.load(counters + program).to(tl.pointer_type(tl.float32))
        tl.store(counter, tl.load(counter) + taken)
    steps = tl.where(used, counted, steps)
    after = tl.where(used, moved, log_scale).to(tl.float32)
    tl.store(state + 1, steps.to(tl.float32))
    tl.store(state + 2, after)
    unknown = tl.where(count > 0, 0.0, float("inf"))
    limit = tl.where(first, unknown, clip * tl.exp(after.to(tl.float64)) * scale)
    tl.store(decisions + 2 * program, tl.minimum(burst * tl.exp(-deviation), 1.0))
    tl.store(decisions + 2 * program + 1, limit)


@triton.jit
def guard_gradients_kernel(
    addresses,
    tensors,
    work,
    decisions,
    found_inf,
    NUMBER: tl.constexpr,
    WIDE: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK: tl.constexpr,
    ALIGNED: tl.constexpr,
    FOUND: tl.constexpr,
):
    """G ← clamp(factor g, ±limit), NaN ← 0. Only blocks that change are written."""
    column, start, count = _chunk(addresses, tensors, work, 1, CHUNK)
    if FOUND:
        count = tl.where(tl.load(found_inf) != 0, 0, count)
    gradient = tl.load(column).to(tl.pointer_type(NUMBER)) + start
    if ALIGNED:
        gradient = tl.multiple_of(gradient, 16)
    decision = decisions + 2 * tl.load(work + 2 * tl.program_id(0))
    factor = tl.load(decision).to(WIDE)
    # A limit that is infinite in the gradient's own precision: infinite components become 0.
    limit = tl.load(decision + 1).to(WIDE).to(NUMBER).to(WIDE)
    if count == CHUNK:
        for offset in range(0, CHUNK, BLOCK):
            i = offset + tl.arange(0, BLOCK)
            g = tl.load(gradient + i).to(WIDE)
            guarded = _guarded(g, factor, limit)
            if tl.max((guarded != g).to(tl.int32), 0) != 0:
                tl.store(gradient + i, guarded.to(NUMBER))
    else:
        for offset in range(0, count, BLOCK):
            i = offset + tl.arange(0, BLOCK)
            g = tl.load(gradient + i, i < count, other=0.0).to(WIDE)
            guarded = _guarded(g, factor, limit)
            if tl.max((guarded != g).to(tl.int32), 0) != 0:
                tl.store(gradient + i, guarded.to(NUMBER), i < count)
