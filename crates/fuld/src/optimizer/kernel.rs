//! One step as arithmetic on numbers of one type, in the order in which torch.optim.SGD does it.
//!
//! Products and sums are rounded separately. torch's vectorised kernel may contract p + (−lr)·b to one fused operation where the
//! processor has it, and its results then depend on the machine in the last bit; these do not.

use super::real::LANES;
use super::{Coordinates, Options, Real, WeightDecay};
use levy_stable::FieldTable;

/// The numbers of a rule, rounded to the type of the parameters.
#[derive(Clone, Copy)]
pub(super) struct Kernel<T> {
    momentum: T,
    /// False for μ = 0, where b must not be read: 0·∞ would be NaN.
    remembers: bool,
    nesterov: bool,
    maximize: bool,
    /// Where gradients are clipped.
    limit: Option<T>,
    /// Coupled weight decay.
    decay: Option<T>,
    /// 1 − lr·wd of decoupled weight decay.
    keep: Option<T>,
    inner: T,
    /// At α = 2 the learning rate.
    outer: T,
}

impl<T: Real> Kernel<T> {
    pub(super) fn new(coordinates: &Coordinates, options: &Options, plain: bool, limit: f64) -> Self {
        let (decay, keep) = match options.weight_decay {
            WeightDecay::None => (None, None),
            WeightDecay::Coupled(decay) => (Some(decay), None),
            WeightDecay::Decoupled(decay) => (None, Some(1.0 - coordinates.learning_rate() * decay)),
        };
        Self {
            momentum: T::rounded(coordinates.momentum()),
            remembers: coordinates.momentum() != 0.0,
            nesterov: options.nesterov,
            maximize: options.maximize,
            limit: limit.is_finite().then(|| T::rounded(limit)),
            decay: decay.map(T::rounded),
            keep: keep.map(T::rounded),
            inner: T::rounded(coordinates.inner()),
            outer: T::rounded(if plain { coordinates.learning_rate() } else { coordinates.outer() }),
        }
    }

    /// The same rule with μ = 0.
    pub(super) fn without_memory(self) -> Self {
        Self { remembers: false, nesterov: false, ..self }
    }

    /// The gradient within its limit, with its sign and the coupled weight decay.
    #[inline(always)]
    fn pulled<const M: usize>(&self, x: &[T; M], g: &[T; M]) -> [T; M] {
        let g = if let Some(limit) = self.limit { each(|i| g[i].clipped(limit)) } else { *g };
        let g = if self.maximize { each(|i| -g[i]) } else { g };
        if let Some(decay) = self.decay { each(|i| g[i] + decay * x[i]) } else { g }
    }

    /// The new b.
    #[inline(always)]
    fn remembered<const M: usize>(&self, b: &[T; M], g: &[T; M]) -> [T; M] {
        if self.remembers { each(|i| self.momentum * b[i] + g[i]) } else { *g }
    }

    /// What the field is taken of: the new b, or Nesterov's g + μb.
    #[inline(always)]
    fn followed<const M: usize>(&self, b: &[T; M], g: &[T; M]) -> [T; M] {
        if self.nesterov { each(|i| g[i] + self.momentum * b[i]) } else { *b }
    }

    /// The field, but NaN where momentum is infinite: there it would be 0, and a coordinate would stand still for ever and
    /// nobody see why. 0·b is 0 or NaN.
    #[inline(always)]
    fn shown<const M: usize>(h: &[T; M], b: &[T; M]) -> [T; M] {
        each(|i| h[i] + T::ZERO * b[i])
    }

    /// x − outer·h
    #[inline(always)]
    fn moved<const M: usize>(&self, x: &[T; M], h: &[T; M]) -> [T; M] {
        let x = if let Some(keep) = self.keep { each(|i| x[i] * keep) } else { *x };
        each(|i| x[i] - self.outer * h[i])
    }

    /// x and b after a step; without a table, ∇G(v) = v and the step is that of SGD.
    #[inline(always)]
    pub(super) fn one(&self, table: Option<&FieldTable>, x: T, b: T, g: T) -> (T, T) {
        let pulled = self.pulled(&[x], &[g]);
        let b = self.remembered(&[b], &pulled);
        let [direction] = self.followed(&b, &pulled);
        let h = if let Some(table) = table {
            let h = [T::field(table, self.inner * direction)];
            Self::shown(&h, &b)
        } else {
            [direction]
        };
        let ([x], [b]) = (self.moved(&[x], &h), b);
        (x, b)
    }

    /// A step of SGD in one pass.
    pub(super) fn plain(self, x: &mut [T], b: &mut [T], g: &[T]) {
        for ((x, b), &g) in x.iter_mut().zip(b).zip(g) {
            (*x, *b) = self.one(None, *x, *b, g);
        }
    }

    /// A step in one pass: nothing of it is stored but x and b.
    pub(super) fn curved(self, table: &FieldTable, x: &mut [T], b: &mut [T], g: &[T]) {
        let (x_blocks, x_rest) = x.as_chunks_mut::<LANES>();
        let (b_blocks, b_rest) = b.as_chunks_mut::<LANES>();
        let (g_blocks, g_rest) = g.as_chunks::<LANES>();
        let blocks = x_blocks.iter_mut().zip(b_blocks).zip(g_blocks);
        T::sweep(
            table,
            blocks,
            #[inline(always)]
            move |((x, b), g)| {
                let g = self.pulled(x, g);
                **b = self.remembered(b, &g);
                let direction = self.followed(b, &g);
                each(|i| self.inner * direction[i])
            },
            #[inline(always)]
            move |((x, b), _), h| *x = self.moved(x, &Self::shown(&h, b)),
        );
        for ((x, b), &g) in x_rest.iter_mut().zip(b_rest).zip(g_rest) {
            (*x, *b) = self.one(Some(table), *x, *b, g);
        }
    }

    /// A step of SGD without momentum.
    pub(super) fn plain_without_memory(self, x: &mut [T], g: &[T]) {
        let this = self.without_memory();
        for (x, &g) in x.iter_mut().zip(g) {
            (*x, _) = this.one(None, *x, T::ZERO, g);
        }
    }

    /// A step without momentum.
    pub(super) fn curved_without_memory(self, table: &FieldTable, x: &mut [T], g: &[T]) {
        let this = self.without_memory();
        let (x_blocks, x_rest) = x.as_chunks_mut::<LANES>();
        let (g_blocks, g_rest) = g.as_chunks::<LANES>();
        T::sweep(
            table,
            x_blocks.iter_mut().zip(g_blocks),
            #[inline(always)]
            move |(x, g)| {
                let g = this.pulled(x, g);
                each(|i| this.inner * g[i])
            },
            #[inline(always)]
            move |(x, g), h| *x = this.moved(x, &Self::shown(&h, &this.pulled(x, g))),
        );
        for (x, &g) in x_rest.iter_mut().zip(g_rest) {
            (*x, _) = this.one(Some(table), *x, T::ZERO, g);
        }
    }
}

/// An array from a loop that becomes vector code (`std::array::from_fn` is not always inlined).
#[inline(always)]
fn each<T: Real, const M: usize>(f: impl Fn(usize) -> T) -> [T; M] {
    let mut out = [T::ZERO; M];
    for (i, out) in out.iter_mut().enumerate() {
        *out = f(i);
    }
    out
}
