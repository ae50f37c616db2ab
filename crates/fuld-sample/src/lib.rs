//! Requests to sample from exp(−βf), shared by the program `fuld` and the Python package.
//!
//! | module | contents |
//! |---|---|
//! | `names` | systems, integrators and estimators by name, with suggestions for misspelt names |
//! | `potentials` | the named potentials |
//! | `target` | [`Target`]: the potential of a run, from a formula, a name or any other potential |
//! | `system_defaults` | default step, integrator and time between draws of each system |
//! | `recipe` | [`Recipe`]: a run from partial settings |
//! | `request`, `spec`, `config`, `start` | a recipe with its target as options and as TOML |
//! | `folder` | the folder of a run |
//! | `exact`, `summary`, `table`, `histogram`, `aligned` | statistics of the draws as text |
//! | `page` | statistics of the draws as an HTML page (feature `page`) |

mod aligned;
mod config;
mod error;
mod exact;
mod folder;
mod histogram;
mod names;
#[cfg(feature = "page")]
mod page;
mod potentials;
mod recipe;
mod request;
mod spec;
mod start;
mod summary;
mod system_defaults;
mod table;
mod target;

pub use aligned::aligned;
pub use config::{read_config, write_config};
pub use error::SamplingError;
pub use exact::Exact;
pub use folder::SampleFolder;
pub use histogram::histogram;
pub use names::{Named, UnknownName, by_name, nearest};
#[cfg(feature = "page")]
pub use page::report;
pub use potentials::{NamedPotential, potential_by_name, potentials};
pub use recipe::{CompleteRecipe, Recipe, RecipeError};
pub use request::SampleRequest;
pub use spec::SampleSpec;
pub use start::StartingPoint;
pub use summary::{Agreement, Coordinate, Interrupted, Summary, Tails, finite};
pub use target::{Outside, Target, TargetError};
