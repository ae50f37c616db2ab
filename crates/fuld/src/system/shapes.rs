//! The parameters that systems are built from, named and validated.

use crate::parameters::{Beta, Friction};
use crate::specification::Specification;
use levy_stable::Alpha;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! shape {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        pub struct $name {
            $(
                #[doc = concat!("The parameter `", stringify!($field), "`.")]
                pub $field: $type,
            )+
        }

        impl $name {
            /// The names of the parameters.
            pub(super) const NAMES: &'static [&'static str] = &[$(stringify!($field)),+];

            /// Takes the parameters that this shape has.
            pub(super) fn of(all: Underdamped) -> Self {
                Self { $($field: all.$field),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $(write!(f, concat!(", ", stringify!($field), " {}"), self.$field.get())?;)+
                Ok(())
            }
        }
    };
}

shape! {
    /// Tail index, friction and inverse temperature: the parameters of an underdamped system with
    /// stable noise.
    Underdamped { alpha: Alpha, gamma: Friction, beta: Beta }
}
shape! {
    /// Friction and inverse temperature: the parameters of an underdamped system with Gaussian
    /// noise.
    UnderdampedGaussian { gamma: Friction, beta: Beta }
}
shape! {
    /// Friction: the parameter of an underdamped system without noise.
    Noiseless { gamma: Friction }
}
shape! {
    /// Tail index and inverse temperature: the parameters of an overdamped system with stable
    /// noise.
    Overdamped { alpha: Alpha, beta: Beta }
}
shape! {
    /// Inverse temperature: the parameter of an overdamped system with Gaussian noise.
    OverdampedGaussian { beta: Beta }
}

/// The parameters of FLMC with its exact drift, which is tabulated for one potential.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flmc {
    /// Tail index.
    pub alpha: Alpha,
    /// Inverse temperature.
    pub beta: Beta,
    /// The drift is tabulated on [−reach, reach].
    pub reach: f64,
    /// The function of one coordinate that the drift is tabulated for.
    pub potential: Specification,
}

impl Flmc {
    pub(super) const NAMES: &'static [&'static str] = Overdamped::NAMES;
}

impl fmt::Display for Flmc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { alpha, beta, reach, potential } = self;
        write!(
            f,
            ", alpha {}, beta {}, reach {reach}, potential {potential}",
            alpha.get(),
            beta.get()
        )
    }
}

/// A kinetic energy that the user supplies, as a run's identity records it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomKineticSpec {
    /// The user's description of the energy.
    pub kinetic: Specification,
    /// Tail index of its noise.
    pub alpha: Alpha,
    /// Amplitude of its noise at γ = 1.
    pub amplitude: f64,
    /// Friction.
    pub gamma: Friction,
}

/// A drift of the position that the user supplies, as a run's identity records it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomDriftSpec {
    /// The user's description of the drift.
    pub drift: Specification,
    /// Tail index of the noise.
    pub alpha: Alpha,
    /// Inverse temperature.
    pub beta: Beta,
}
