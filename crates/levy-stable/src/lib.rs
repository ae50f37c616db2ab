//! Draft.
mod alpha;
mod angles;
mod closed;
mod contour;
mod elementary;
mod error;
mod local;
mod moments;
mod path;
mod piecewise;
mod quantile;
mod sampler;
mod score_table;
mod simd;
mod symmetric;
mod tail;
mod unit;

pub use alpha::Alpha;
pub use error::ParameterError;
pub use path::LevyMotion;
pub use sampler::Sampler;
pub use score_table::ScoreTable;
pub use symmetric::SymmetricStable;
pub use unit::Regime;
