//! How many draws the weights of many modes need: parallel tempering on 25 equal modes, 8 standard
//! deviations apart.
//!
//! ```sh
//! cargo run --release -p fuld --example mode_weights -- 20 150000   # seeds, draws per chain
//! ```
//!
//! A share p of n effective draws has the relative error √((1 − p)/(pn)). The largest of 25 · 20
//! normal errors is about 3.1 standard deviations, so that it is below 2 % for n above 580,000.

use fuld::potential::FromFn;
use fuld::{Alpha, Beta, Friction, Integrator, Run, Schedule, System, Underdamped};

/// Modes per side of the grid.
const SIDE: usize = 5;
/// Distance of neighbouring modes, in standard deviations.
const DISTANCE: f64 = 8.0;

/// Returns −log of a mixture of five Gaussians on the line, and its derivative. The mixture in the
/// plane is a product of two.
fn one(x: f64) -> (f64, f64) {
    let square = |i: usize| (x - DISTANCE * (i as f64 - 2.0)).powi(2);
    let least = (0..SIDE).map(square).fold(f64::INFINITY, f64::min);
    let terms = (0..SIDE).map(|i| (i as f64 - 2.0, (0.5 * (least - square(i))).exp()));
    let (sum, mean) =
        terms.fold((0.0, 0.0), |(sum, mean), (i, term)| (sum + term, mean + i * term));
    (0.5 * least - sum.ln(), x - DISTANCE * mean / sum)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let draws: u64 = arguments.next().map_or(Ok(10_000), |text| text.parse())?;
    let mixture = FromFn::new(
        2,
        |x: &[f64]| one(x[0]).0 + one(x[1]).0,
        |x: &[f64], g: &mut [f64]| g.copy_from_slice(&[one(x[0]).1, one(x[1]).1]),
    )?;
    let parameters =
        Underdamped { alpha: Alpha::new(1.8)?, gamma: Friction::COMPLETE, beta: Beta::ONE };
    let run = Run::new(System::fuld(parameters)?, Integrator::Exact, Schedule::constant(0.1)?);
    for seed in 0..seeds {
        let began = std::time::Instant::now();
        let run = Run { chains: 64, warmup: 500, draws, temper: 8, path: 1.0, seed, ..run.clone() };
        let samples = run.sample(&mixture)?;
        let [x, y] = [0, 1].map(|i| samples.draws.coordinate(i).concat());
        let side = |x: f64| (x / DISTANCE + 2.5).clamp(0.0, SIDE as f64 - 1.0) as usize;
        let mut counts = [0u64; SIDE * SIDE];
        x.iter().zip(&y).for_each(|(&x, &y)| counts[SIDE * side(x) + side(y)] += 1);
        let expected = x.len() as f64 / counts.len() as f64;
        let error =
            counts.iter().map(|&count| (count as f64 / expected - 1.0).abs()).fold(0.0, f64::max);
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "seed {seed}: largest relative error of a weight {:.2} %, {seconds:.0} s",
            100.0 * error
        );
    }
    Ok(())
}
