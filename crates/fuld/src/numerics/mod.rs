//! Numerical methods that the dynamics are built from.
//!
//! | module | contents |
//! |---|---|
//! | `riesz` | [`riesz()`], the Riesz derivative of a function sampled on a grid |
//! | `kummer` | [`kummer()`], Kummer's confluent hypergeometric function ₁F₁ |
//! | `quadrature` | adaptive Gauss–Kronrod integration |
//! | `fractional_gradient` | 𝒟^(α−2)(φ f′)/φ of a function of one variable, by quadrature |

pub(crate) mod fractional_gradient;
pub(crate) mod kummer;
pub(crate) mod quadrature;
pub(crate) mod riesz;

pub use kummer::{kummer, kummer_scaled};
pub use riesz::{RieszError, riesz, riesz_of_gaussian};
