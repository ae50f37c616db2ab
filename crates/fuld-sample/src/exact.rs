//! The exact marginal laws of the target, where quadrature can compute them.

use crate::spec::SampleSpec;
use crate::target::Target;
use fuld::gibbs::Gibbs;

/// Longest formula, in bytes, whose marginal laws in two dimensions are computed. They take some
/// ten million values of f: a second for a short formula, half a minute for a mixture of many
/// Gaussians.
const LONGEST: usize = 256;

/// The marginal laws of e^(−βf).
#[derive(Clone, Debug)]
pub enum Exact {
    /// One law for every coordinate.
    Each(Box<Gibbs>),
    /// The laws of two coordinates.
    Two(Box<[Gibbs; 2]>),
    /// The laws are not known: the reason why e^(−βf) cannot be normalised, or `None` if the
    /// dimension is too high for quadrature, or the formula too long.
    Unknown(Option<String>),
}

impl Exact {
    /// Computes the laws by quadrature: in one or two dimensions, or where the coordinates are
    /// independent.
    pub fn new(spec: &SampleSpec, target: &Target) -> Self {
        let beta = spec.parameters().beta;
        if let Some(name) = target.flat_coordinate() {
            return Self::Unknown(Some(format!(
                "exp(-beta f) cannot be normalised: f does not depend on {name}; add a term that confines it, or lower the dimension"
            )));
        }
        if let Some(f) = target.one_coordinate() {
            return match Gibbs::new(f, beta) {
                Ok(gibbs) => Self::Each(Box::new(gibbs)),
                Err(error) => Self::Unknown(Some(error.to_string())),
            };
        }
        if target.dim() != 2 || spec.target_text().len() > LONGEST {
            return Self::Unknown(None);
        }
        match Gibbs::marginals(target.potential(), beta) {
            Ok(laws) => Self::Two(Box::new(laws)),
            Err(error) => Self::Unknown(Some(error.to_string())),
        }
    }

    /// Returns the law of a coordinate.
    pub fn of(&self, coordinate: usize) -> Option<&Gibbs> {
        match self {
            Self::Each(law) => Some(law),
            Self::Two(laws) => laws.get(coordinate),
            Self::Unknown(_) => None,
        }
    }
}
