//! The supplement's conformal Hamiltonian fields as CSV: at each (x, v) of a grid the Hamiltonian and the dissipative part.
//!
//! Usage: cargo run --release -p fuld --example conformal > fields.csv

use fuld::potential::{Cauchy, DoubleWell};
use fuld::{Potential, System};
use std::error::Error;
use std::io::Write;

const GAMMA: f64 = 1.0;

fn main() -> Result<(), Box<dyn Error>> {
    let quartic = DoubleWell::new(1, 1.0, 0.0)?;
    let cauchy = Cauchy::new(1, 1.0)?;
    let fields: [(&str, f64, System, &dyn Potential); 4] = [
        ("x^4/4, Gaussian energy", 2.0, System::fuld_gaussian(2.0, GAMMA, 1.0)?, &quartic),
        ("x^4/4, Gaussian energy", 1.7, System::fuld_gaussian(1.7, GAMMA, 1.0)?, &quartic),
        ("Cauchy, stable energy", 2.0, System::fuld(2.0, GAMMA, 1.0)?, &cauchy),
        ("Cauchy, stable energy", 1.7, System::fuld(1.7, GAMMA, 1.0)?, &cauchy),
    ];
    let mut out = std::io::stdout().lock();
    writeln!(out, "potential,alpha,x,v,transport,force,friction")?;
    for (name, alpha, system, potential) in &fields {
        for (i, j) in (-10..=10).flat_map(|i| (-10..=10).map(move |j| (i, j))) {
            let (x, v) = (0.3 * f64::from(i), 0.3 * f64::from(j));
            if let Some(field) = system.field(*potential, &[x], &[v]) {
                let (transport, force, friction) = (field.transport[0], field.force[0], field.friction[0]);
                writeln!(out, "{name:?},{alpha},{x:.1},{v:.1},{transport},{force},{friction}")?;
            }
        }
    }
    Ok(())
}
