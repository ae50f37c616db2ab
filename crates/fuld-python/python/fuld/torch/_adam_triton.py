# Triton's language has types of its own.
# ruff: noqa: ANN001, ANN202
# mypy: disable-error-code="no-untyped-def"
"""The kernel of Adam and AdamW with the guard inside, over many tensors in one launch.

`addresses` is a matrix in the device's memory with one column per tensor: the addresses of its
parameters, gradient, first average, second average and number of steps, and its length.
"""

# No postponed annotations: Triton reads them.

import triton
import triton.language as tl

from fuld.torch._triton import _chunk, _guarded


@triton.jit
def _adam_chunk(
    x_ptr,
    g_ptr,
    m_ptr,
    v_ptr,
    count,
    factor,
    limit,
    size,
    root,
    keep,
    pull,
    beta1,
    beta2,
    rest1,
    rest2,
    eps,
    grad_scale,
    NUMBER: tl.constexpr,
    WIDE: tl.constexpr,
    BLOCK: tl.constexpr,
    MASKED: tl.constexpr,
    DECAYED: tl.constexpr,
    DECOUPLED: tl.constexpr,
    MAXIMIZE: tl.constexpr,
    SCALED: tl.constexpr,
):
    for offset in range(0, count, BLOCK):
        i = offset + tl.arange(0, BLOCK)
        mask = i < count if MASKED else None
        x = tl.load(x_ptr + i, mask).to(WIDE)
        g = _guarded(tl.load(g_ptr + i, mask).to(WIDE), factor, limit)
        m = tl.load(m_ptr + i, mask).to(WIDE)
        v = tl.load(v_ptr + i, mask).to(WIDE)
        if SCALED:
            g = g / grad_scale
            tl.store(g_ptr + i, g.to(NUMBER), mask)
        if MAXIMIZE:
            g = -g
        if DECAYED:
            if DECOUPLED:
                x *= keep
            else:
                g += pull * x
        m = beta1 * m + rest1 * g
        v = beta2 * v + rest2 * g * g
        x -= size * m / (tl.sqrt(v) / root + eps)
        tl.store(m_ptr + i, m.to(NUMBER), mask)
        tl.store(v_ptr + i, v.to(NUMBER), mask)
        tl.store(x_ptr + i, x.to(NUMBER), mask)


@triton.jit
def adam_kernel(
    addresses,
    tensors,
    work,
    decisions,
    lr,
    grad_scale,
    found_inf,
    number_lr: tl.float64,
    beta1: tl.float64,
    beta2: tl.float64,
    eps: tl.float64,
    weight_decay: tl.float64,
    NUMBER: tl.constexpr,
    WIDE: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK: tl.constexpr,
    ALIGNED: tl.constexpr,
    TENSOR_LR: tl.constexpr,
    DECAYED: tl.constexpr,
    DECOUPLED: tl.constexpr,
    MAXIMIZE: tl.constexpr,
    SCALED: tl.constexpr,
    FOUND: tl.constexpr,
):
    """X ← x - lr (m/c₁) / (√(v/c₂) + eps), with m ← β₁m + (1-β₁)g and v ← β₂v + (1-β₂)g².

    g is the guarded gradient and c = 1 - βᵏ, where the number of steps k was increased before.
    """
    column, start, count = _chunk(addresses, tensors, work, 5, CHUNK)
    x_ptr = tl.load(column).to(tl.pointer_type(NUMBER)) + start
    g_ptr = tl.load(column + tensors).to(tl.pointer_type(NUMBER)) + start
    m_ptr = tl.load(column + 2 * tensors).to(tl.pointer_type(NUMBER)) + start
    v_ptr = tl.load(column + 3 * tensors).to(tl.pointer_type(NUMBER)) + start
    if ALIGNED:
        x_ptr = tl.multiple_of(x_ptr, 16)
        g_ptr = tl.multiple_of(g_ptr, 16)
        m_ptr = tl.multiple_of(m_ptr, 16)
        v_ptr = tl.multiple_of(v_ptr, 16)
    steps = tl.load(tl.load(column + 4 * tensors).to(tl.pointer_type(tl.float32))).to(tl.float64)
    rate = number_lr
    if TENSOR_LR:
        rate = tl.load(lr).to(tl.float64)
    size = rate / (1 - tl.exp(steps * tl.log(beta1)))
    root = tl.sqrt(1 - tl.exp(steps * tl.log(beta2)))
    scale = 1.0
    if SCALED:
        scale = tl.load(grad_scale)
    if FOUND:
        count = tl.where(tl.load(found_inf) != 0, 0, count)
    decision = decisions + 2 * tl.load(work + 2 * tl.program_id(0))
    factor = tl.load(decision).to(WIDE)
    # In the gradient's own precision, as where the guard changes gradients.
    limit = tl.load(decision + 1).to(WIDE).to(NUMBER).to(WIDE)
    keep = 1 - rate * weight_decay
    if count == CHUNK:
        _adam_chunk(
            x_ptr, g_ptr, m_ptr, v_ptr, CHUNK, factor, limit,
            size.to(WIDE), root.to(WIDE), keep.to(WIDE), weight_decay.to(WIDE), beta1.to(WIDE),
            beta2.to(WIDE), (1 - beta1).to(WIDE), (1 - beta2).to(WIDE), eps.to(WIDE), scale,
            NUMBER, WIDE, BLOCK, False, DECAYED, DECOUPLED, MAXIMIZE, SCALED,
        )  # fmt: skip
    else:
        _adam_chunk(
            x_ptr, g_ptr, m_ptr, v_ptr, count, factor, limit,
            size.to(WIDE), root.to(WIDE), keep.to(WIDE), weight_decay.to(WIDE), beta1.to(WIDE),
            beta2.to(WIDE), (1 - beta1).to(WIDE), (1 - beta2).to(WIDE), eps.to(WIDE), scale,
            NUMBER, WIDE, BLOCK, True, DECAYED, DECOUPLED, MAXIMIZE, SCALED,
        )  # fmt: skip
