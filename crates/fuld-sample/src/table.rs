//! The summary as tables, for the terminal and for the page.

use crate::aligned::aligned;
use crate::summary::{Agreement, Coordinate, Summary, Tails};

/// Largest number of coordinates that are all shown.
const SHOWN: usize = 20;
/// Beyond that, the last rows show the coordinates with the largest R-hat.
const WORST: usize = 3;

/// A table of coordinates: names of the columns, and rows.
pub(super) struct CoordinateTable {
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

impl CoordinateTable {
    fn aligned(&self) -> String {
        let head = self.columns.iter().map(ToString::to_string).collect();
        aligned(&[&[head], &self.rows[..]].concat())
    }
}

impl Summary {
    /// Returns one table for the coordinates that have moments and one for the others, with or
    /// without distances from the exact law.
    pub(super) fn tables(&self, distances: bool) -> Vec<CoordinateTable> {
        let shown = self.shown();
        let table = |light: bool| {
            let of_kind: Vec<_> =
                shown.iter().filter(|c| (c.tails == Tails::Light) == light).collect();
            let exact = distances && of_kind.iter().any(|c| c.ks.is_some());
            let mut columns = vec![""];
            columns.extend(if light {
                ["mean", "MCSE", "sd"]
            } else {
                ["median", "MCSE", "half IQR"]
            });
            columns.extend(["5 %", "50 %", "95 %", "ESS bulk", "ESS tail", "R-hat"]);
            columns.extend(exact.then_some(["KS", "noise"]).into_iter().flatten());
            CoordinateTable { rows: of_kind.iter().map(|c| row(c, exact)).collect(), columns }
        };
        [table(true), table(false)].into_iter().filter(|table| !table.rows.is_empty()).collect()
    }

    /// Returns the number of coordinates that the tables leave out.
    pub fn hidden(&self) -> usize {
        self.coordinates.len() - self.shown().len()
    }

    /// Returns all coordinates, or if there are many, the first and those with the largest R-hat.
    fn shown(&self) -> Vec<&Coordinate> {
        if self.coordinates.len() <= SHOWN {
            return self.coordinates.iter().collect();
        }
        let (first, rest) = self.coordinates.split_at(SHOWN - WORST);
        let mut worst: Vec<&Coordinate> = rest.iter().collect();
        // NaN sorts above all numbers.
        worst.sort_by(|a, b| b.r_hat.total_cmp(&a.r_hat));
        first.iter().chain(worst.into_iter().take(WORST)).collect()
    }

    /// Returns the tables as aligned text, narrow enough for a terminal.
    pub fn table(&self) -> String {
        let text: Vec<String> = self.tables(false).iter().map(CoordinateTable::aligned).collect();
        text.join("\n")
    }

    /// Returns the distances of the shown coordinates from the exact law, one line each; none where
    /// the law is unknown.
    pub fn distances(&self) -> String {
        let shown = self.shown();
        let known: Vec<_> = shown.iter().filter_map(|c| c.ks.map(|ks| (&c.name, ks))).collect();
        let margin = known.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let line = |(name, ks): &(&String, Agreement)| {
            format!(
                "{name:>margin$}: KS distance {:.4} from the exact law (independent draws: below {:.4} in 19 of 20 cases)\n",
                ks.distance, ks.noise
            )
        };
        known.iter().map(line).collect()
    }
}

fn row(c: &Coordinate, exact: bool) -> Vec<String> {
    let light = c.mean.zip(c.sd).zip(c.mcse_mean);
    let (centre, spread, error) = match light {
        Some(((mean, sd), error)) => (mean, sd, error),
        None => (c.median, c.half_iqr, c.mcse_median),
    };
    let mut row = vec![
        c.name.clone(),
        number(centre),
        number(error),
        number(spread),
        number(c.q05),
        number(c.median),
        number(c.q95),
        format!("{:.0}", c.ess_bulk),
        format!("{:.0}", c.ess_tail),
        format!("{:.3}", c.r_hat),
    ];
    if exact {
        row.push(c.ks.map(|ks| format!("{:.4}", ks.distance)).unwrap_or_default());
        row.push(c.ks.map(|ks| format!("{:.4}", ks.noise)).unwrap_or_default());
    }
    row
}

/// Formats a number with four decimals, or in scientific notation if it is very small or large.
fn number(x: f64) -> String {
    let size = x.abs();
    if size == 0.0 || (1e-3..1e5).contains(&size) {
        let digits = if size >= 1e3 { 1 } else { 4 };
        // A number that rounds to zero has no sign.
        format!("{:.digits$}", if format!("{size:.digits$}").parse() == Ok(0.0) { 0.0 } else { x })
    } else {
        format!("{x:.2e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (0.0, "0.0000"),
            (-1e-5, "-1.00e-5"),
            (0.12345, "0.1235"),
            (-7.0, "-7.0000"),
            (12345.678, "12345.7"),
            (1e9, "1.00e9"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(x), text);
        }
    }
}
