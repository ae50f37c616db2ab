//! Validated parameters from literals, for tests.

use fuld::{
    Alpha, Beta, Friction, Noiseless, Overdamped, OverdampedGaussian, Underdamped,
    UnderdampedGaussian,
};

pub(crate) fn alpha(alpha: f64) -> Alpha {
    Alpha::new(alpha).unwrap()
}

pub(crate) fn gamma(gamma: f64) -> Friction {
    Friction::new(gamma).unwrap()
}

pub(crate) fn beta(beta: f64) -> Beta {
    Beta::new(beta).unwrap()
}

pub(crate) fn underdamped(alpha: f64, gamma: f64, beta: f64) -> Underdamped {
    Underdamped { alpha: self::alpha(alpha), gamma: self::gamma(gamma), beta: self::beta(beta) }
}

pub(crate) fn underdamped_gaussian(gamma: f64, beta: f64) -> UnderdampedGaussian {
    UnderdampedGaussian { gamma: self::gamma(gamma), beta: self::beta(beta) }
}

pub(crate) fn noiseless(gamma: f64) -> Noiseless {
    Noiseless { gamma: self::gamma(gamma) }
}

pub(crate) fn overdamped(alpha: f64, beta: f64) -> Overdamped {
    Overdamped { alpha: self::alpha(alpha), beta: self::beta(beta) }
}

pub(crate) fn overdamped_gaussian(beta: f64) -> OverdampedGaussian {
    OverdampedGaussian { beta: self::beta(beta) }
}
