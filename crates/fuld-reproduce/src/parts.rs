//! The parts of the reproduction, in the order of the report.

use super::exhibit::Exhibit;
use super::lab::Lab;
use super::training::{Training, Watch};
use super::{
    averages, calibration, conformal, fields, gaussian, invariant, iterates, law, levy, networks, orders,
    overdamped, systems, temperature, text,
};
use std::path::Path;

/// A part: what makes one exhibit.
#[derive(Clone, Copy)]
pub struct Part {
    /// What `--only` knows it by.
    pub id: &'static str,
    /// What it shows, in a few words.
    pub shows: &'static str,
    /// About how many seconds it takes on two cores: what a progress bar weighs it by.
    pub seconds: f64,
    /// How it is made.
    pub make: Make,
}

/// Trains networks in a folder, and gives a section for each data set; none if whoever watches said stop.
pub type Train = fn(&Training, &Path, &Watch<'_>) -> anyhow::Result<Option<Vec<Exhibit>>>;

/// How a part is made.
#[derive(Clone, Copy)]
pub enum Make {
    /// At once, in seconds.
    Exhibit(fn(&Lab) -> anyhow::Result<Exhibit>),
    /// By training networks, in minutes or more.
    Trained(Train),
}

/// All parts.
pub fn parts() -> Vec<Part> {
    let part = |id, shows, seconds, make| Part { id, shows, seconds, make: Make::Exhibit(make) };
    let trained = |id, shows, seconds, make| Part { id, shows, seconds, make: Make::Trained(make) };
    vec![
        part("fig1", "stable densities and Lévy paths", 1.0, levy::make),
        part("systems", "every dynamics the paper names", 6.0, systems::make),
        part("fig2", "the drift c and the field ∇G", 2.0, |_| fields::make()),
        part("averages", "averages along decreasing steps", 5.0, averages::make),
        part("fig3", "invariant measures for the quartic potential", 5.0, invariant::make),
        part("fig4", "iterates, and which step is too large", 5.0, iterates::make),
        part("overdamped", "much friction", 4.0, overdamped::make),
        trained("networks", "networks, with their controls", 75.0, networks::run),
        trained("calibration", "α and scale from the gradients themselves", 70.0, calibration::run),
        part("conformal", "conformal Hamiltonian fields", 4.0, |_| conformal::make()),
        part("temperature", "every temperature", 6.0, temperature::make),
        part("orders", "integrators and their orders", 12.0, orders::make),
        part("gaussian", "the Gaussian kinetic energy, working", 5.0, gaussian::make),
        part("text", "text with a power-law vocabulary", 75.0, text::make),
        part("law", "error and speed of the law", 3.0, law::make),
    ]
}
