//! The rule that finds its own tail index and scale.

use super::coordinates::slope;
use super::{Calibration, Coordinates, Motion, Options, Real, Rule, RuleError, Seen, WeightDecay};
use levy_stable::{Alpha, FieldTable};
use std::sync::{Arc, OnceLock};

/// [`Rule`] in the matched form, with α or the place of the bend or both as a [`Calibration`] finds them for each tensor.
///
/// > g ← g within ±limit,  b ← μb + g,  x ← x − lr · K/slope · ∇G_α(b/K)
///
/// Where the noise is Gaussian (α̂ = 2) the step is that of SGD with momentum, bit for bit. What is not given is found anew at each step, from
/// the gradients before it and its own.
#[derive(Clone, Debug)]
pub struct AutoRule {
    motion: Motion,
    /// SGD, whose field is exchanged.
    plain: Rule,
    /// The field of an α that is given.
    given: Option<Field>,
}

impl AutoRule {
    /// A rule with SGD's learning rate and momentum. α and the scale σ_g of the gradients' noise are those given, and found where they are not.
    pub fn new(
        alpha: Option<f64>,
        noise: Option<f64>,
        learning_rate: f64,
        momentum: f64,
        options: Options,
    ) -> Result<Self, RuleError> {
        let given = alpha.filter(|&alpha| alpha != 2.0).map(Field::new).transpose()?;
        Self::moving(learning_rate, Motion { momentum, options, alpha, noise }, given)
    }

    /// Another rule with the α of this one, whose table it shares if that is given.
    pub fn with(
        &self,
        noise: Option<f64>,
        learning_rate: f64,
        momentum: f64,
        options: Options,
    ) -> Result<Self, RuleError> {
        let motion = Motion { momentum, options, alpha: self.motion.alpha, noise };
        Self::moving(learning_rate, motion, self.given.clone())
    }

    fn moving(learning_rate: f64, motion: Motion, given: Option<Field>) -> Result<Self, RuleError> {
        let Motion { momentum, options, alpha, noise } = motion;
        let plain = Rule::new(Coordinates::sgd(2.0, learning_rate, momentum)?, options)?;
        if let Some(noise) = noise {
            Coordinates::of_noise(alpha.unwrap_or(2.0), learning_rate, momentum, noise)?;
        }
        Ok(Self { motion, plain, given })
    }

    /// What a calibration must know of it.
    pub fn motion(&self) -> &Motion {
        &self.motion
    }

    /// Goes on with another learning rate.
    pub fn set_learning_rate(&mut self, learning_rate: f64) -> Result<(), RuleError> {
        self.plain.set_coordinates(Coordinates::sgd(2.0, learning_rate, self.motion.momentum)?)
    }

    /// The rule of a step, after a [look](Self::look).
    pub fn rule<N: AsRef<[f32]>>(&self, calibration: &Calibration<N>) -> Rule {
        let (alpha, bend, limit) = calibration.in_use();
        let field = if self.motion.alpha.is_some() { self.given.as_ref() } else { on_grid(alpha) };
        let bent = field.filter(|_| bend.is_finite()).and_then(|field| {
            let coordinates = self.plain.coordinates().bent_at(alpha, bend, field.slope).ok()?;
            Some(self.plain.bent(coordinates, field.table.clone()).limited(limit))
        });
        bent.unwrap_or_else(|| self.plain.clone())
    }

    /// Looks at the gradient and moves the parameters `x` and their buffer `b` by one step along it, as [`Rule::step`] does.
    ///
    /// # Panics
    ///
    /// If the slices differ in length, or the calibration is that of another length.
    pub fn step<T: Real>(&self, calibration: &mut Calibration, x: &mut [T], b: &mut [T], g: &[T]) {
        self.look(T::single, calibration, x, b, g);
        self.rule(calibration).step(x, b, g);
    }

    /// Lets a calibration look at a tensor before its step, at numbers of any type that can be had in single precision. Without momentum the
    /// buffer is not read, and the gradient may stand for it.
    ///
    /// # Panics
    ///
    /// As [`step`](Self::step) does.
    pub fn look<T: Copy, N: AsRef<[f32]> + AsMut<[f32]>>(
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
        // Room for what there is: small tensors are many.
        if calibration.count() <= SMALL {
            self.look_within::<SMALL, T, N>(single, calibration, [x, b, g]);
        } else {
            self.look_within::<{ Calibration::MOST }, T, N>(single, calibration, [x, b, g]);
        }
    }

    fn look_within<const ROOM: usize, T: Copy, N: AsRef<[f32]> + AsMut<[f32]>>(
        &self,
        single: impl Fn(T) -> f32,
        calibration: &mut Calibration<N>,
        [x, b, g]: [&[T]; 3],
    ) {
        let pulled = matches!(self.motion.options.weight_decay, WeightDecay::Coupled(_));
        let looked_at = calibration.looked_at();
        let [mut gradient, mut buffer, mut parameters] = [[0f32; ROOM]; 3];
        let mut count = 0;
        for row in calibration.rows(g.len()) {
            let places = count..count + row.len();
            let copy = |to: &mut [f32; ROOM], from: &[T]| {
                to[places.clone()]
                    .iter_mut()
                    .zip(&from[row.clone()])
                    .for_each(|(to, &from)| *to = single(from));
            };
            copy(&mut gradient, g);
            if looked_at.start < places.end && places.start < looked_at.end {
                copy(&mut buffer, b);
                if pulled {
                    copy(&mut parameters, x);
                }
            }
            count = places.end;
        }
        let seen = Seen {
            gradient: &gradient[..count],
            buffer: &mut buffer[..count],
            parameters: &parameters[..count],
        };
        calibration.observe(seen, &self.motion);
    }
}

/// As many places as a small tensor has.
const SMALL: usize = 256;

/// ∇G_α for one α below 2.
#[derive(Clone, Debug)]
struct Field {
    table: Arc<FieldTable>,
    /// At 0.
    slope: f64,
}

impl Field {
    fn new(alpha: f64) -> Result<Self, RuleError> {
        Ok(Self { table: Arc::new(FieldTable::new(alpha)?), slope: slope(Alpha::new(alpha)?) })
    }
}

/// The field of a tail index that a calibration may find, shared by all rules; none at 2.
fn on_grid(alpha: f64) -> Option<&'static Field> {
    static FIELDS: [OnceLock<Option<Field>>; Calibration::INDICES] =
        [const { OnceLock::new() }; Calibration::INDICES];
    FIELDS.get(Calibration::index(alpha)?)?.get_or_init(|| Field::new(alpha).ok()).as_ref()
}
