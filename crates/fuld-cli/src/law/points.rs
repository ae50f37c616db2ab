//! The points at which a function is evaluated: numbers and ranges.

use std::str::FromStr;

/// The largest number of points of a range.
const MOST: usize = 10_000_000;
/// The default number of points of a range.
const DEFAULT_COUNT: usize = 101;

/// An argument: a number, a range, or `-` for standard input.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Points {
    One(f64),
    /// Evenly spaced numbers or logarithms, including both ends.
    Range {
        from: f64,
        to: f64,
        count: usize,
        logarithmic: bool,
    },
    StandardInput,
}

/// Parses a number, which may have a space in front: see [`crate::negative_points`].
pub(super) fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    text.parse().map_err(|_| format!("{text:?} is not a number"))
}

impl FromStr for Points {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "-" {
            return Ok(Self::StandardInput);
        }
        let Some((from, rest)) = text.split_once("..") else {
            let unknown = |_| format!("{text:?} is neither a number nor a range like -5..5/101");
            return text.parse().map(Self::One).map_err(unknown);
        };
        let (to, count) =
            rest.split_once('/').map_or((rest, None), |(to, count)| (to, Some(count)));
        let (logarithmic, count) = match count.map(|count| (count.strip_prefix("log"), count)) {
            Some((Some(count), _)) => (true, Some(count)),
            Some((None, count)) => (false, Some(count)),
            None => (false, None),
        };
        let end = |text: &str| {
            let number = text.parse().ok().filter(|number: &f64| number.is_finite());
            number
                .ok_or_else(|| format!("the ends of a range must be finite numbers, got {text:?}"))
        };
        let (from, to) = (end(from)?, end(to)?);
        let count = count.map_or(Ok(DEFAULT_COUNT), |text| {
            let count = text.parse().ok().filter(|count| (2..=MOST).contains(count));
            count.ok_or_else(|| {
                format!("a range must have 2 to {MOST} points, as in {from}..{to}/101 or 1..1e6/log13, got {text:?}")
            })
        })?;
        if logarithmic && !(from > 0.0 && to > 0.0) {
            return Err(format!(
                "the ends of a logarithmic range must be positive, got {from} and {to}"
            ));
        }
        Ok(Self::Range { from, to, count, logarithmic })
    }
}

impl Points {
    /// Returns the numbers; none for standard input.
    pub(super) fn numbers(&self) -> Box<dyn Iterator<Item = f64>> {
        match *self {
            Self::One(x) => Box::new(std::iter::once(x)),
            Self::StandardInput => Box::new(std::iter::empty()),
            Self::Range { from, to, count, logarithmic } => {
                let steps = (count - 1) as f64;
                Box::new((0..count).map(move |i| match i as f64 {
                    i if i == steps => to,
                    0.0 => from,
                    // Powers of ten, so that decades are exact.
                    i if logarithmic => 10f64.powf(between(from.log10(), to.log10(), i, steps)),
                    i => between(from, to, i, steps),
                }))
            }
        }
    }
}

/// Interpolates after i of `steps` steps. The ends are weighted separately, because their
/// difference could overflow.
fn between(from: f64, to: f64, i: f64, steps: f64) -> f64 {
    from * ((steps - i) / steps) + to * (i / steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<f64> {
        text.parse::<Points>().unwrap().numbers().collect()
    }

    #[test]
    fn ranges_include_both_ends() {
        assert_eq!(numbers("-1..1/5"), [-1.0, -0.5, 0.0, 0.5, 1.0]);
        assert_eq!(numbers("5..-5").len(), 101);
        assert_eq!(numbers("5..-5")[50], 0.0);
        assert_eq!(numbers("1e-2"), [0.01]);
        let decades = numbers("0.1..1000/log5");
        assert!(
            decades
                .iter()
                .zip([0.1, 1.0, 10.0, 100.0, 1000.0])
                .all(|(a, b)| (a / b - 1.0).abs() < 1e-14)
        );
    }

    #[test]
    fn errors_name_the_invalid_part() {
        let refused = |text: &str| text.parse::<Points>().unwrap_err();
        assert!(refused("abc").contains("abc"));
        assert!(refused("0..x").contains("\"x\""));
        for text in ["0..1/1", "0..1/0", "0..1/many", "0..1/99999999999"] {
            assert!(refused(text).contains("points"), "{text}");
        }
        assert!(refused("-1..1/log5").contains("positive"));
        assert!(refused("0..inf").contains("inf"));
    }
}
