//! The update rule.

use super::kernel::Kernel;
use super::{Coordinates, NonFiniteGradient, Options, RuleError};
use crate::guard::Decision;
use crate::real::Real;
use levy_stable::FieldTable;
use std::sync::Arc;

/// The update rule, for parameters in slices of `f32` or `f64`.
///
/// > b ← μb + g,  x ← x − √lr · h(√lr · b),  h(v) = a ∇G_α(v/κ)
///
/// The caller owns the buffer b, which starts at 0, so that the first step has b = g as in torch.
/// At α = 2 a step has the bits of SGD with momentum, its operations rounded one by one in the
/// order b ← μb, b ← b + g, x ← x − lr·b. A step is one pass without allocations and gives the same
/// bits for any length, chunking and instruction set.
///
/// NaN in a gradient makes x and b NaN. An infinite gradient makes b infinite and x NaN: the field
/// is 0 there, and x would otherwise stop moving without a trace. [`Rule::step_checked`] refuses
/// both.
///
/// Clones share the table.
#[derive(Clone, Debug)]
pub struct Rule {
    coordinates: Coordinates,
    options: Options,
    /// ∇G_α; None at α = 2, where the field is the identity.
    table: Option<Arc<FieldTable>>,
    /// The guard's decision about the next gradient.
    decision: Option<Decision>,
}

impl Rule {
    /// Creates a rule. For α < 2 it tabulates the field, which takes some milliseconds.
    pub fn new(coordinates: Coordinates, options: Options) -> Result<Self, RuleError> {
        options.check()?;
        let mut this = Self { coordinates, options, table: None, decision: None };
        this.tabulate()?;
        this.set_coordinates(coordinates)?;
        Ok(this)
    }

    /// Changes the learning rate, momentum, κ or α. The field is tabulated again only if α changes.
    pub fn set_coordinates(&mut self, coordinates: Coordinates) -> Result<(), RuleError> {
        if self.options.nesterov && coordinates.momentum() == 0.0 {
            return Err(RuleError::NesterovWithoutMomentum);
        }
        let same = self.coordinates.alpha() == coordinates.alpha();
        self.coordinates = coordinates;
        if same { Ok(()) } else { self.tabulate() }
    }

    fn tabulate(&mut self) -> Result<(), RuleError> {
        let alpha = self.coordinates.alpha();
        self.table = if alpha == 2.0 { None } else { Some(Arc::new(FieldTable::new(alpha)?)) };
        Ok(())
    }

    /// Returns a rule with other settings that shares the table of this one if α is the same.
    pub fn with(&self, coordinates: Coordinates, options: Options) -> Result<Self, RuleError> {
        options.check()?;
        let mut this = Self { options, ..self.clone() };
        this.set_coordinates(coordinates)?;
        Ok(this)
    }

    /// Returns the rule that applies a [guard](crate::guard)'s decision to each gradient component
    /// in the pass of the step.
    ///
    /// A step has the bits of [`Decision::apply`] followed by a step of this rule, but the gradient
    /// is not changed.
    #[must_use]
    pub fn guarded(&self, decision: Decision) -> Self {
        Self { decision: Some(decision), ..self.clone() }
    }

    /// Returns the step size, momentum and field.
    pub fn coordinates(&self) -> &Coordinates {
        &self.coordinates
    }

    /// Returns ∇G_α, or None at α = 2, where the field is the identity.
    pub fn field(&self) -> Option<&FieldTable> {
        self.table.as_deref()
    }

    /// Returns the options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Moves the parameters `x` and their buffer `b` by one step along the gradient `g`.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    pub fn step<T: Real>(&self, x: &mut [T], b: &mut [T], g: &[T]) {
        assert!(
            x.len() == g.len() && b.len() == g.len(),
            "parameters, buffer and gradient must have the same length"
        );
        match &self.table {
            Some(table) => self.kernel().step(table, x, b, g),
            None => self.kernel().sgd_step(x, b, g),
        }
    }

    /// Takes a [`Rule::step`], or changes nothing and returns an error if a gradient component is
    /// NaN or infinite.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    pub fn step_checked<T: Real>(
        &self,
        x: &mut [T],
        b: &mut [T],
        g: &[T],
    ) -> Result<(), NonFiniteGradient> {
        /// Components tested between two branches: a loop that may stop at each component is not
        /// vectorised.
        const CHUNK: usize = 1024;
        for (k, chunk) in g.chunks(CHUNK).enumerate() {
            if chunk.iter().fold(false, |bad, g| bad | !g.finite())
                && let Some(i) = chunk.iter().position(|g| !g.finite())
            {
                return Err(NonFiniteGradient { index: k * CHUNK + i, value: chunk[i].into() });
            }
        }
        self.step(x, b, g);
        Ok(())
    }

    /// Takes a step of the recursion without momentum (newsgd): [`Rule::step`] with μ = 0, which
    /// needs no buffer.
    ///
    /// > x ← x + η h(−ηg)
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    pub fn step_without_momentum<T: Real>(&self, x: &mut [T], g: &[T]) {
        assert_eq!(x.len(), g.len(), "parameters and gradient must have the same length");
        match &self.table {
            Some(table) => self.kernel().step_without_momentum(table, x, g),
            None => self.kernel().sgd_step_without_momentum(x, g),
        }
    }

    /// Returns x and b of a single parameter after a step, with the same bits as in a slice.
    pub fn step_one<T: Real>(&self, x: T, b: T, g: T) -> (T, T) {
        self.kernel().one(self.field(), x, b, g)
    }

    fn kernel<T: Real>(&self) -> Kernel<T> {
        Kernel::new(&self.coordinates, &self.options, self.table.is_none())
            .guarded(self.decision.map(|decision| decision.rounded()))
    }
}
