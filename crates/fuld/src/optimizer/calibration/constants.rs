//! The numbers in the formulas, for who must write these in another language.

use super::head::Head;
use super::log_sums::LogSums;
use super::noise_sums::NoiseSums;
use super::settings::{
    BEND_BEHIND, BEND_LIMITED, BEND_ROOT, BEND_SHORT, BEND_SPREAD, GAUSSIAN, GRID, LEAST, LIMIT, LIMIT_ROOT,
    LIMIT_SPREAD, LIMIT_SPREAD_NOISE, LIMIT_SQUARES, MILD, NO_NOISE, NOISE, SHARED,
};
use super::{Calibration, ROOM, places};

impl Calibration {
    /// The numbers it is made with, by name: a program that is compiled elsewhere (JAX's) has the formulas again, and takes these.
    pub fn constants() -> [(&'static str, f64); 26] {
        let [part, quadruple, both] = places::MIX;
        [
            ("mild", MILD),
            ("least", LEAST),
            ("no_noise", NO_NOISE),
            ("noise", NOISE),
            ("shared", SHARED),
            ("gaussian", GAUSSIAN),
            ("grid", GRID),
            ("bend_spread", BEND_SPREAD),
            ("bend_limited", BEND_LIMITED),
            ("bend_behind", BEND_BEHIND),
            ("bend_short", BEND_SHORT),
            ("bend_root", BEND_ROOT),
            ("limit", LIMIT),
            ("limit_spread", LIMIT_SPREAD),
            ("limit_spread_noise", LIMIT_SPREAD_NOISE),
            ("limit_root", LIMIT_ROOT),
            ("limit_power", f64::from(1 << LIMIT_SQUARES)),
            ("smallest", *ROOM.start()),
            ("largest", *ROOM.end()),
            ("steps", LogSums::STEPS.into()),
            ("quadruples", NoiseSums::QUADRUPLES.into()),
            ("counted", Head::COUNTED.into()),
            ("row", places::ROW as f64),
            ("mix_part", part.into()),
            ("mix_quadruple", quadruple.into()),
            ("mix_both", both.into()),
        ]
    }
}
