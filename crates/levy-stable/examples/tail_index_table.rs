//! Measures bias, standard deviation and coverage of the tail-index estimators and prints them as a
//! table.
//!
//! Usage: cargo run --release -p fuld --example tail_index_table [N] [REPLICATIONS] [RESAMPLES]
//! (defaults 2000 300 199: some minutes)

use levy_stable::SymmetricStable;
use levy_stable::tail_index::{
    BlockLogMoments, Bootstrap, CharacteristicRegression, Hill, IntervalEstimate, LogMoments,
    TailIndexError, TailIndexEstimator, TailSample,
};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::error::Error;

const ALPHAS: [f64; 7] = [0.6, 1.0, 1.2, 1.5, 1.75, 1.9, 2.0];

fn main() -> Result<(), Box<dyn Error>> {
    let mut settings = [2000, 300, 199];
    for (setting, argument) in settings.iter_mut().zip(std::env::args().skip(1)) {
        *setting =
            argument.parse().map_err(|_| format!("expected a whole number, got {argument:?}"))?;
    }
    let [n, replications, resamples] = settings;
    let blocks = BlockLogMoments::default();
    let (characteristic, hill) = (CharacteristicRegression::default(), Hill::default());
    let methods: [(&str, &dyn TailIndexEstimator); 4] = [
        ("blocks", &blocks),
        ("Hill", &hill),
        ("characteristic", &characteristic),
        ("log-moments", &LogMoments),
    ];
    println!(
        "n = {n}, {replications} replications, {resamples} resamples, 90 % intervals, noise scale 1\n"
    );
    println!("| method | alpha | bias | sd | coverage | bias of log scale | sd | coverage |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, method) in methods {
        for alpha in ALPHAS {
            let sampler = SymmetricStable::new(alpha)?.sampler();
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
            let bootstrap = |seed| Bootstrap { resamples, level: 0.9, seed };
            let runs = (0..replications as u64)
                .map(|seed| {
                    let mut x = vec![0.0; n];
                    sampler.fill(&mut rng, &mut x);
                    method.with_interval(&TailSample::scalars(&x)?, &bootstrap(seed))
                })
                .collect::<Result<Vec<_>, TailIndexError>>()?;
            println!("| {name} | {alpha} | {} |", row(&runs, alpha));
        }
    }
    Ok(())
}

fn row(runs: &[IntervalEstimate], alpha: f64) -> String {
    let alphas: Vec<f64> = runs.iter().map(|run| run.estimate.alpha - alpha).collect();
    let covered = runs.iter().filter(|run| run.alpha.contains(alpha)).count();
    let logs: Vec<f64> = runs.iter().filter_map(|run| run.estimate.scale).map(f64::ln).collect();
    let scale = match logs.len() {
        0 => "– | – | –".to_string(),
        _ => {
            let covered =
                runs.iter().filter(|run| run.scale.is_some_and(|s| s.contains(1.0))).count();
            cells(&logs, covered)
        }
    };
    format!("{} | {scale}", cells(&alphas, covered))
}

fn cells(errors: &[f64], covered: usize) -> String {
    let n = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / n;
    let sd = (errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    format!("{mean:+.4} | {sd:.4} | {:.0} %", 100.0 * covered as f64 / n)
}
