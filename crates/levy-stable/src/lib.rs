//! The symmetric α-stable law SαS(σ), with characteristic function exp(−|σω|^α), 0 < α ≤ 2,
//! evaluated to double precision for every α and x.
//!
//! ```
//! use levy_stable::SymmetricStable;
//! # fn main() -> Result<(), levy_stable::ParameterError> {
//! let law = SymmetricStable::new(1.5)?;
//! println!("{} {} {}", law.pdf(2.0), law.sf(2.0), law.score(2.0));
//! println!("{}", law.isf(1e-9)); // exceeded once in a billion draws
//! # Ok(())
//! # }
//! ```
//!
//! - [`SymmetricStable`]: density, distribution, quantile, score d/dx ln ψ and its derivative,
//!   moments, entropy, single draws.
//! - [`FieldTable`]: the kinetic-energy field ∇G_α of fractional underdamped Langevin dynamics, 300
//!   million evaluations per second in double precision and three billion in single.
//! - [`table`]: the engine of such tables, and their serialised form for other devices, for one α
//!   or for a band of α.
//! - [`Sampler`]: draws in bulk, 200 million per second.
//! - [`LevyMotion`]: paths with stable increments.
//! - [`tail_index`]: estimators of α and σ from data, with intervals.
//! - [`random`]: counter-based random words, Philox4x32-10.
//!
//! # Conventions
//!
//! α = 2 is the Gaussian of variance 2σ², α = 1 the Cauchy law of scale σ. In SciPy the law is
//! `levy_stable(alpha, 0, scale=σ)`; in Nolan's notation it is S(α, 0, σ, 0; k) for any
//! parametrisation k. The *score* is d/dx ln ψ(x), as in score matching and diffusion models:
//! negative for x > 0. The field ∇G_α is minus the score of [`SymmetricStable::kinetic`].
//!
//! # Regimes
//!
//! | [`Regime`] | where | formula |
//! |---|---|---|
//! | `Closed` | α = 1, α = 2 | Cauchy, Gauss |
//! | `Origin` | x so small that x² is lost | ψ(0), g″(0) in Γ functions |
//! | `Tail` | x ≥ x₁(α), which is of order 1 to 10 | series in x^(−α), at most 32 terms |
//! | `Contour` | between `Origin` and `Tail` | trapezoidal rule on Zolotarev's contour |
//!
//! The contour is the path t = r e^(iφ) on which the exponent of ψ(x) = Re ∫₀^∞ e^(−tᵅ + itx) dt/π
//! is real, −h. Integrated by parts, every quantity is the mean of a coordinate of that path over
//! an exponentially distributed h:
//!
//! > P(X > x) = ⟨π/2 − φ⟩/π,  ψ = ⟨r cos φ⟩/π,  −ψ′ = ⟨r² sin φ cos φ⟩/π,  ψ″ = −⟨r³ cos 3φ⟩/(3π).
//!
//! The first three are means of positive numbers, so nothing cancels in the far tail or near α = 2,
//! where a Gaussian bulk falls by many decades before a power tail of weight ∝ 2 − α takes over.
//! With a suitable parameter along the path the formulas are smooth at α = 1. About fifty nodes
//! give full precision, evaluated eight at a time in vector registers.
//!
//! # Accuracy
//!
//! Largest errors at any x, measured against ball arithmetic on the 24,000 random points of the
//! tests and on many more:
//!
//! | function | error relative to | 0.3 ≤ α ≤ 2 | 0.003 ≤ α < 0.3 |
//! |---|---|---|---|
//! | `pdf`, `sf`, `score` | the value | 2e-14, typically 5e-16 | 1e-12 |
//! | `score_derivative` s′ | \|s′\| + s² | 1e-12 | 1e-12; near the zero of s′ for α < 0.1: 4e-9 |
//!
//! Every function is symmetric to the last bit and returns the same bits on every machine and
//! instruction set.

mod alpha;
mod angles;
mod closed;
mod contour;
mod elementary;
mod error;
mod local;
mod moments;
mod path;
mod quantile;
pub mod quantiles;
pub mod random;
mod sampler;
mod simd;
mod symmetric;
pub mod table;
mod tail;
pub mod tail_index;
mod unit;

pub use alpha::Alpha;
#[doc(hidden)]
pub use elementary::{exp, ln};
pub use error::ParameterError;
pub use path::LevyMotion;
pub use sampler::{QuantileData, Sampler};
#[doc(hidden)]
pub use simd::with_best_instructions;
pub use symmetric::SymmetricStable;
pub use table::{FieldTable, Lanes};
pub use unit::Regime;
