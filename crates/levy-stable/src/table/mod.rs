//! Tables of functions on [0, ∞), and of the field ∇G_α.
//!
//! - [`OctaveTable`]: piecewise polynomials on octaves, with pieces found from the bits of the
//!   argument. One [`Fit`], one rule of evaluation, in single and double precision.
//! - [`TableData`]: the field ∇G_α in that form, as plain arrays that every device can read, and
//!   that can be stored.
//! - [`FieldTable`]: the field ∇G_α on this processor.
//! - [`EnergyTable`]: the kinetic energy G_α, whose derivative the field is.

mod band;
mod bulk;
#[cfg(target_arch = "x86_64")]
mod bulk_x86;
mod data;
mod energy_table;
mod field;
mod field_table;
mod fit;
mod octave_table;
mod real;
mod single;
mod tabulate;

pub use bulk::Lanes;
pub use data::{TableAlpha, TableData, TableError};
pub use energy_table::EnergyTable;
pub use field_table::FieldTable;
pub use fit::{Fit, interpolate};
pub use octave_table::OctaveTable;
pub use real::Real;
