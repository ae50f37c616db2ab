//! The update rule whose tail index and knee are estimated from the gradients.

use super::coordinates::slope;
use super::{
    AutoSettings, Calibration, Coordinates, NoiseMatched, Observation, Real, Rule, RuleError, Sgd,
    WeightDecay,
};
use levy_stable::{Alpha, FieldTable};
use std::sync::{Arc, OnceLock};

/// The [`Rule`] in the matched form, with α or the knee or both estimated for each tensor by a [`Calibration`].
///
/// > g ← g within ±limit,  b ← μb + g,  x ← x − lr · K/slope · ∇G_α(b/K)
///
/// Where the noise is Gaussian (α̂ = 2) the step is that of SGD with momentum, bit for bit. Estimates are updated at every step,
/// from all gradients up to and including that of the step.
#[derive(Clone, Debug)]
pub struct AutoRule {
    settings: AutoSettings,
    /// SGD with the same learning rate, momentum and options; a step replaces its field.
    sgd: Rule,
    /// The field of a given α.
    given: Option<Field>,
}

impl AutoRule {
    /// Creates a rule with SGD's learning rate and momentum.
    pub fn new(settings: AutoSettings, learning_rate: f64) -> Result<Self, RuleError> {
        let given = settings.alpha.filter(|&alpha| alpha != 2.0).map(Field::new).transpose()?;
        Self::with_field(settings, learning_rate, given)
    }

    /// Returns a rule with other settings that shares the table of this one if a given α is the same.
    pub fn with(&self, settings: AutoSettings, learning_rate: f64) -> Result<Self, RuleError> {
        if settings.alpha == self.settings.alpha {
            Self::with_field(settings, learning_rate, self.given.clone())
        } else {
            Self::new(settings, learning_rate)
        }
    }

    fn with_field(
        settings: AutoSettings,
        learning_rate: f64,
        given: Option<Field>,
    ) -> Result<Self, RuleError> {
        let AutoSettings { momentum, options, alpha, noise_scale } = settings;
        let sgd = Rule::new(Coordinates::sgd(Sgd { alpha: 2.0, learning_rate, momentum })?, options)?;
        if let Some(noise_scale) = noise_scale {
            let alpha = alpha.unwrap_or(2.0);
            Coordinates::noise_matched(NoiseMatched { alpha, learning_rate, momentum, noise_scale })?;
        }
        Ok(Self { settings, sgd, given })
    }

    /// Returns the settings.
    pub fn settings(&self) -> &AutoSettings {
        &self.settings
    }

    /// Changes the learning rate.
    pub fn set_learning_rate(&mut self, learning_rate: f64) -> Result<(), RuleError> {
        let momentum = self.settings.momentum;
        self.sgd.set_coordinates(Coordinates::sgd(Sgd { alpha: 2.0, learning_rate, momentum })?)
    }

    /// Returns the rule of the next step, given a calibration that has [observed](Self::observe) its gradient.
    pub fn rule<N: AsRef<[f32]>>(&self, calibration: &Calibration<N>) -> Rule {
        let (alpha, momentum_knee, limit) = calibration.in_use();
        let field = if self.settings.alpha.is_some() { self.given.as_ref() } else { on_grid(alpha) };
        let with_field = field.filter(|_| momentum_knee.is_finite()).and_then(|field| {
            let coordinates =
                self.sgd.coordinates().with_momentum_knee(alpha, momentum_knee, field.slope).ok()?;
            self.sgd.with_table(coordinates, field.table.clone()).limited(limit).ok()
        });
        with_field.unwrap_or_else(|| self.sgd.clone())
    }

    /// Updates the calibration with the gradient, then moves the parameters `x` and their buffer `b` by one [`Rule::step`].
    ///
    /// # Panics
    ///
    /// If the slices differ in length, or the calibration belongs to a tensor of another length.
    pub fn step<T: Real>(&self, calibration: &mut Calibration, x: &mut [T], b: &mut [T], g: &[T]) {
        self.observe(T::single, calibration, x, b, g);
        self.rule(calibration).step(x, b, g);
    }

    /// Updates a calibration with a tensor before its step. `single` converts an element to single precision. Without momentum the
    /// buffer is not read, so that the gradient may be passed in its place.
    ///
    /// # Panics
    ///
    /// As [`step`](Self::step) does.
    pub fn observe<T: Copy, N: AsRef<[f32]> + AsMut<[f32]>>(
        &self,
        single: impl Fn(T) -> f32,
        calibration: &mut Calibration<N>,
        x: &[T],
        b: &[T],
        g: &[T],
    ) {
        assert!(
            x.len() == g.len() && b.len() == g.len(),
            "parameters, buffer and gradient must have the same length"
        );
        // Two array sizes: most tensors are small, and clearing the large arrays would dominate their cost.
        if calibration.sample_count() <= SMALL {
            self.observe_within::<SMALL, T, N>(single, calibration, [x, b, g]);
        } else {
            self.observe_within::<{ Calibration::MAX_SAMPLES }, T, N>(single, calibration, [x, b, g]);
        }
    }

    fn observe_within<const CAPACITY: usize, T: Copy, N: AsRef<[f32]> + AsMut<[f32]>>(
        &self,
        single: impl Fn(T) -> f32,
        calibration: &mut Calibration<N>,
        [x, b, g]: [&[T]; 3],
    ) {
        let reads_parameters = matches!(self.settings.options.weight_decay, WeightDecay::Coupled(_));
        let observed = calibration.observed_part();
        let [mut gradient, mut buffer, mut parameters] = [[0f32; CAPACITY]; 3];
        let mut count = 0;
        for row in calibration.sampled_rows(g.len()) {
            let samples = count..count + row.len();
            let copy = |to: &mut [f32; CAPACITY], from: &[T]| {
                to[samples.clone()]
                    .iter_mut()
                    .zip(&from[row.clone()])
                    .for_each(|(to, &from)| *to = single(from));
            };
            copy(&mut gradient, g);
            if observed.start < samples.end && samples.start < observed.end {
                copy(&mut buffer, b);
                if reads_parameters {
                    copy(&mut parameters, x);
                }
            }
            count = samples.end;
        }
        let observation = Observation {
            gradient: &gradient[..count],
            buffer: &mut buffer[..count],
            parameters: &parameters[..count],
        };
        calibration.observe(observation, &self.settings);
    }
}

/// Largest number of sampled coordinates for which the small arrays are used.
const SMALL: usize = 256;

/// ∇G_α for one α below 2.
#[derive(Clone, Debug)]
struct Field {
    table: Arc<FieldTable>,
    /// ∇G_α′(0)
    slope: f64,
}

impl Field {
    fn new(alpha: f64) -> Result<Self, RuleError> {
        Ok(Self { table: Arc::new(FieldTable::new(alpha)?), slope: slope(Alpha::new(alpha)?) })
    }
}

/// Returns the field of a tail index that a calibration may estimate, shared by all rules; None at 2.
fn on_grid(alpha: f64) -> Option<&'static Field> {
    static FIELDS: [OnceLock<Option<Field>>; Calibration::INDICES] =
        [const { OnceLock::new() }; Calibration::INDICES];
    FIELDS.get(Calibration::index(alpha)?)?.get_or_init(|| Field::new(alpha).ok()).as_ref()
}
