//! The HTML page of a run: statistics, densities, traces, autocorrelations and ranks.

use crate::exact::Exact;
use crate::spec::SampleSpec;
use crate::summary::{Summary, finite};
use crate::target::Target;
use fuld::ZarrDraws;
use fuld::diagnostics::{KernelDensity, Sample, autocorrelation};
use fuld::gibbs::Gibbs;
use fuld_plot::page::{escape, page};
use fuld_plot::{Axis, Figure, Hue, Panel};

/// Number of coordinates drawn.
const DRAWN: usize = 4;
/// Colours of the chains whose traces and ranks are drawn.
const CHAINS: [Hue; 4] = [Hue::Blue, Hue::Vermillion, Hue::Green, Hue::Purple];
/// Points per curve.
const POINTS: usize = 300;
/// Bins of the rank histograms.
const RANK_BINS: usize = 20;

/// Returns the page as one HTML file.
pub fn report(
    draws: &ZarrDraws,
    summary: &Summary,
    spec: &SampleSpec,
    target: &Target,
    exact: &Exact,
) -> anyhow::Result<String> {
    let title = format!("Draws from {}", spec.target_text());
    let mut body = format!(
        "<h1>{}</h1>\n<p class=\"lead\">{}</p>\n<p>{}</p>\n{}",
        escape(&title),
        escape(&spec.headline()),
        escape(&amount(summary)),
        tables(summary)
    );
    for remark in summary.remarks(spec) {
        body += &format!("<p class=\"soft\">{}</p>\n", escape(&remark.to_string()));
    }
    if !summary.coordinates.is_empty() {
        let coordinates = draws.dim().min(DRAWN);
        let mut figures = Figures::new(coordinates);
        for (i, chains) in draws.coordinates(0..coordinates)?.into_iter().enumerate() {
            figures.add(target.name(i), &finite(chains), exact.of(i), spec)?;
        }
        body += &figures.sections(draws.dim(), exact.of(0).is_some());
    }
    body += &format!(
        "<h2>Settings</h2>\n<pre>{}</pre>\n<footer>Draws in <code>draws.zarr</code>, for ArviZ and xarray; the same numbers in \
         <code>summary.csv</code>; <code>fuld sample --config config.toml</code> runs it again.</footer>\n",
        escape(&spec.text())
    );
    Ok(page(&title, &body))
}

fn amount(summary: &Summary) -> String {
    let kept = summary.chains - summary.diverged;
    let diverged = if summary.diverged > 0 {
        format!("; {} diverged", summary.diverged)
    } else {
        String::new()
    };
    format!("{} draws of each of {kept} chains{diverged}.", summary.draws)
}

fn tables(summary: &Summary) -> String {
    let mut html = String::new();
    for table in summary.tables(true) {
        let cells = |tag: &str, cells: Vec<String>| {
            let cells: String =
                cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let head = cells("th", table.columns.iter().map(ToString::to_string).collect());
        let rows: String = table.rows.into_iter().map(|row| cells("td", row)).collect();
        html += &format!("<div class=\"scroll\"><table>\n{head}{rows}</table></div>\n");
    }
    if summary.coordinates.iter().any(|c| c.ks.is_some()) {
        html += "<p class=\"soft\">KS: the Kolmogorov–Smirnov distance of the draws from the exact law. Noise: its 95 % quantile for \
                 as many independent draws as the effective sample size.</p>\n";
    }
    if summary.hidden() > 0 {
        html += &format!(
            "<p class=\"soft\">The first coordinates and those with the largest R-hat; {} more are in <code>summary.csv</code>.</p>\n",
            summary.hidden()
        );
    }
    html
}

/// The figures, with one panel per coordinate.
struct Figures {
    density: Figure,
    trace: Figure,
    autocorrelation: Figure,
    ranks: Figure,
}

impl Figures {
    fn new(coordinates: usize) -> Self {
        let figure = |name: &str| Figure::new(name).columns(coordinates.min(2));
        Self {
            density: figure("density"),
            trace: figure("trace"),
            autocorrelation: figure("autocorrelation"),
            ranks: figure("ranks"),
        }
    }

    fn add(
        &mut self,
        name: &str,
        chains: &[Vec<f64>],
        exact: Option<&Gibbs>,
        spec: &SampleSpec,
    ) -> anyhow::Result<()> {
        let sample = Sample::new(chains.concat())?;
        let place = |figure: &mut Figure, panel: Panel| *figure = figure.clone().panel(panel);
        // A chain at rest has neither density nor ranks.
        if let Ok(density) = density(name, &sample, exact, spec) {
            place(&mut self.density, density);
            let ranks = ranks(&sample, chains);
            place(&mut self.autocorrelation, correlation(name, &ranks));
            place(&mut self.ranks, rank_histogram(name, &ranks, sample.len()));
        }
        place(&mut self.trace, trace(name, chains, &sample));
        Ok(())
    }

    fn sections(&self, dim: usize, exact: bool) -> String {
        let few = if dim > DRAWN {
            format!(" The first {DRAWN} of {dim} coordinates.")
        } else {
            String::new()
        };
        let against = if exact { ", against exp(−βf) normalised by quadrature" } else { "" };
        let section = |heading: &str, figure: &Figure, caption: &str| {
            format!(
                "<h2>{heading}</h2>\n<figure>\n{}<figcaption>{caption}</figcaption>\n</figure>\n",
                figure.inline()
            )
        };
        [
            section(
                "Density",
                &self.density,
                &format!("A kernel estimate over the body of all draws{against}.{few}"),
            ),
            section(
                "Trace",
                &self.trace,
                "Some chains. Long chains show the smallest and largest draw of each stretch; far jumps are clipped.",
            ),
            section(
                "Autocorrelation",
                &self.autocorrelation,
                "Autocorrelation of the ranks, which exists for any tails; mean over all chains.",
            ),
            section(
                "Ranks",
                &self.ranks,
                "Ranks of the draws of some chains among all draws. Chains that agree are flat up to noise.",
            ),
        ]
        .concat()
    }
}

fn density(
    name: &str,
    sample: &Sample,
    exact: Option<&Gibbs>,
    spec: &SampleSpec,
) -> Result<Panel, fuld::diagnostics::DiagnosticError> {
    let grid: Vec<(f64, f64)> = KernelDensity::new(sample)?.grid().collect();
    let every = (grid.len() / POINTS).max(1);
    let estimate: Vec<(f64, f64)> = grid.iter().copied().step_by(every).collect();
    let places: Vec<f64> = estimate.iter().map(|(x, _)| *x).collect();
    let hue = if spec.is_exact() { Hue::Blue } else { Hue::Vermillion };
    let mut panel = Panel::new(name).x(Axis::linear(name)).y(Axis::linear("density"));
    panel = panel.area(hue, "draws", estimate);
    if let Some(law) = exact {
        let curve = places.iter().map(|&x| (x, law.density(x))).collect();
        panel = panel.line(Hue::Ink, "exact", curve);
    }
    Ok(panel)
}

fn trace(name: &str, chains: &[Vec<f64>], sample: &Sample) -> Panel {
    let quantile = |p: f64| sample.quantile(p).unwrap_or(0.0);
    let (low, high) = (quantile(0.001), quantile(0.999));
    let margin = 0.08 * (high - low).max(1e-12);
    let (low, high) = (low - margin, high + margin);
    let mut panel = Panel::new(name).x(Axis::linear("draw")).y(Axis::linear(name).range(low, high));
    for (i, (chain, hue)) in chains.iter().zip(CHAINS).enumerate() {
        let line = decimated(chain).into_iter().map(|(k, x)| (k, x.clamp(low, high))).collect();
        panel = panel.thin(hue, format!("chain {i}"), line);
    }
    panel
}

/// Reduces a series to a few hundred points: the smallest and the largest of each stretch, in their
/// order.
fn decimated(series: &[f64]) -> Vec<(f64, f64)> {
    const STRETCHES: usize = 400;
    let length = series.len().div_ceil(STRETCHES).max(1);
    if length <= 2 {
        return series.iter().enumerate().map(|(i, &x)| (i as f64, x)).collect();
    }
    let mut points = Vec::new();
    for (number, stretch) in series.chunks(length).enumerate() {
        let numbered = || stretch.iter().copied().enumerate();
        let least = numbered().min_by(|a, b| a.1.total_cmp(&b.1));
        let most = numbered().max_by(|a, b| a.1.total_cmp(&b.1));
        let mut ends: Vec<(usize, f64)> = least.into_iter().chain(most).collect();
        ends.sort_by_key(|(i, _)| *i);
        ends.dedup();
        points.extend(ends.into_iter().map(|(i, x)| ((number * length + i) as f64, x)));
    }
    points
}

/// Returns the rank of each draw among all draws.
fn ranks(sample: &Sample, chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let rank = |x: &f64| sample.sorted().partition_point(|y| y < x) as f64;
    chains.iter().map(|chain| chain.iter().map(rank).collect()).collect()
}

fn correlation(name: &str, ranks: &[Vec<f64>]) -> Panel {
    const LAGS: usize = 60;
    let mut mean = vec![0.0; LAGS + 1];
    let mut count = 0.0;
    for rho in ranks.iter().filter_map(|chain| autocorrelation(chain, LAGS).ok()) {
        mean.iter_mut().zip(&rho).for_each(|(mean, rho)| *mean += rho);
        count += 1.0;
    }
    let used = ranks.first().map_or(0, Vec::len).min(LAGS + 1);
    let points =
        mean.iter().take(used).enumerate().map(|(lag, sum)| (lag as f64, sum / count)).collect();
    Panel::new(name)
        .x(Axis::linear("lag in draws"))
        .y(Axis::linear("autocorrelation").range(-0.1, 1.05))
        .horizontal(0.0, "")
        .dots(Hue::Blue, "", points)
}

fn rank_histogram(name: &str, ranks: &[Vec<f64>], total: usize) -> Panel {
    let mut panel = Panel::new(name)
        .x(Axis::linear("rank, as a part of all draws"))
        .y(Axis::linear("share of the chain"));
    let share = 1.0 / RANK_BINS as f64;
    panel = panel.horizontal(share, "");
    for (i, (chain, hue)) in ranks.iter().zip(CHAINS).enumerate() {
        let mut counts = [0usize; RANK_BINS];
        for rank in chain {
            counts[((rank / total as f64 * RANK_BINS as f64) as usize).min(RANK_BINS - 1)] += 1;
        }
        let bins: Vec<(f64, f64)> = counts
            .iter()
            .enumerate()
            .map(|(bin, &count)| ((bin as f64 + 0.5) * share, count as f64 / chain.len() as f64))
            .collect();
        panel = panel.steps(hue, format!("chain {i}"), &bins);
    }
    panel
}
