//! The paper's figures and claims, tested with our own runs, in a report.
//!
//! An exhibit is a type: its fields are the tables of an experiment, and its claims and figures are
//! functions of these tables. [`exhibits`] lists all of them; adding one is one entry.
//! [`Reproduction::run`] makes the chosen exhibits in a folder, uses those again that are there
//! already, and writes the page.

#[macro_use]
mod exhibit;

mod averages;
mod barriers;
mod beta;
mod claim;
mod conformal;
mod context;
mod distance;
mod drawing;
mod driver;
mod exhibits;
mod fields;
mod gaussian;
mod guard;
mod invariant;
mod iterates;
mod law;
mod levy;
mod mixing;
mod networks;
mod orders;
mod overdamped;
mod pace;
mod quartic;
mod report;
mod request;
mod specification;
mod study;
mod systems;
mod table;

pub use claim::{Claim, Source, Tally, Verdict};
pub use driver::Event;
pub use exhibit::{Entry, Presentation};
pub use exhibits::exhibits;
pub use report::{Exception, Report};
pub use request::{Reproduction, ReproductionError};
pub use specification::{DataIdentity, ExhibitSpec, Record, Versions};

pub(crate) use claim::{Judgement, list};
pub(crate) use context::Context;
pub(crate) use exhibit::{CaptionedFigure, Exhibit, TextTable};
