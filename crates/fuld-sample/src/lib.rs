//! Sampling from exp(−βf): what is asked for, the chains, and what came out of them.

mod aligned;
mod config;
mod error;
mod exact;
mod folder;
mod histogram;
mod named;
mod page;
mod request;
mod settings;
mod start;
mod summary;
mod table;

pub use aligned::aligned;
pub use config::{read_config, write_config};
pub use error::SamplingError;
pub use exact::Exact;
pub use folder::{Content, SampleFolder};
pub use histogram::histogram;
pub use page::report;
pub use request::Request;
pub use settings::Settings;
pub use start::StartingPoint;
pub use summary::finite;
pub use summary::{Agreement, Coordinate, Interrupted, Summary, Tails};
