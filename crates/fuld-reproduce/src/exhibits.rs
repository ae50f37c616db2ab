//! The exhibits, in the order of the report.

use super::exhibit::Exhibit;
use super::table::Tables;
use super::{
    averages, beta, calibration, conformal, fields, gaussian, invariant, iterates, law, levy, networks,
    orders, overdamped, systems, text, unported,
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
        study("networks", "Networks", "networks, with their controls", 75.0, true, networks::make),
        study(
            "calibration",
            "Calibration",
            "α and scale estimated from the gradients",
            70.0,
            true,
            calibration::make,
        ),
        conformal::EXHIBIT,
        beta::EXHIBIT,
        orders::EXHIBIT,
        gaussian::EXHIBIT,
        study(
            "text",
            "Beyond the paper · Text with a power-law vocabulary",
            "text with a power-law vocabulary",
            75.0,
            false,
            text::make,
        ),
        law::EXHIBIT,
    ]
}

/// Wraps a study that is not yet written in this form.
fn study(
    id: &'static str,
    title: &'static str,
    shows: &'static str,
    seconds: f64,
    trains: bool,
    make: unported::Make,
) -> Exhibit {
    Exhibit {
        id,
        title,
        shows,
        seconds,
        version: 1,
        trains,
        settings: |_| Ok(toml::Table::new()),
        experiment: |_| Ok(Tables::default()),
        text: |_| Ok(String::new()),
        claims: |_| Ok(Vec::new()),
        figures: |_| Ok(Vec::new()),
        shown: |_| Ok(Vec::new()),
        unported: Some(make),
    }
}
