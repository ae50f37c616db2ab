//! Beyond the paper: accuracy and speed of the stable law on this machine.

use crate::{CaptionedFigure, Claim, Context, Exhibit, Judgement, TextTable, list};
use fuld::random::{Purpose, Stream};
use fuld_plot::{Axis, Figure, Hue, Panel};
use levy_stable::{FieldTable, SymmetricStable};
use serde::Deserialize;
use std::hint::black_box;
use std::time::Instant;

/// Values to 30 digits by ball arithmetic, made by `make golden`.
const REFERENCE: &str = include_str!("law_reference.csv");
const SPEED_ALPHAS: [f64; 3] = [0.8, 1.5, 1.9];
/// The accuracy that the documentation promises.
const PROMISED: f64 = 2e-14;

/// A point at which the exact values are known.
#[derive(Deserialize)]
struct Reference {
    alpha: f64,
    x: f64,
    pdf: f64,
    sf: f64,
    score: f64,
}

fn reference() -> Result<Vec<Reference>, csv::Error> {
    let mut reader =
        csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(REFERENCE.as_bytes());
    reader.deserialize().collect()
}

results! {
    /// Accuracy and speed of the law.
    Law {
        /// Relative errors at a point.
        errors: Errors { alpha: f64, x: f64, pdf_error: f64, sf_error: f64, score_error: f64 },
        speed: Speed { function: String, alpha: f64, million_per_second: f64 },
    }
}

type Kind = (&'static str, fn(&Errors) -> f64, Hue);

const KINDS: [Kind; 3] = [
    ("pdf", |e| e.pdf_error, Hue::Blue),
    ("sf", |e| e.sf_error, Hue::Orange),
    ("score", |e| e.score_error, Hue::Green),
];

impl Exhibit for Law {
    const ID: &'static str = "law";
    const TITLE: &'static str = "Beyond the paper · The law, to the last digit";
    const SHOWS: &'static str = "beyond the paper: accuracy and speed of the law";
    const SECONDS: f64 = 0.5;

    settings! { reference_digits: 30, reference_points: reference()?.len(), speed_alpha: SPEED_ALPHAS }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        let mut errors = Vec::new();
        for Reference { alpha, x, pdf, sf, score } in reference()? {
            context.check_stop()?;
            let law = SymmetricStable::new(alpha)?;
            let error = |ours: f64, exact: f64| {
                if exact == 0.0 { ours.abs() } else { (ours / exact - 1.0).abs() }
            };
            errors.push(Errors {
                alpha,
                x,
                pdf_error: error(law.pdf(x), pdf),
                sf_error: error(law.sf(x), sf),
                score_error: error(law.score(x), score),
            });
        }
        Ok(Self { errors, speed: speeds(context)? })
    }

    fn text(&self) -> String {
        "The paper evaluates ∇G_α with external software for one α at a time and interpolates. Here every function of the law is one \
         positive integral, accurate to a few units in the last place for every α and x. The reference is ball arithmetic; the speed is \
         that of one core of this machine."
            .into()
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        let title = format!("largest relative error of {} random points, by α", self.errors.len());
        let mut panel = Panel::new(title)
            .x(Axis::linear("α").range(0.25, 2.05))
            .y(Axis::log("relative error").range(1e-16, 1e-13))
            .horizontal(f64::EPSILON, "one unit in the last place")
            .horizontal(PROMISED, "documented accuracy");
        for (name, error, hue) in KINDS {
            panel = panel.joined(hue, name, self.largest(error));
        }
        let figure = Figure::new("law").columns(1).panel_height(300.0).panel(panel);
        vec![CaptionedFigure::new(
            figure,
            "The largest errors against ball arithmetic, in bins of α.",
        )]
    }

    fn shown(&self) -> Vec<TextTable> {
        let columns = std::iter::once("million per second".to_owned())
            .chain(SPEED_ALPHAS.map(|a| format!("α = {a}")));
        let rows = self.speed.iter().filter(|s| s.alpha == SPEED_ALPHAS[0]).map(|first| {
            let of_function = self.speed.iter().filter(|s| s.function == first.function);
            let cells = of_function.map(|s| match s.million_per_second {
                slow if slow < 10.0 => format!("{slow:.2}"),
                fast => format!("{fast:.0}"),
            });
            std::iter::once(first.function.clone()).chain(cells)
        });
        vec![TextTable::new(columns, rows)]
    }

    fn claims(&self) -> Vec<Claim> {
        let worst =
            KINDS.map(|(name, error, _)| (name, self.errors.iter().map(error).fold(0.0, f64::max)));
        let text = list(&worst, |(name, error)| format!("{name} {error:.1e}"));
        let holds = !self.errors.is_empty() && worst.iter().all(|(_, error)| *error < PROMISED);
        vec![Claim::ours(
            "accuracy",
            "Density, survival function and score have relative errors below 2·10⁻¹⁴ for 0.3 ≤ α ≤ 2.",
            format!("Largest of {} random points: {text}.", self.errors.len()),
            Judgement::of([(holds, format!("the largest errors are {text}"))]),
        )]
    }
}

impl Law {
    /// Returns the largest error in each bin of α.
    fn largest(&self, error: fn(&Errors) -> f64) -> Vec<(f64, f64)> {
        const WIDTH: f64 = 0.1;
        let in_bin = |low: f64| {
            let bin = self.errors.iter().filter(|e| (low..=low + WIDTH).contains(&e.alpha));
            (low + 0.5 * WIDTH, bin.map(error).fold(1e-16, f64::max))
        };
        (3..20).map(|i| in_bin(WIDTH * f64::from(i))).collect()
    }
}

/// Returns millions of evaluations per second, the best of several tries.
fn speed(count: usize, mut work: impl FnMut()) -> f64 {
    let tries = (0..7).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    });
    count as f64 / tries.fold(f64::INFINITY, f64::min) / 1e6
}

fn speeds(context: &Context<'_>) -> anyhow::Result<Vec<Speed>> {
    const COUNT: usize = 20_000;
    const MANY: usize = 1 << 20;
    let (x, many) = (context.noise(1.5, 1, COUNT)?, context.noise(1.5, 2, MANY)?);
    let single: Vec<f32> = many.iter().map(|&x| x as f32).collect();
    let words: Vec<u64> =
        Stream::new(context.seed, 0, Purpose::Measurement).words().take(MANY).collect();
    let (mut out, mut bulk, mut bulk_single) =
        (vec![0.0; COUNT], vec![0.0; MANY], vec![0.0f32; MANY]);
    let mut all = Vec::new();
    for alpha in SPEED_ALPHAS {
        let law = SymmetricStable::new(alpha)?;
        let (table, sampler) = (FieldTable::new(alpha)?, law.sampler());
        let mut add = |function: &str, million_per_second: f64| {
            all.push(Speed { function: function.into(), alpha, million_per_second });
            context.check_stop()
        };
        add("pdf", speed(COUNT, || law.pdf_into(black_box(&x), &mut out)))?;
        add("sf", speed(COUNT, || law.sf_into(black_box(&x), &mut out)))?;
        add("score", speed(COUNT, || law.score_into(black_box(&x), &mut out)))?;
        add("∇G_α table, f64", speed(MANY, || table.eval_into(black_box(&many), &mut bulk)))?;
        add(
            "∇G_α table, f32",
            speed(MANY, || table.eval_into_f32(black_box(&single), &mut bulk_single)),
        )?;
        add("draws", speed(MANY, || sampler.transform(black_box(&words), &mut bulk)))?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn the_reference_is_read_whole() {
        let points = reference().unwrap();
        assert_eq!(
            points.len(),
            REFERENCE.lines().filter(|line| !line.starts_with('#')).count() - 1
        );
        assert!(points.len() > 1000 && points.iter().all(|p| p.pdf > 0.0));
    }

    #[test]
    fn a_large_error_is_seen() {
        let verdict = |sf_error: f64| {
            let errors =
                vec![Errors { alpha: 1.0, x: 1.0, pdf_error: 1e-15, sf_error, score_error: 1e-15 }];
            Law { errors, speed: Vec::new() }.claims()[0].verdict
        };
        assert_eq!((verdict(1e-15), verdict(1e-13)), (Verdict::Holds, Verdict::Fails));
    }
}
