//! Prints the efficiency of clipping at c times the geometric mean, for SαS noise of tail index α
//! and small signals.
//!
//!     cargo run --release -p fuld --example guard_efficiency

use fuld::guard::efficiency::{of_clipping, of_monotone_score};
use levy_stable::ParameterError;

const ALPHAS: [f64; 11] = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0];
const CLIPS: [f64; 15] =
    [0.25, 0.5, 0.75, 0.9, 0.95, 1.0, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0];

fn main() -> Result<(), ParameterError> {
    let row = |name: &str, values: &[f64]| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let cells: String = values.iter().map(|value| format!("{value:>7.3}")).collect();
        println!("{name:>8}{cells}{least:>8.3}");
    };
    let heads: String = ALPHAS.iter().map(|alpha| format!("{alpha:>7}")).collect();
    println!("{:>8}{heads}{:>8}", "c \\ α", "least");
    for clip in CLIPS {
        let values =
            ALPHAS.iter().map(|&alpha| of_clipping(clip, alpha)).collect::<Result<Vec<_>, _>>()?;
        row(&clip.to_string(), &values);
    }
    let values =
        ALPHAS.iter().map(|&alpha| of_monotone_score(alpha)).collect::<Result<Vec<_>, _>>()?;
    row("score", &values);
    // The c whose least efficiency over α is greatest, on a grid of 0.001.
    let least = |clip: f64| {
        let all = ALPHAS.iter().map(|&alpha| of_clipping(clip, alpha));
        all.into_iter().try_fold(1.0, |least, value| value.map(|value| f64::min(least, value)))
    };
    let mut best = (0.0, 0.0);
    for clip in (900..1200).map(|thousandths| f64::from(thousandths) / 1000.0) {
        let value = least(clip)?;
        if value > best.1 {
            best = (clip, value);
        }
    }
    println!("minimax: c = {:.3}, at least {:.4}", best.0, best.1);
    Ok(())
}
