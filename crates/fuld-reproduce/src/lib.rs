//! The paper's figures and claims, tested with our own runs, in a report.
//!
//! An [`Exhibit`] is an experiment that fills [`Tables`], and claims and figures that are pure functions of these tables. The
//! list of [`exhibits`] is declarative: adding one is one entry. [`Reproduction::run`] makes the chosen exhibits in a folder,
//! uses those again that are there already, and writes the page.

mod averages;
mod beta;
mod calibration;
mod claim;
mod conformal;
mod context;
mod distance;
mod driver;
mod exhibit;
mod exhibits;
mod fields;
mod gaussian;
mod invariant;
mod iterates;
mod law;
mod levy;
mod networks;
mod orders;
mod overdamped;
mod quartic;
mod report;
mod series;
mod specification;
mod study;
mod systems;
mod table;
mod text;

pub use claim::{Claim, Judgement, Source, Tally, Verdict};
pub use context::{Context, Interrupted};
pub use driver::{Event, Reproduction, ReproductionError};
pub use exhibit::{CaptionedFigure, Exhibit, Presentation, TextTable};
pub use exhibits::exhibits;
pub use report::{Exception, Report, page};
pub use specification::{DataIdentity, Record, Specification, Versions};
pub use table::{Table, TableError, Tables};

pub(crate) use fuld::chains::DYNAMICS_VERSION;
pub(crate) use fuld_train::spec::TRAINING_VERSION;
