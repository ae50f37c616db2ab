//! A histogram drawn in characters, with the exact density as dots.

use fuld::diagnostics::{DiagnosticError, Histogram, Sample};
use fuld::gibbs::Gibbs;

/// Number of bars.
const ROWS: usize = 24;
/// Blocks that fill one eighth, two eighths, … of a character.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// Marks the exact density.
const EXACT: char = '•';

/// Returns the bars of a sample from top to bottom, at most `width` characters wide, with a dot at
/// the exact value of each.
pub fn histogram(
    name: &str,
    sample: &Sample,
    exact: Option<&Gibbs>,
    width: usize,
) -> Result<String, DiagnosticError> {
    let automatic = Histogram::automatic(sample)?;
    let (low, high) = round_ends(automatic.low(), automatic.high());
    let bars = Histogram::new(sample, low, high, ROWS)?;
    let step = bars.width();
    let part = |count: usize| count as f64 / sample.len() as f64;
    let expected = |i: usize| {
        let left = low + i as f64 * step;
        exact.map(|law| law.cdf(left + step) - law.cdf(left))
    };
    let parts: Vec<(f64, Option<f64>)> =
        bars.counts().iter().enumerate().map(|(i, &count)| (part(count), expected(i))).collect();
    let most =
        parts.iter().flat_map(|(ours, exact)| [Some(*ours), *exact]).flatten().fold(0.0, f64::max);
    let labels: Vec<String> =
        (0..ROWS).map(|i| label(low + (i as f64 + 0.5) * step, step)).collect();
    let margin = labels.iter().map(String::len).max().unwrap_or(0).max(name.len());
    let room = width.saturating_sub(margin + 11).max(10);
    let mut text = format!("{name:>margin$}\n");
    for (label, (ours, exact)) in labels.iter().zip(&parts) {
        let bar =
            bar(ours / most * room as f64, exact.map(|exact| exact / most * room as f64), room + 1);
        text += &format!("{label:>margin$} │{bar} {:>5.1} %", 100.0 * ours);
        text.push('\n');
    }
    let beyond = bars.below() + bars.above();
    if beyond > 0 {
        text += &format!("{:margin$}  and {:.2} % beyond these\n", "", 100.0 * part(beyond));
    }
    if exact.is_some() {
        text += &format!("{:margin$}  {EXACT} exact\n", "");
    }
    Ok(text)
}

/// Returns a bar in eighths of characters with a dot, padded to `width`.
fn bar(length: f64, dot: Option<f64>, width: usize) -> String {
    let eighths = (8.0 * length).round() as usize;
    let mut cells: Vec<char> = vec!['█'; eighths / 8];
    if !eighths.is_multiple_of(8) {
        cells.push(EIGHTHS[eighths % 8 - 1]);
    }
    cells.resize(width.max(cells.len()), ' ');
    if let Some(dot) = dot {
        let last = cells.len() - 1;
        cells[(dot as usize).min(last)] = EXACT;
    }
    cells.into_iter().collect()
}

/// Moves both ends outwards to round numbers.
fn round_ends(low: f64, high: f64) -> (f64, f64) {
    let unit = 10f64.powf((high - low).log10().floor() - 1.0);
    let ends = ((low / unit).floor() * unit, (high / unit).ceil() * unit);
    if ends.0 < ends.1 && ends.1.is_finite() && ends.0.is_finite() { ends } else { (low, high) }
}

/// Returns the label of a bar, with as many digits as neighbouring bars require.
fn label(x: f64, step: f64) -> String {
    let digits = (1.0 - step.log10().floor()).clamp(0.0, 12.0) as usize;
    if x.abs() >= 1e7 { format!("{x:.3e}") } else { format!("{x:.digits$}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_end_where_they_should() {
        assert_eq!(bar(2.5, None, 5), "██▌  ");
        assert_eq!(bar(0.0, Some(0.0), 3), "•  ");
        assert_eq!(bar(3.0, Some(1.2), 4), "█•█ ");
        assert_eq!(bar(1.0, Some(9.0), 4), "█  •");
    }

    #[test]
    fn lines_are_no_wider_than_asked_and_hold_every_draw() {
        let sample =
            Sample::new((0..4000).map(|i| f64::from(i) / 4000.0).collect::<Vec<_>>()).unwrap();
        for width in [40, 80] {
            let text = histogram("x", &sample, None, width).unwrap();
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            let parts = text.lines().filter_map(|line| {
                line.strip_suffix(" %")?.rsplit(' ').next()?.parse::<f64>().ok()
            });
            assert!((parts.sum::<f64>() - 100.0).abs() < 2.0, "{text}");
        }
        assert!(histogram("x", &Sample::new([1.0; 9]).unwrap(), None, 80).is_err());
    }
}
