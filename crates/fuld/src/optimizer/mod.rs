//! The optimizer (eulerv2_optim) on plain slices: SGD with momentum whose step passes through the
//! field ∇G_α.
//!
//! > v ← (1 − γη)v − ηg,  x ← x + η h(v),  h(v) = a ∇G_α(v/κ)
//!
//! In SGD's coordinates, b = −v/η, lr = η², μ = 1 − γη, this is
//!
//! > b ← μb + g,  x ← x − √lr · h(√lr · b),
//!
//! which at α = 2 is SGD with momentum, bit for bit. For α < 2 the field rises up to its knee at
//! |v| ~ κ and then falls as 1/v: after a rare large gradient a coordinate moves little, as if the
//! gradient had been clipped, and yet the dynamics leave a Gibbs measure invariant.
//!
//! [`Coordinates`] hold a, κ, η and μ and are built from one of several parametrisations. A
//! [`Rule`] takes the steps. [`Adam`] is the same for Adam and AdamW.
//!
//! ```
//! use fuld::optimizer::{Coordinates, Matched, Options, Rule};
//! # fn main() -> Result<(), fuld::optimizer::RuleError> {
//! // Learning rate and momentum as for SGD, and the knee of the field at κ = 1.
//! let coordinates = Coordinates::matched(Matched { alpha: 1.5, learning_rate: 0.01, momentum: 0.9, kappa: 1.0 })?;
//! let rule = Rule::new(coordinates, Options::default())?;
//! let (mut x, mut b) = ([1.0f32, -2.0], [0.0; 2]);
//! for _ in 0..500 {
//!     let gradient = x; // of |x|²/2
//!     rule.step(&mut x, &mut b, &gradient);
//! }
//! assert!(x.iter().all(|x| x.abs() < 1e-3));
//! # Ok(())
//! # }
//! ```

mod adam;
pub mod clip;
mod coordinates;
mod error;
mod form;
mod kernel;
mod options;
mod rule;

pub use crate::real::Real;
pub use adam::Adam;
pub use coordinates::{Authors, Coordinates, Matched, NoiseMatched, Paper, PaperSgd, Sgd};
pub use error::{NonFiniteGradient, RuleError};
pub use form::{Form, Knee};
pub use options::{Options, WeightDecay};
pub use rule::Rule;
