//! The arithmetic of one step in `f32` or `f64`, in the order of torch.optim.SGD.
//!
//! Products and sums are rounded separately, so that results do not depend on the machine. torch's
//! vectorised kernel may contract p + (−lr)·b to one fused operation where the processor has one,
//! and its results then differ in the last bit.

use super::{Coordinates, Options, WeightDecay};
use crate::guard::RoundedDecision;
use crate::real::{LANES, Real};
use levy_stable::{FieldTable, with_best_instructions};

/// The factors of a rule, rounded to the type of the parameters.
#[derive(Clone, Copy)]
pub(super) struct Kernel<T> {
    momentum: T,
    /// False for μ = 0, where b must not be read: 0·∞ would be NaN.
    has_momentum: bool,
    nesterov: bool,
    maximize: bool,
    /// The guard's decision.
    decision: Option<RoundedDecision<T>>,
    /// Strength wd of coupled weight decay.
    decay: Option<T>,
    /// Factor 1 − lr·wd of decoupled weight decay.
    keep: Option<T>,
    inner: T,
    /// The learning rate at α = 2.
    outer: T,
}

impl<T: Real> Kernel<T> {
    pub(super) fn new(coordinates: &Coordinates, options: &Options, plain: bool) -> Self {
        let (decay, keep) = match options.weight_decay {
            WeightDecay::None => (None, None),
            WeightDecay::Coupled(decay) => (Some(decay), None),
            WeightDecay::Decoupled(decay) => {
                (None, Some(1.0 - coordinates.learning_rate() * decay))
            }
        };
        Self {
            momentum: T::rounded(coordinates.momentum()),
            has_momentum: coordinates.momentum() != 0.0,
            nesterov: options.nesterov,
            maximize: options.maximize,
            decision: None,
            decay: decay.map(T::rounded),
            keep: keep.map(T::rounded),
            inner: T::rounded(coordinates.inner()),
            outer: T::rounded(if plain {
                coordinates.learning_rate()
            } else {
                coordinates.outer()
            }),
        }
    }

    /// Returns the same rule with a decision of a guard applied to gradients.
    pub(super) fn guarded(self, decision: Option<RoundedDecision<T>>) -> Self {
        Self { decision, ..self }
    }

    /// Returns the same rule with μ = 0.
    fn without_momentum(self) -> Self {
        Self { has_momentum: false, nesterov: false, ..self }
    }

    /// Returns the gradient after guard, sign and coupled weight decay.
    #[inline(always)]
    fn effective_gradient<const M: usize>(&self, x: &[T; M], g: &[T; M]) -> [T; M] {
        let g = if let Some(decision) = self.decision { each(|i| decision.of(g[i])) } else { *g };
        let g = if self.maximize { each(|i| -g[i]) } else { g };
        if let Some(decay) = self.decay { each(|i| g[i] + decay * x[i]) } else { g }
    }

    /// Returns b after the step.
    #[inline(always)]
    fn updated_buffer<const M: usize>(&self, b: &[T; M], g: &[T; M]) -> [T; M] {
        if self.has_momentum { each(|i| self.momentum * b[i] + g[i]) } else { *g }
    }

    /// Returns the argument of the field: the new b, or Nesterov's g + μb.
    #[inline(always)]
    fn direction<const M: usize>(&self, b: &[T; M], g: &[T; M]) -> [T; M] {
        if self.nesterov { each(|i| g[i] + self.momentum * b[i]) } else { *b }
    }

    /// Returns the field, or NaN where the momentum is infinite: the field is 0 there, and the
    /// coordinate would otherwise stop moving without a trace. 0·b is 0 or NaN.
    #[inline(always)]
    fn nan_where_infinite<const M: usize>(h: &[T; M], b: &[T; M]) -> [T; M] {
        each(|i| h[i] + T::ZERO * b[i])
    }

    /// Returns x − outer·h.
    #[inline(always)]
    fn updated_x<const M: usize>(&self, x: &[T; M], h: &[T; M]) -> [T; M] {
        let x = if let Some(keep) = self.keep { each(|i| x[i] * keep) } else { *x };
        each(|i| x[i] - self.outer * h[i])
    }

    /// Returns x and b after a step. Without a table ∇G(v) = v, and the step is that of SGD.
    #[inline(always)]
    pub(super) fn one(&self, table: Option<&FieldTable>, x: T, b: T, g: T) -> (T, T) {
        let gradient = self.effective_gradient(&[x], &[g]);
        let b = self.updated_buffer(&[b], &gradient);
        let [direction] = self.direction(&b, &gradient);
        let h = if let Some(table) = table {
            let h = [T::field(table, self.inner * direction)];
            Self::nan_where_infinite(&h, &b)
        } else {
            [direction]
        };
        let ([x], [b]) = (self.updated_x(&[x], &h), b);
        (x, b)
    }

    /// Takes a step of SGD in one pass.
    pub(super) fn sgd_step(self, x: &mut [T], b: &mut [T], g: &[T]) {
        with_best_instructions(
            #[inline(always)]
            || self.sgd_pass(x, b, g),
        );
    }

    #[inline(always)]
    fn sgd_pass(self, x: &mut [T], b: &mut [T], g: &[T]) {
        if self.decision.is_none() {
            for ((x, b), &g) in x.iter_mut().zip(b).zip(g) {
                (*x, *b) = self.one(None, *x, *b, g);
            }
            return;
        }
        // In blocks: with a decision, a loop over single components is not vectorised.
        let (x_blocks, x_rest) = x.as_chunks_mut::<LANES>();
        let (b_blocks, b_rest) = b.as_chunks_mut::<LANES>();
        let (g_blocks, g_rest) = g.as_chunks::<LANES>();
        for ((x, b), g) in x_blocks.iter_mut().zip(b_blocks).zip(g_blocks) {
            let g = self.effective_gradient(x, g);
            *b = self.updated_buffer(b, &g);
            *x = self.updated_x(x, &self.direction(b, &g));
        }
        for ((x, b), &g) in x_rest.iter_mut().zip(b_rest).zip(g_rest) {
            (*x, *b) = self.one(None, *x, *b, g);
        }
    }

    /// Takes a step in one pass that stores only x and b.
    pub(super) fn step(self, table: &FieldTable, x: &mut [T], b: &mut [T], g: &[T]) {
        let (x_blocks, x_rest) = x.as_chunks_mut::<LANES>();
        let (b_blocks, b_rest) = b.as_chunks_mut::<LANES>();
        let (g_blocks, g_rest) = g.as_chunks::<LANES>();
        let blocks = x_blocks.iter_mut().zip(b_blocks).zip(g_blocks);
        T::sweep(
            table,
            blocks,
            #[inline(always)]
            move |((x, b), g)| {
                let g = self.effective_gradient(x, g);
                **b = self.updated_buffer(b, &g);
                let direction = self.direction(b, &g);
                each(|i| self.inner * direction[i])
            },
            #[inline(always)]
            move |((x, b), _), h| *x = self.updated_x(x, &Self::nan_where_infinite(&h, b)),
        );
        for ((x, b), &g) in x_rest.iter_mut().zip(b_rest).zip(g_rest) {
            (*x, *b) = self.one(Some(table), *x, *b, g);
        }
    }

    /// Takes a step of SGD without momentum.
    pub(super) fn sgd_step_without_momentum(self, x: &mut [T], g: &[T]) {
        let this = self.without_momentum();
        for (x, &g) in x.iter_mut().zip(g) {
            (*x, _) = this.one(None, *x, T::ZERO, g);
        }
    }

    /// Takes a step without momentum.
    pub(super) fn step_without_momentum(self, table: &FieldTable, x: &mut [T], g: &[T]) {
        let this = self.without_momentum();
        let (x_blocks, x_rest) = x.as_chunks_mut::<LANES>();
        let (g_blocks, g_rest) = g.as_chunks::<LANES>();
        T::sweep(
            table,
            x_blocks.iter_mut().zip(g_blocks),
            #[inline(always)]
            move |(x, g)| {
                let g = this.effective_gradient(x, g);
                each(|i| this.inner * g[i])
            },
            #[inline(always)]
            move |(x, g), h| {
                *x =
                    this.updated_x(x, &Self::nan_where_infinite(&h, &this.effective_gradient(x, g)))
            },
        );
        for (x, &g) in x_rest.iter_mut().zip(g_rest) {
            (*x, _) = this.one(Some(table), *x, T::ZERO, g);
        }
    }
}

/// Fills an array in a loop that is vectorised (`std::array::from_fn` is not always inlined).
#[inline(always)]
fn each<T: Real, const M: usize>(f: impl Fn(usize) -> T) -> [T; M] {
    let mut out = [T::ZERO; M];
    for (i, out) in out.iter_mut().enumerate() {
        *out = f(i);
    }
    out
}
