//! The exhibits, in the order of the report.

use super::exhibit::Exhibit;
use super::{
    averages, beta, calibration, conformal, fields, gaussian, invariant, iterates, law, levy, networks,
    orders, overdamped, systems, text,
};

/// Returns all exhibits.
pub fn exhibits() -> Vec<Exhibit> {
    vec![
        levy::EXHIBIT,
        systems::EXHIBIT,
        fields::EXHIBIT,
        averages::EXHIBIT,
        invariant::EXHIBIT,
        iterates::EXHIBIT,
        overdamped::EXHIBIT,
        networks::EXHIBIT,
        calibration::EXHIBIT,
        conformal::EXHIBIT,
        beta::EXHIBIT,
        orders::EXHIBIT,
        gaussian::EXHIBIT,
        text::EXHIBIT,
        law::EXHIBIT,
    ]
}
