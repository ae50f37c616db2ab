//! Writes paths of symmetric stable Lévy motion on [0, 1] as CSV: one column a tail index, all with
//! the same seed.
//!
//! Usage: cargo run --release -p levy-stable --example paths -- ALPHA...

use levy_stable::SymmetricStable;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io::Write;

const STEPS: usize = 2000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let mut columns = Vec::new();
    for name in &names {
        let alpha: f64 =
            name.parse().map_err(|_| format!("a tail index must be a number, got {name:?}"))?;
        let motion = SymmetricStable::new(alpha)?.motion(1.0 / STEPS as f64)?;
        columns.push(motion.path(&mut Xoshiro256PlusPlus::seed_from_u64(7), STEPS));
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "t,{}", names.join(","))?;
    for i in 0..=STEPS {
        let values: Vec<String> = columns.iter().map(|path| path[i].to_string()).collect();
        writeln!(out, "{},{}", i as f64 / STEPS as f64, values.join(","))?;
    }
    Ok(())
}
