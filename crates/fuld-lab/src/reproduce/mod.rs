//! The paper's figures from our own runs, and what becomes of its claims.

mod averages;
mod claim;
mod conformal;
mod distance;
mod exhibit;
mod fields;
mod gaussian;
mod invariant;
mod iterates;
mod lab;
mod law;
mod levy;
pub mod networks;
mod orders;
mod overdamped;
mod parts;
mod quartic;
mod report;
mod systems;
mod temperature;
mod text;

pub use claim::{Claim, Verdict};
pub use exhibit::{Exhibit, Table};
pub use lab::{Interrupted, Lab};
pub use parts::{Make, Part, parts};
pub use report::{Facts, report};
