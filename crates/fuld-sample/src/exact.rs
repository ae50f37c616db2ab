//! The law that draws should have, where it can be computed.

use crate::settings::Settings;
use crate::target::Target;
use fuld::gibbs::{Gibbs, GibbsError};

/// The marginal laws of e^(−βf).
#[derive(Clone, Debug)]
pub enum Exact {
    /// The same for every coordinate.
    Each(Box<Gibbs>),
    /// Of two coordinates.
    Two(Box<[Gibbs; 2]>),
    /// There is no law to compare with, and this is why; nothing if it is only that nobody can compute it.
    Unknown(Option<GibbsError>),
}

impl Exact {
    /// By quadrature in one dimension, or two, or where the coordinates are independent.
    pub fn new(settings: &Settings, target: &Target) -> Self {
        let beta = settings.recipe.parameters().beta.get();
        if let Some(f) = target.one_coordinate() {
            return match Gibbs::new(f, beta) {
                Ok(gibbs) => Self::Each(Box::new(gibbs)),
                Err(error) => Self::Unknown(Some(error)),
            };
        }
        if target.dim() != 2 {
            return Self::Unknown(None);
        }
        match Gibbs::marginals(target.potential(), beta) {
            Ok(laws) => Self::Two(Box::new(laws)),
            Err(error) => Self::Unknown(Some(error)),
        }
    }

    /// The law of a coordinate.
    pub fn of(&self, coordinate: usize) -> Option<&Gibbs> {
        match self {
            Self::Each(law) => Some(law),
            Self::Two(laws) => laws.get(coordinate),
            Self::Unknown(_) => None,
        }
    }
}
