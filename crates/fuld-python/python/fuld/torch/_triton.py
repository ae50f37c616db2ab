# Triton's language has types of its own.
# ruff: noqa: ANN001, ANN202
# mypy: disable-error-code="no-untyped-def"
"""The kernels for CUDA: the step and the field over many tensors in one launch.

`addresses` is a matrix in the device's memory with one column per tensor. Its rows are the
addresses of the tensor's parameters, gradient and buffer (of the field: of its numbers alone), and
in the last row its length. Every program handles one chunk of one tensor; `work` holds tensor and
chunk of each program.

The kernels also run under Triton's interpreter (TRITON_INTERPRET=1) on tensors of the CPU, where
the tests compare them with the step in Rust.
"""

# No postponed annotations: Triton reads them.

import triton
import triton.language as tl


@triton.jit
def _field(v, octaves, coefficients, shift, near, lowest, last, DOUBLE: tl.constexpr):
    """∇G(v), as `levy_stable::table::TableData` describes it; NaN where v is infinite."""
    size = tl.abs(v)
    u = tl.maximum(size + shift, size + size)
    if DOUBLE:
        bits = u.to(tl.uint64, bitcast=True)
        octave = (bits >> 52).to(tl.int32) - (lowest + 1023)
    else:
        bits = u.to(tl.uint32, bitcast=True)
        octave = (bits >> 23).to(tl.int32) - (lowest + 127)
    # A NaN may have any sign, hence any octave.
    octave = tl.minimum(tl.maximum(octave, 0), last)
    index = tl.load(octaves + octave)
    first, split = index >> 4, index & 15
    if DOUBLE:
        within = (bits & 0xFFFFFFFFFFFFF) << split.to(tl.uint64)
        piece = first + (within >> 52).to(tl.int32)
        t = ((within & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000).to(tl.float64, bitcast=True) - 1.5
    else:
        within = (bits & 0x7FFFFF) << split.to(tl.uint32)
        piece = first + (within >> 23).to(tl.int32)
        t = ((within & 0x7FFFFF) | 0x3F800000).to(tl.float32, bitcast=True) - 1.5
    terms: tl.constexpr = 8 if DOUBLE else 4
    row = coefficients + piece * terms
    held = tl.load(row + (terms - 1))
    for k in tl.static_range(1, terms):
        held = held * t + tl.load(row + (terms - 1 - k))
    value = held * tl.where(size > near, 1 / size, size)
    value = tl.where(size == float("inf"), float("nan"), value)
    return tl.where(v < 0, -value, value)


@triton.jit
def _chunk(addresses, tensors, work, LAST_ROW: tl.constexpr, CHUNK: tl.constexpr):
    """Column of the tensor, and start and length of the chunk, of this program."""
    program = tl.program_id(0)
    column = addresses + tl.load(work + 2 * program)
    start = tl.load(work + 2 * program + 1).to(tl.int64) * CHUNK
    count = tl.minimum(tl.load(column + LAST_ROW * tensors) - start, CHUNK).to(tl.int32)
    return column, start, count


@triton.jit
def _guarded(g, factor, limit):
    """clamp(factor g, ±limit), NaN ← 0. If the limit is infinite, infinite components become 0."""
    scaled = factor * g
    size = tl.abs(scaled)
    signed = tl.where(scaled > 0, limit, -limit)
    clipped = tl.where(size > limit, signed, scaled)
    return tl.where(size < float("inf"), clipped, tl.where(size > limit, signed, 0.0))


@triton.jit
def _step_chunk(
    x_ptr,
    g_ptr,
    b_ptr,
    count,
    factor,
    limit,
    inner,
    outer,
    keep,
    momentum,
    pull,
    unscale,
    octaves,
    coefficients,
    shift,
    near,
    lowest,
    last,
    NUMBER: tl.constexpr,
    WIDE: tl.constexpr,
    BLOCK: tl.constexpr,
    MASKED: tl.constexpr,
    LINEAR: tl.constexpr,
    GUARDED: tl.constexpr,
    MOMENTUM: tl.constexpr,
    NESTEROV: tl.constexpr,
    MAXIMIZE: tl.constexpr,
    PULLED: tl.constexpr,
    DECOUPLED: tl.constexpr,
    SCALED: tl.constexpr,
):
    for offset in range(0, count, BLOCK):
        i = offset + tl.arange(0, BLOCK)
        mask = i < count if MASKED else None
        x = tl.load(x_ptr + i, mask).to(WIDE)
        g = tl.load(g_ptr + i, mask).to(WIDE)
        if GUARDED:
            g = _guarded(g, factor, limit)
        if SCALED:
            g = g * unscale
            tl.store(g_ptr + i, g.to(NUMBER), mask)
        if MAXIMIZE:
            g = -g
        if PULLED:
            g += pull * x
        if DECOUPLED:
            x *= keep
        direction = g
        if MOMENTUM:
            b = momentum * tl.load(b_ptr + i, mask).to(WIDE) + g
            tl.store(b_ptr + i, b.to(NUMBER), mask)
            direction = b
            if NESTEROV:
                direction = g + momentum * b
        if LINEAR:
            h = direction
        else:
            v = inner * direction
            h = _field(v, octaves, coefficients, shift, near, lowest, last, tl.float64 == WIDE)
        tl.store(x_ptr + i, (x - outer * h).to(NUMBER), mask)


@triton.jit
def step_kernel(
    addresses,
    tensors,
    work,
    octaves,
    coefficients,
    lr,
    grad_scale,
    found_inf,
    decisions,
    shift: tl.float64,
    near: tl.float64,
    lowest,
    last,
    inner: tl.float64,
    outer: tl.float64,
    number_lr: tl.float64,
    momentum: tl.float64,
    weight_decay: tl.float64,
    NUMBER: tl.constexpr,
    WIDE: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK: tl.constexpr,
    ALIGNED: tl.constexpr,
    PAPER: tl.constexpr,
    TENSOR_LR: tl.constexpr,
    LINEAR: tl.constexpr,
    GUARDED: tl.constexpr,
    MOMENTUM: tl.constexpr,
    NESTEROV: tl.constexpr,
    MAXIMIZE: tl.constexpr,
    PULLED: tl.constexpr,
    DECOUPLED: tl.constexpr,
    SCALED: tl.constexpr,
    FOUND: tl.constexpr,
):
    """X ← keep x; b ← momentum b + g; x ← x - outer ∇G(inner b), with g guarded if GUARDED.

    If LINEAR, ∇G(v) is v and `inner` is 1.
    """
    column, start, count = _chunk(addresses, tensors, work, 3, CHUNK)
    x_ptr = tl.load(column).to(tl.pointer_type(NUMBER)) + start
    g_ptr = tl.load(column + tensors).to(tl.pointer_type(NUMBER)) + start
    b_ptr = tl.load(column + 2 * tensors).to(tl.pointer_type(NUMBER)) + start
    if ALIGNED:
        x_ptr = tl.multiple_of(x_ptr, 16)
        g_ptr = tl.multiple_of(g_ptr, 16)
        b_ptr = tl.multiple_of(b_ptr, 16)
    rate = number_lr
    if TENSOR_LR:
        rate = tl.load(lr).to(tl.float64)
    if PAPER:
        outer *= tl.sqrt(rate)
        inner *= tl.sqrt(rate)
    else:
        outer *= rate
    unscale = 1.0
    if SCALED:
        unscale = 1.0 / tl.load(grad_scale)
    if FOUND:
        count = tl.where(tl.load(found_inf) != 0, 0, count)
    keep = 1 - rate * weight_decay
    factor, limit = 1.0, 0.0
    if GUARDED:
        decision = decisions + 2 * tl.load(work + 2 * tl.program_id(0))
        factor = tl.load(decision).to(WIDE)
        # In the gradient's own precision, as where the guard changes gradients.
        limit = tl.load(decision + 1).to(WIDE).to(NUMBER).to(WIDE)
    if count == CHUNK:
        _step_chunk(
            x_ptr, g_ptr, b_ptr, CHUNK, factor, limit,
            inner.to(WIDE), outer.to(WIDE), keep.to(WIDE), momentum.to(WIDE),
            weight_decay.to(WIDE), unscale,
            octaves, coefficients, shift.to(WIDE), near.to(WIDE), lowest, last,
            NUMBER, WIDE, BLOCK, False, LINEAR, GUARDED,
            MOMENTUM, NESTEROV, MAXIMIZE, PULLED, DECOUPLED, SCALED,
        )  # fmt: skip
    else:
        _step_chunk(
            x_ptr, g_ptr, b_ptr, count, factor, limit,
            inner.to(WIDE), outer.to(WIDE), keep.to(WIDE), momentum.to(WIDE),
            weight_decay.to(WIDE), unscale,
            octaves, coefficients, shift.to(WIDE), near.to(WIDE), lowest, last,
            NUMBER, WIDE, BLOCK, True, LINEAR, GUARDED,
            MOMENTUM, NESTEROV, MAXIMIZE, PULLED, DECOUPLED, SCALED,
        )  # fmt: skip


@triton.jit
def field_kernel(
    addresses,
    tensors,
    work,
    octaves,
    coefficients,
    shift: tl.float64,
    near: tl.float64,
    lowest,
    last,
    NUMBER: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """V ← ∇G(v), in single or double precision."""
    column, start, count = _chunk(addresses, tensors, work, 1, CHUNK)
    v_ptr = tl.load(column).to(tl.pointer_type(NUMBER)) + start
    for offset in range(0, count, BLOCK):
        i = offset + tl.arange(0, BLOCK)
        v = tl.load(v_ptr + i, i < count)
        h = _field(
            v, octaves, coefficients, shift.to(NUMBER), near.to(NUMBER), lowest, last,
            tl.float64 == NUMBER,
        )  # fmt: skip
        tl.store(v_ptr + i, h, i < count)
