//! Exact sampling: generalised Hamiltonian Monte Carlo with any kinetic energy, the α-stable one
//! above all.
//!
//! One iteration of a chain (x, v) at inverse temperature β:
//!
//! 1. friction and noise act on v over the time of the iteration, which leaves e^(−βg) exactly
//!    invariant;
//! 2. L leapfrog steps of f + g, in coordinates divided by their scales, propose (x′, v′);
//! 3. the proposal is accepted with probability min(1, e^(−βΔ(f + g))); otherwise x stays and v is
//!    reversed.
//!
//! The stationary law is e^(−βf) at every step size. Step, scales and paths are adapted over all
//! chains before the first draw.
//!
//! | module | contents |
//! |---|---|
//! | `transition` | one iteration of a batch of chains |
//! | `tuning` | [`Tuning`]: what is adapted, and what a run reports |
//! | `descent` | from the starting points to the neighbourhood of the typical set |
//! | `adaptation` | step by dual averaging, scales over windows, paths from turning times |
//! | `ladder`, `trips`, `levels` | the inverse temperatures of parallel tempering, round trips between them, and the adaptation of them all |

mod adaptation;
mod descent;
mod ladder;
mod levels;
mod transition;
mod trips;
mod tuning;

pub(crate) use descent::descend;
pub(crate) use levels::Levels;
pub(crate) use transition::{Iteration, Transition, happens};
pub use tuning::Tuning;
