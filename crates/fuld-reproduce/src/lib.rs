//! The paper's figures from our own runs, and what becomes of its claims.

mod averages;
mod calibration;
mod claim;
mod conformal;
mod distance;
mod exhibit;
mod fields;
mod gap;
mod gaussian;
mod guess;
mod invariant;
mod iterates;
mod lab;
mod law;
mod levy;
mod networks;
mod orders;
mod overdamped;
mod parameters;
mod parts;
mod quartic;
mod report;
mod series;
mod set;
mod systems;
mod temperature;
mod text;
mod training;

pub use claim::{Claim, Verdict};
pub use exhibit::{Exhibit, Table};
pub use lab::{Interrupted, Lab};
pub use parts::{Make, Part, Train, parts};
pub use report::{Facts, report};
pub use training::{News, Training, Watch};
