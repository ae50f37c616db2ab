//! Shows a symmetric stable law in the terminal: its density against the Gaussian, its tail, quantiles and some draws.
//!
//! Usage: cargo run --release -p levy-stable --example law [ALPHA]

use levy_stable::{Sampler, SymmetricStable};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

fn main() -> std::process::ExitCode {
    let argument = std::env::args().nth(1).unwrap_or_else(|| "1.5".into());
    let shown =
        argument.parse().map_err(|_| format!("alpha must be a number, got {argument:?}")).and_then(show);
    match shown {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn show(alpha: f64) -> Result<(), String> {
    let law = SymmetricStable::new(alpha).map_err(|error| error.to_string())?;
    let gauss = SymmetricStable::new(2.0).expect("2 is a tail index");
    println!("SαS(1), α = {alpha}: characteristic function exp(−|ω|^{alpha})\n");

    println!("log10 density, from −6 to 0   ● α = {alpha}   ○ Gauss");
    for i in 0..=24 {
        let x = f64::from(i) * 0.5;
        println!("{x:6.1} │{}", line(law.ln_pdf(x), gauss.ln_pdf(x)));
    }

    println!("\n{:>8} {:>14} {:>14} {:>14}", "P(X>x)", "x", "score", "Gauss x");
    for e in 1..=6 {
        let q = 10f64.powi(-2 * e);
        let x = law.isf(q);
        println!("{q:>8.0e} {x:>14.6e} {:>14.6e} {:>14.6}", law.score(x), gauss.isf(q));
    }

    let mut draws = [0.0; 8];
    let sampler = Sampler::new(alpha, 1.0).map_err(|error| error.to_string())?;
    sampler.fill(&mut Xoshiro256PlusPlus::seed_from_u64(1), &mut draws);
    println!("\neight draws: {}", draws.map(|x| format!("{x:.4}")).join("  "));
    println!("entropy {:.12}, E√|X| = {:.12}", law.entropy(), law.absolute_moment(0.5));
    Ok(())
}

/// One row of the picture: two marks at their log densities.
fn line(ours: f64, gauss: f64) -> String {
    const WIDTH: f64 = 72.0;
    let column = |ln_pdf: f64| ((ln_pdf / std::f64::consts::LN_10 + 6.0) / 6.0 * WIDTH).round();
    let mut row = vec![' '; WIDTH as usize + 1];
    for (ln_pdf, mark) in [(gauss, '○'), (ours, '●')] {
        let at = column(ln_pdf);
        if at >= 0.0 {
            row[at as usize] = mark;
        }
    }
    row.into_iter().collect::<String>().trim_end().into()
}
