//! Requests to sample from exp(−βf), shared by the program `fuld` and the Python package.
//!
//! | module | contents |
//! |---|---|
//! | `names` | systems, integrators and estimators by name, with suggestions for misspelt names |
//! | `potentials` | the named potentials |
//! | `target`, `target_error` | [`Target`]: the potential of a run, from a formula, a name or any other potential |
//! | `request`, `config`, `start` | [`SampleRequest`]: partial settings, as options and as TOML |
//! | `defaults`, `seed` | all defaults, which complete a request |
//! | `spec`, `compose` | [`SampleSpec`]: complete settings, and the run that they specify |
//! | `folder`, `adapted` | the folder of a run, and the numbers that were adapted |
//! | `draw_source` | [`DrawSource`]: draws in memory or in a store |
//! | `exact`, `summary`, `proposals`, `remark`, `table`, `histogram`, `aligned` | statistics of the draws as text |
//! | `page` | statistics of the draws as an HTML page (feature `page`) |

mod adapted;
mod aligned;
mod compose;
mod config;
mod defaults;
mod draw_source;
mod error;
mod exact;
mod folder;
mod histogram;
mod names;
#[cfg(feature = "page")]
mod page;
mod potentials;
mod proposals;
mod remark;
mod request;
mod seed;
mod spec;
mod start;
mod summary;
mod table;
mod target;
mod target_error;

pub use adapted::Adapted;
pub use aligned::aligned;
pub use config::{read_config, write_config};
pub use draw_source::DrawSource;
pub use error::SamplingError;
pub use exact::Exact;
pub use folder::SampleFolder;
pub use histogram::histogram;
pub use names::{Named, UnknownName, by_name, nearest};
#[cfg(feature = "page")]
pub use page::report;
pub use potentials::{NamedPotential, potentials};
pub use proposals::Proposals;
pub use remark::{R_HAT, Remark, Section, largest};
pub use request::SampleRequest;
pub use seed::random_seed;
pub use spec::SampleSpec;
pub use start::StartingPoint;
pub use summary::{Agreement, Coordinate, Interrupted, Summary, Tails, finite};
pub use target::Target;
pub use target_error::{Outside, TargetError};
