//! Where a function is asked for: numbers, and ranges of them.

use std::str::FromStr;

/// The most points of one range; who needs more pipes them in.
const MOST: usize = 10_000_000;
/// Points of a range that does not say how many.
const SOME: usize = 101;

/// What stands among the arguments: a number, a range, or `-` for standard input.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Points {
    One(f64),
    /// From the first to the second, both included.
    Range {
        from: f64,
        to: f64,
        count: usize,
        logarithmic: bool,
    },
    StandardInput,
}

/// A number that may have been shielded.
pub(super) fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is no number"))
}

impl FromStr for Points {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "-" {
            return Ok(Self::StandardInput);
        }
        let Some((from, rest)) = text.split_once("..") else {
            let unknown = |_| format!("{text:?} is no number, nor a range like -5..5/101");
            return text.parse().map(Self::One).map_err(unknown);
        };
        let (to, count) = rest.split_once('/').map_or((rest, None), |(to, count)| (to, Some(count)));
        let (logarithmic, count) = match count.map(|count| (count.strip_prefix("log"), count)) {
            Some((Some(count), _)) => (true, Some(count)),
            Some((None, count)) => (false, Some(count)),
            None => (false, None),
        };
        let end = |text: &str| {
            let number = text.parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| format!("a range goes from one number to another, got {text:?}"))
        };
        let (from, to) = (end(from)?, end(to)?);
        let count = count.map_or(Ok(SOME), |count| {
            let count = count.parse().ok().filter(|count| (2..=MOST).contains(count));
            count.ok_or_else(|| {
                format!("a range has 2 to {MOST} points, as in {from}..{to}/101 or 1..1e6/log13")
            })
        })?;
        if logarithmic && !(from > 0.0 && to > 0.0) {
            return Err("a logarithmic range has positive ends".into());
        }
        Ok(Self::Range { from, to, count, logarithmic })
    }
}

impl Points {
    /// The numbers; none for standard input.
    pub(super) fn numbers(&self) -> Box<dyn Iterator<Item = f64>> {
        match *self {
            Self::One(x) => Box::new(std::iter::once(x)),
            Self::StandardInput => Box::new(std::iter::empty()),
            Self::Range { from, to, count, logarithmic } => {
                let steps = (count - 1) as f64;
                Box::new((0..count).map(move |i| match i as f64 {
                    i if i == steps => to,
                    0.0 => from,
                    // By powers of ten, so that decades are met exactly.
                    i if logarithmic => 10f64.powf(between(from.log10(), to.log10(), i, steps)),
                    i => between(from, to, i, steps),
                }))
            }
        }
    }
}

/// i of `steps` steps on the way, each end by its own weight: differences could overflow, and 0 is met exactly.
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
            decades.iter().zip([0.1, 1.0, 10.0, 100.0, 1000.0]).all(|(a, b)| (a / b - 1.0).abs() < 1e-14)
        );
    }

    #[test]
    fn what_is_no_range_is_named() {
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
