//! The rule that finds its own tail index and scale.

use super::{Calibration, Coordinates, Motion, Options, Reading, Real, Rule, RuleError, Seen};
use levy_stable::ScoreTable;
use std::sync::{Arc, OnceLock};

/// [`Rule`] in the matched form, with α or the place of the bend or both as a [`Calibration`] finds them for each tensor.
///
/// > g ← g within ±limit,  b ← μb + g,  x ← x − lr · K/slope · ∇G_α(b/K)
///
/// Where the noise is Gaussian (α̂ = 2) the step is that of SGD with momentum, bit for bit. What is not given is found anew at each step, from
/// the gradients before it and its own.
#[derive(Clone, Debug)]
pub struct AutoRule {
    learning_rate: f64,
    motion: Motion,
    /// SGD, whose tables are exchanged.
    plain: Rule,
    /// The table of an α that is given.
    table: Option<Arc<ScoreTable>>,
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
        let plain = Rule::new(Coordinates::sgd(2.0, learning_rate, momentum)?, options)?;
        if let Some(noise) = noise {
            Coordinates::of_noise(alpha.unwrap_or(2.0), learning_rate, momentum, noise)?;
        }
        let table = match alpha {
            Some(alpha) => Rule::new(Coordinates::sgd(alpha, learning_rate, momentum)?, options)?.table(),
            None => None,
        };
        Ok(Self { learning_rate, motion: Motion { momentum, options, alpha, noise }, plain, table })
    }

    /// What a calibration must know of it.
    pub fn motion(&self) -> &Motion {
        &self.motion
    }

    /// Goes on with another learning rate.
    pub fn set_learning_rate(&mut self, learning_rate: f64) -> Result<(), RuleError> {
        self.plain.set_coordinates(Coordinates::sgd(2.0, learning_rate, self.motion.momentum)?)?;
        self.learning_rate = learning_rate;
        Ok(())
    }

    /// The rule of a step that was calibrated.
    pub fn rule(&self, reading: &Reading) -> Rule {
        let Reading { alpha, bend, limit, .. } = *reading;
        let table = match &self.table {
            Some(table) => Some(table.clone()),
            None => on_grid(alpha),
        };
        let coordinates = Coordinates::bent_at(alpha, self.learning_rate, self.motion.momentum, bend);
        match (table, coordinates) {
            (Some(table), Ok(coordinates)) if bend.is_finite() => {
                self.plain.bent(coordinates, table).limited(limit)
            }
            _ => self.plain.clone(),
        }
    }

    /// Looks at the gradient and moves the parameters `x` and their buffer `b` by one step along it, as [`Rule::step`] does.
    ///
    /// # Panics
    ///
    /// If the slices differ in length, or the calibration is that of another length.
    pub fn step<T: Real>(&self, calibration: &mut Calibration, x: &mut [T], b: &mut [T], g: &[T]) -> Reading {
        let reading = self.look(calibration, x, b, g);
        self.rule(&reading).step(x, b, g);
        reading
    }

    /// Lets a calibration look at a tensor before its step.
    ///
    /// # Panics
    ///
    /// As [`step`](Self::step) does.
    pub fn look<T: Real>(&self, calibration: &mut Calibration, x: &[T], b: &[T], g: &[T]) -> Reading {
        assert!(
            x.len() == g.len() && b.len() == g.len(),
            "parameters, buffer and gradient must have the same length"
        );
        let mut seen = [[0f32; Calibration::MOST]; 3];
        let mut count = 0;
        for place in calibration.places(g.len()) {
            for (seen, from) in seen.iter_mut().zip([g, b, x]) {
                seen[count] = from[place].single();
            }
            count += 1;
        }
        let [gradient, buffer, parameters] = &seen;
        let seen =
            Seen { gradient: &gradient[..count], buffer: &buffer[..count], parameters: &parameters[..count] };
        calibration.observe(seen, &self.motion)
    }
}

/// The table of a tail index that a calibration may find, shared by all rules; none at 2.
fn on_grid(alpha: f64) -> Option<Arc<ScoreTable>> {
    static TABLES: [OnceLock<Option<Arc<ScoreTable>>>; Calibration::INDICES] =
        [const { OnceLock::new() }; Calibration::INDICES];
    let table = TABLES.get(Calibration::index(alpha)?)?;
    table.get_or_init(|| ScoreTable::new(alpha).ok().map(Arc::new)).clone()
}
