//! The numbers in the formulas, for who must write these in another language.

use super::head::Head;
use super::log_sums::{LogSums, NoiseSums};
use super::{
    BEND_SPREAD, Calibration, GAUSSIAN, GRID, LEAST, LIMIT, LIMIT_POWER, LIMIT_SPREAD, MILD, ROOM, SPARSE,
    places,
};

impl Calibration {
    /// The numbers it is made with, by name: a program that is compiled elsewhere (JAX's) has the formulas again, and takes these.
    pub fn constants() -> [(&'static str, f64); 17] {
        let [part, quadruple, both] = places::MIX;
        [
            ("mild", MILD),
            ("least", LEAST),
            ("sparse", SPARSE),
            ("gaussian", GAUSSIAN),
            ("grid", GRID),
            ("bend_spread", BEND_SPREAD),
            ("limit", LIMIT),
            ("limit_spread", LIMIT_SPREAD),
            ("limit_power", LIMIT_POWER.into()),
            ("smallest", *ROOM.start()),
            ("largest", *ROOM.end()),
            ("steps", LogSums::STEPS.into()),
            ("quadruples", NoiseSums::QUADRUPLES.into()),
            ("counted", Head::COUNTED.into()),
            ("mix_part", part.into()),
            ("mix_quadruple", quadruple.into()),
            ("mix_both", both.into()),
        ]
    }
}
