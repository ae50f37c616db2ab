//! The rule that takes the steps.

use super::kernel::Kernel;
use super::{Coordinates, NonFiniteGradient, Real, RuleError};
use levy_stable::FieldTable;
use std::sync::Arc;

/// A pull of the parameters towards 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum WeightDecay {
    /// None.
    #[default]
    None,
    /// g ← g + wd·x: the gradient of wd·|x|²/2, through momentum and field like any other.
    Coupled(f64),
    /// x ← (1 − lr·wd)x before the step, past both.
    Decoupled(f64),
}

impl WeightDecay {
    /// A pull of this strength, in one of the two ways; none at 0.
    pub fn of(decay: f64, decoupled: bool) -> Self {
        match decay {
            0.0 => Self::None,
            decay if decoupled => Self::Decoupled(decay),
            decay => Self::Coupled(decay),
        }
    }
}

/// What may be added to a rule. The default is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// A pull towards 0.
    pub weight_decay: WeightDecay,
    /// The step follows g + μb instead of b.
    pub nesterov: bool,
    /// Goes uphill: the gradient is negated, before weight decay is added.
    pub maximize: bool,
}

impl Options {
    fn check(&self) -> Result<(), RuleError> {
        match self.weight_decay {
            WeightDecay::Coupled(decay) | WeightDecay::Decoupled(decay)
                if !(decay >= 0.0 && decay.is_finite()) =>
            {
                Err(RuleError::WeightDecay(decay))
            }
            _ => Ok(()),
        }
    }
}

/// The update rule, for parameters in slices of `f32` or `f64`.
///
/// > b ← μb + g,  x ← x − √lr · h(√lr · b),  h(v) = a ∇G_α(v/κ)
///
/// The buffer b belongs to the caller and starts at 0, which makes the first step torch's b = g. At α = 2 a step has the bits of
/// SGD with momentum, its operations rounded one by one in the order b ← μb, b ← b + g, x ← x − lr·b. Every step is one pass
/// that allocates nothing, and gives the same bits for any length, chunking and instruction set.
///
/// NaN in a gradient makes x and b NaN. An infinite gradient makes b infinite for good and x NaN, as SGD's x becomes
/// infinite: the field is 0 there, and x would stand still unseen. [`Rule::step_checked`] refuses both.
///
/// Clones share the table.
#[derive(Clone, Debug)]
pub struct Rule {
    coordinates: Coordinates,
    options: Options,
    /// None at α = 2, where the field is the identity.
    table: Option<Arc<FieldTable>>,
    /// The largest component of a gradient that is taken as it is.
    limit: f64,
}

impl Rule {
    /// A rule. For α < 2 it tabulates the field, which takes some milliseconds.
    pub fn new(coordinates: Coordinates, options: Options) -> Result<Self, RuleError> {
        options.check()?;
        let mut this = Self { coordinates, options, table: None, limit: f64::INFINITY };
        this.tabulate()?;
        this.set_coordinates(coordinates)?;
        Ok(this)
    }

    /// Goes on with another learning rate, momentum or κ. The table is made anew only for another α.
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

    /// Another rule with the field of this one, whose table it shares if α is the same.
    pub fn with(&self, coordinates: Coordinates, options: Options) -> Result<Self, RuleError> {
        options.check()?;
        let mut this = Self { options, ..self.clone() };
        this.set_coordinates(coordinates)?;
        Ok(this)
    }

    /// The same options with another field, which comes as a table.
    pub(super) fn bent(&self, coordinates: Coordinates, table: Arc<FieldTable>) -> Self {
        Self { coordinates, table: Some(table), ..self.clone() }
    }

    /// Moves every component of a gradient into [−limit, limit] before anything else is done with it. NaN stays NaN.
    pub fn limited(self, limit: f64) -> Self {
        Self { limit, ..self }
    }

    /// That limit; infinite if there is none.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// What the rule was made from.
    pub fn coordinates(&self) -> &Coordinates {
        &self.coordinates
    }

    /// ∇G_α, or none at α = 2, where the field is the identity.
    pub fn field(&self) -> Option<&FieldTable> {
        self.table.as_deref()
    }

    /// What was added to it.
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
            Some(table) => self.kernel().curved(table, x, b, g),
            None => self.kernel().plain(x, b, g),
        }
    }

    /// [`Rule::step`], but leaves everything as it is if a component of the gradient is NaN or infinite.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    pub fn step_checked<T: Real>(&self, x: &mut [T], b: &mut [T], g: &[T]) -> Result<(), NonFiniteGradient> {
        /// Components looked at before asking: a search that may stop at each of them would not be vector code.
        const STRETCH: usize = 1024;
        for (k, stretch) in g.chunks(STRETCH).enumerate() {
            if stretch.iter().fold(false, |bad, g| bad | !g.finite())
                && let Some(i) = stretch.iter().position(|g| !g.finite())
            {
                return Err(NonFiniteGradient { index: k * STRETCH + i, value: stretch[i].into() });
            }
        }
        self.step(x, b, g);
        Ok(())
    }

    /// The recursion without momentum (newsgd): [`Rule::step`] with μ = 0, which needs no buffer.
    ///
    /// > x ← x + η h(−ηg)
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    pub fn step_without_momentum<T: Real>(&self, x: &mut [T], g: &[T]) {
        assert_eq!(x.len(), g.len(), "parameters and gradient must have the same length");
        match &self.table {
            Some(table) => self.kernel().curved_without_memory(table, x, g),
            None => self.kernel().plain_without_memory(x, g),
        }
    }

    /// x and b of a single parameter after a step: the same bits as in a slice.
    pub fn step_one<T: Real>(&self, x: T, b: T, g: T) -> (T, T) {
        self.kernel().one(self.field(), x, b, g)
    }

    fn kernel<T: Real>(&self) -> Kernel<T> {
        Kernel::new(&self.coordinates, &self.options, self.table.is_none(), self.limit)
    }
}
