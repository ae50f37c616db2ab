//! The constants of the estimates by name, for implementations in another language.

use super::estimates::{
    GAUSSIAN, GRID, KNEE_BEHIND, KNEE_LIMITED, KNEE_ROOT, KNEE_SHORT, KNEE_SPREAD, LIMIT, LIMIT_ROOT,
    LIMIT_SPREAD, LIMIT_SPREAD_NOISE, LIMIT_SQUARES, MIN_ALPHA, NO_NOISE, NOISE, SHARED,
};
use super::log_sums::LogSums;
use super::noise_sums::NoiseSums;
use super::state::{INITIAL_ALPHA, State};
use super::{Calibration, THRESHOLDS, sampled_rows};

impl Calibration {
    /// Returns the constants of the estimates by name. Programs compiled elsewhere (JAX) repeat the formulas with these constants.
    pub fn constants() -> [(&'static str, f64); 26] {
        let [part, quadruple, both] = sampled_rows::MIX;
        [
            ("initial_alpha", INITIAL_ALPHA),
            ("min_alpha", MIN_ALPHA),
            ("no_noise", NO_NOISE),
            ("noise", NOISE),
            ("shared", SHARED),
            ("gaussian", GAUSSIAN),
            ("grid", GRID),
            ("knee_spread", KNEE_SPREAD),
            ("knee_limited", KNEE_LIMITED),
            ("knee_behind", KNEE_BEHIND),
            ("knee_short", KNEE_SHORT),
            ("knee_root", KNEE_ROOT),
            ("limit", LIMIT),
            ("limit_spread", LIMIT_SPREAD),
            ("limit_spread_noise", LIMIT_SPREAD_NOISE),
            ("limit_root", LIMIT_ROOT),
            ("limit_power", f64::from(1 << LIMIT_SQUARES)),
            ("smallest", *THRESHOLDS.start()),
            ("largest", *THRESHOLDS.end()),
            ("steps", LogSums::STEPS.into()),
            ("quadruples", NoiseSums::QUADRUPLES.into()),
            ("counted", State::COUNTED.into()),
            ("row", sampled_rows::ROW as f64),
            ("mix_part", part.into()),
            ("mix_quadruple", quadruple.into()),
            ("mix_both", both.into()),
        ]
    }
}
