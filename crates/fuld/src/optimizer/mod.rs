//! The optimizer (eulerv2_optim): SGD with momentum whose step goes through ∇G_α, on plain slices.
//!
//! > v ← (1 − γη)v − ηg,  x ← x + η h(v),  h(v) = a ∇G_α(v/κ)
//!
//! In the coordinates people know, b = −v/η, lr = η², μ = 1 − γη, this is
//!
//! > b ← μb + g,  x ← x − √lr · h(√lr · b),
//!
//! which at α = 2 is SGD with momentum, bit for bit. For α < 2 the field rises to its bend at |v| ~ κ and then falls as 1/v: a
//! coordinate that a rare large gradient has thrown far out moves little, as if it were clipped, and yet the whole leaves a
//! Gibbs measure invariant.
//!
//! [`Coordinates`] say which a, κ, η and μ are meant, in several ways; a [`Rule`] takes the steps. An [`AutoRule`] finds α and κ itself.
//!
//! ```
//! use fuld::optimizer::{Coordinates, Options, Rule};
//! # fn main() -> Result<(), fuld::optimizer::RuleError> {
//! // Learning rate and momentum as for SGD; the field bends at κ = 1.
//! let rule = Rule::new(Coordinates::matched(1.5, 0.01, 0.9, 1.0)?, Options::default())?;
//! let (mut x, mut b) = ([1.0f32, -2.0], [0.0; 2]);
//! for _ in 0..500 {
//!     let gradient = x; // of |x|²/2
//!     rule.step(&mut x, &mut b, &gradient);
//! }
//! assert!(x.iter().all(|x| x.abs() < 1e-3));
//! # Ok(())
//! # }
//! ```

mod auto_rule;
mod calibration;
pub mod clip;
mod coordinates;
mod error;
mod kernel;
mod real;
mod rule;

pub use auto_rule::AutoRule;
pub use calibration::{Calibration, Motion, Reading, Seen};
pub use coordinates::{Coordinates, kappa_of_noise};
pub use error::{NonFiniteGradient, RuleError};
pub use real::Real;
pub use rule::{Options, Rule, WeightDecay};
