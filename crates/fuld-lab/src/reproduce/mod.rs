//! The paper's figures from our own runs, and what becomes of its claims.

mod claim;
mod exhibit;

pub use claim::{Claim, Verdict};
pub use exhibit::{Exhibit, Table};
