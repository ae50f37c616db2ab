//! Samples a two-dimensional double well into a Zarr store that ArviZ opens.
//!
//! Usage: cargo run --release -p fuld --example to_zarr DIRECTORY

use fuld::potential::DoubleWell;
use fuld::{
    Alpha, Beta, Control, Friction, Integrator, Run, Schedule, System, Underdamped, ZarrSink,
};
use std::process::ExitCode;

fn main() -> ExitCode {
    match sample() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn sample() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("name a directory for the draws")?;
    let parameters =
        Underdamped { alpha: Alpha::new(1.5)?, gamma: Friction::new(10.0)?, beta: Beta::ONE };
    let run = Run {
        draws: 2000,
        thin: 10,
        velocities: true,
        ..Run::new(System::fuld(parameters)?, Integrator::Baoab, Schedule::constant(0.05)?)
    };
    let potential = DoubleWell::new(2, 1.0, 1.0)?;
    let outcome =
        run.stream(&potential, &mut ZarrSink::new(&directory), &mut |_| Control::Continue)?;
    println!("{} draws of {} chains in {directory}", outcome.draws, run.chains);
    Ok(())
}
