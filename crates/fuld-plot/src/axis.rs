//! Axes: labels, the map from values to positions, and ticks.

/// How values map to positions.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    Linear,
    Log,
}

/// An axis of a panel. Its range is taken from the data unless [`range`](Self::range) sets it.
#[derive(Clone, Debug)]
pub struct Axis {
    label: String,
    scale: Scale,
    range: Option<(f64, f64)>,
    ticks: Option<Vec<(f64, String)>>,
}

impl Axis {
    /// Creates a linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None, ticks: None }
    }

    /// Creates a logarithmic axis. Values that are not positive are not drawn.
    pub fn log(label: impl Into<String>) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label) }
    }

    /// Fixes the range, whatever the data.
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Places ticks at these values only.
    pub fn ticks(mut self, at: &[f64]) -> Self {
        self.ticks =
            Some(at.iter().map(|&value| (value, number(value, decimals_of(value)))).collect());
        self
    }

    pub(super) fn label(&self) -> &str {
        &self.label
    }

    /// Returns whether a value can be drawn on this axis.
    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// Returns the axis with a definite range, from the data where none was set.
    pub(super) fn fitted(&self, data: impl Iterator<Item = f64>) -> Fitted {
        let (low, high, room) = match self.range {
            Some((low, high)) => (self.place(low), self.place(high), 0.0),
            None => {
                let places = data.filter(|&value| self.shows(value)).map(|value| self.place(value));
                let (low, high) = places
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), place| {
                        (a.min(place), b.max(place))
                    });
                (low, high, 0.04)
            }
        };
        let (low, high) = self.widened(low, high, room);
        Fitted { axis: self.clone(), low, high }
    }

    /// Widens a range by the fraction `room` at both ends, and so far that no division by its width
    /// can fail.
    fn widened(&self, low: f64, high: f64, room: f64) -> (f64, f64) {
        // Scale each end separately: their difference may overflow.
        let most = match self.scale {
            Scale::Linear => f64::MAX,
            // Beyond the exponents of all doubles; log10(0) is clamped to this.
            Scale::Log => 330.0,
        };
        let (low, high) = (low.clamp(-most, most), high.clamp(-most, most));
        let room = room * high - room * low;
        let (about, least) = match self.scale {
            Scale::Linear => (0.5, 1e-13 * low.abs().max(f64::MIN_POSITIVE)),
            Scale::Log => (std::f64::consts::LOG10_2, 0.0),
        };
        if low.is_nan() || high.is_nan() || low > high {
            (self.place(1.0), self.place(2.0))
        } else if 0.5 * high - 0.5 * low <= least {
            let about = about.max(1e3 * least);
            ((low - about).max(-f64::MAX), (high + about).min(f64::MAX))
        } else {
            ((low - room).max(-f64::MAX), (high + room).min(f64::MAX))
        }
    }

    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        }
    }
}

/// An axis with a definite range.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    axis: Axis,
    low: f64,
    high: f64,
}

impl Fitted {
    /// Returns the position of a value: 0 to 1 within the range.
    pub(super) fn at(&self, value: f64) -> f64 {
        // Halved, because the full difference may overflow.
        (0.5 * self.axis.place(value) - 0.5 * self.low) / (0.5 * self.high - 0.5 * self.low)
    }

    pub(super) fn shows(&self, value: f64) -> bool {
        self.axis.shows(value)
    }

    /// Returns the value that areas are filled down to: zero, or the lower end of a logarithmic
    /// axis.
    pub(super) fn floor(&self) -> f64 {
        match self.axis.scale {
            Scale::Linear => 0.0f64.clamp(self.low, self.high),
            Scale::Log => 10f64.powf(self.low),
        }
    }

    /// Returns about `wanted` ticks within the range, with their labels.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let all = match (&self.axis.ticks, self.axis.scale) {
            (Some(ticks), _) => ticks.clone(),
            (None, Scale::Linear) => linear_ticks(self.low, self.high, wanted),
            (None, Scale::Log) => log_ticks(self.low, self.high, wanted),
        };
        all.into_iter()
            .filter(|&(value, _)| (-1e-9..=1.0 + 1e-9).contains(&self.at(value)))
            .collect()
    }
}

fn linear_ticks(low: f64, high: f64, wanted: usize) -> Vec<(f64, String)> {
    let wanted = wanted.max(1) as f64;
    let rough = high / wanted - low / wanted;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|unit| unit * power)
        .into_iter()
        .find(|&step| step >= rough * 0.85)
        .unwrap_or(power);
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    let decimals = decimals_of(step);
    let tick = |i: i64| {
        let value = i as f64 * step;
        (value, number(value, decimals))
    };
    (first..=last).map(tick).collect()
}

/// Returns ticks at decades, or at 1, 2, 5 if the range has few decades. `low` and `high` are
/// logarithms.
fn log_ticks(low: f64, high: f64, wanted: usize) -> Vec<(f64, String)> {
    let decades = high - low;
    let (first, last) = (low.floor() as i32, high.ceil() as i32);
    if decades < 2.5 {
        let units: &[f64] =
            if decades < 0.7 { &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0] } else { &[1.0, 2.0, 5.0] };
        let ticks =
            (first..=last).flat_map(|power| units.iter().map(move |unit| unit * 10f64.powi(power)));
        return ticks.map(|value| (value, number(value, decimals_of(value)))).collect();
    }
    let stride = ((decades / wanted.max(1) as f64).ceil() as i32).max(1);
    let whole = |power: &i32| power.rem_euclid(stride) == 0;
    (first..=last).filter(whole).map(|power| (10f64.powi(power), decade(power))).collect()
}

fn decade(power: i32) -> String {
    match power {
        0 => "1".into(),
        1 => "10".into(),
        _ => format!("10^{{{power}}}").replace('-', "−"),
    }
}

/// Returns the number of decimals a value requires, at most six.
fn decimals_of(value: f64) -> usize {
    (0..6)
        .find(|&n| (value * 10f64.powi(n) - (value * 10f64.powi(n)).round()).abs() < 1e-6)
        .unwrap_or(6) as usize
}

fn number(value: f64, decimals: usize) -> String {
    let value = if value.abs() < 1e-12 { 0.0 } else { value };
    if value.abs() >= 1e5 {
        let power = value.abs().log10().floor() as i32;
        let unit = value / 10f64.powi(power);
        let unit = if (unit - 1.0).abs() < 1e-9 {
            String::new()
        } else if (unit + 1.0).abs() < 1e-9 {
            "−".into()
        } else {
            format!("{}·", number(unit, decimals_of(unit)))
        };
        return format!("{unit}{}", decade(power));
    }
    format!("{value:.decimals$}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: Axis, data: &[f64]) -> Vec<String> {
        axis.fitted(data.iter().copied()).ticks(5).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(texts(Axis::linear(""), &[-1.0, 1.0]), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(
            texts(Axis::linear(""), &[0.0, 50_000.0]),
            ["0", "10000", "20000", "30000", "40000", "50000"]
        );
        assert_eq!(texts(Axis::linear(""), &[-1.7e308, 1.7e308]), ["−10^{308}", "0", "10^{308}"]);
        assert_eq!(texts(Axis::log(""), &[1e-6, 1.0]), ["10^{−6}", "10^{−4}", "10^{−2}", "1"]);
        assert_eq!(texts(Axis::log(""), &[0.01, 0.1]), ["0.01", "0.02", "0.05", "0.1"]);
        assert_eq!(texts(Axis::linear("").ticks(&[2.0, 4.0, 99.0]), &[1.0, 5.0]), ["2", "4"]);
    }

    /// Differences and quotients of these values overflow or underflow.
    #[test]
    fn every_range_has_finite_positions() {
        let (inf, most, least) = (f64::INFINITY, f64::MAX, f64::from_bits(1));
        let ranges = [
            (1e-300, 1e300),
            (-most, most),
            (0.0, most),
            (1e300, 1e300),
            (least, least),
            (-least, least),
            (1.0, 1.0 + f64::EPSILON),
            (inf, -inf),
            (inf, 1.0),
            (f64::NAN, 1.0),
        ];
        for ((low, high), given) in
            ranges.into_iter().flat_map(|range| [(range, false), (range, true)])
        {
            for axis in [Axis::linear(""), Axis::log("")] {
                let axis = if given { axis.range(low, high) } else { axis };
                let fitted = axis.fitted([low, high].into_iter());
                for value in
                    [low, high, fitted.floor()].into_iter().filter(|&value| fitted.shows(value))
                {
                    let place = fitted.at(value);
                    assert!(!place.is_nan(), "{value} of {low} to {high}");
                    assert!(
                        given || (-1e-9..=1.0 + 1e-9).contains(&place),
                        "{value} of {low} to {high}: {place}"
                    );
                }
                assert!(fitted.ticks(5).len() < 30, "{low} to {high}");
            }
        }
    }

    #[test]
    fn positions_run_from_zero_to_one() {
        let axis = Axis::log("").range(1.0, 100.0).fitted(std::iter::empty());
        assert_eq!((axis.at(1.0), axis.at(10.0), axis.at(100.0)), (0.0, 0.5, 1.0));
        assert!(!axis.shows(0.0) && !axis.shows(f64::NAN) && axis.shows(1e9));
    }
}
