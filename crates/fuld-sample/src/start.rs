//! Starting points as text: `normal:2`, `1,-0.5`, `1,-0.5; 2,0`.

use fuld::Start;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A starting point written as `normal:SD` or as coordinates separated by commas. A single number
/// applies to all coordinates. Points of several chains are separated by semicolons.
#[derive(Clone, Debug, PartialEq)]
pub struct StartingPoint(pub Start);

impl FromStr for StartingPoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "expected normal:SD as in normal:2, coordinates as in 1,-0.5, or a point for each chain as in 1,-0.5;2,0, got {text:?}"
            )
        };
        let number = |text: &str| {
            text.trim().parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(wrong)
        };
        match text.strip_prefix("normal") {
            Some("") => Ok(Self(Start::Gaussian(1.0))),
            Some(rest) => {
                let sd = number(rest.strip_prefix(':').ok_or_else(wrong)?)?;
                if sd < 0.0 { Err(wrong()) } else { Ok(Self(Start::Gaussian(sd))) }
            }
            None => {
                let point =
                    |text: &str| text.split(',').map(number).collect::<Result<Vec<f64>, _>>();
                let start = match text.contains(';') {
                    true => Start::Points(text.split(';').map(point).collect::<Result<_, _>>()?),
                    false => Start::Point(point(text)?),
                };
                Ok(Self(start))
            }
        }
    }
}

impl fmt::Display for StartingPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Start::Gaussian(sd) => write!(f, "normal:{sd}"),
            Start::Point(point) => f.write_str(&coordinates(point)),
            Start::Points(points) => f.write_str(
                &points.iter().map(|point| coordinates(point)).collect::<Vec<_>>().join(";"),
            ),
        }
    }
}

fn coordinates(point: &[f64]) -> String {
    point.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl Serialize for StartingPoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StartingPoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // In TOML a point may also be a list of numbers, and points a list of such lists.
        let commas = |list: &[toml::Value]| {
            list.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        };
        let text = match toml::Value::deserialize(deserializer)? {
            toml::Value::Array(list) if list.iter().all(toml::Value::is_array) => {
                let points =
                    list.iter().map(|point| commas(point.as_array().map_or(&[], Vec::as_slice)));
                points.collect::<Vec<_>>().join(";")
            }
            toml::Value::Array(list) => commas(&list),
            toml::Value::String(text) => text,
            other => other.to_string(),
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_round() {
        for text in ["normal:2", "1,-0.5", "0", "normal:0", "1,-0.5;2,0", "1;2"] {
            assert_eq!(text.parse::<StartingPoint>().unwrap().to_string(), text);
        }
        for text in ["normal:-1", "normal2", "1,x", "", "inf", "normal:nan", "1;", "1;x"] {
            assert!(text.parse::<StartingPoint>().unwrap_err().contains("normal:SD"), "{text}");
        }
    }
}
