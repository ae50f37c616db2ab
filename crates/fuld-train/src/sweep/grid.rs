//! A grid of runs: settings of which some are lists, and every combination of these.

use crate::settings::Request;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::{Table, Value};

/// The most runs that a grid may have: more is a slip of the pen.
const MOST: usize = 1_000_000;

/// What is wrong with a grid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GridError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// The file is not TOML, or holds something that is no setting.
    #[error("{}: {reason}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What and where.
        reason: String,
    },
}

/// The requests of the grid in a file, in order: the last axis varies fastest. What an optimizer has no use for makes some equal.
pub fn read(path: &Path) -> Result<Vec<Request>, GridError> {
    let text = std::fs::read_to_string(path).map_err(|source| GridError::Io { path: path.into(), source })?;
    requests(&text).map_err(|reason| GridError::Wrong { path: path.into(), reason })
}

/// The requests of a grid.
///
/// Keys are the settings of a run; a list makes an axis, and `seed` may be a range, as in `"0..10"`. Tables `[[grid]]` are grids of their
/// own, which have what stands above them and add to it. What an optimizer has no use for, say the α of Adam, is left out for it.
pub fn requests(text: &str) -> Result<Vec<Request>, String> {
    let mut common: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let grids = match common.remove("grid") {
        None => vec![Table::new()],
        Some(Value::Array(grids)) => grids
            .into_iter()
            .map(|grid| grid.as_table().cloned().ok_or("grid must be written [[grid]]".to_string()))
            .collect::<Result<_, _>>()?,
        Some(_) => return Err("grid must be written [[grid]]".into()),
    };
    let mut requests = Vec::new();
    for grid in grids {
        let mut whole = common.clone();
        whole.extend(grid);
        for combination in product(whole)? {
            requests.push(request(combination)?.useful());
        }
    }
    if requests.is_empty() { Err("the grid is empty: there would be no runs".into()) } else { Ok(requests) }
}

/// Every combination of the lists.
fn product(grid: Table) -> Result<Vec<Table>, String> {
    let mut combinations = vec![Table::new()];
    for (key, value) in grid {
        let values = axis(&key, value)?;
        if combinations.len().saturating_mul(values.len()) > MOST {
            return Err(format!("more than {MOST} runs, at {key}"));
        }
        let longer = |combination: &Table| {
            let with = |value: &Value| {
                let mut longer = combination.clone();
                longer.insert(key.clone(), value.clone());
                longer
            };
            values.iter().map(with).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(longer).collect();
    }
    Ok(combinations)
}

fn axis(key: &str, value: Value) -> Result<Vec<Value>, String> {
    match value {
        Value::Array(values) if values.is_empty() => {
            Err(format!("{key} is an empty list: there would be no runs"))
        }
        Value::Array(values) => Ok(values),
        Value::String(range) if key == "seed" => {
            let wrong = || format!("seed must be a number, a list or a range as in \"0..10\", got {range:?}");
            let (from, to) = range.split_once("..").ok_or_else(wrong)?;
            let number = |text: &str| text.trim().parse::<u32>().map(i64::from).map_err(|_| wrong());
            let (from, to) = (number(from)?, number(to)?);
            match to - from {
                ..=0 => Err(wrong()),
                length if length as usize > MOST => Err(format!("more than {MOST} runs, at {key}")),
                _ => Ok((from..to).map(Value::Integer).collect()),
            }
        }
        value => Ok(vec![value]),
    }
}

/// A combination as a request; an error names its key.
fn request(combination: Table) -> Result<Request, String> {
    let read = |table: Table| Request::deserialize(table).map_err(|error| error.message().to_string());
    read(combination.clone()).map_err(|whole| {
        let alone = |(key, value): (String, Value)| {
            let error = read(Table::from_iter([(key.clone(), value.clone())])).err()?;
            Some(if error.contains(&key) { error } else { format!("{key} = {value}: {error}") })
        };
        combination.into_iter().find_map(alone).unwrap_or(whole)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_axes() {
        let grid = "data = 'digits'\nwidth = [32, 64]\nalpha = [2, 1.75]\nseed = '0..3'\niterations = 100";
        let requests = requests(grid).unwrap();
        assert_eq!(requests.len(), 2 * 2 * 3);
        assert!(requests.iter().all(|r| r.iterations == Some(100) && r.data.as_deref() == Some("digits")));
        assert_eq!(requests[1].seed, Some(1));
    }

    #[test]
    fn what_an_optimizer_has_no_use_for_makes_no_runs() {
        let grid = "optimizer = ['fuld', 'sgdm', 'adam']\nalpha = [1.5, 1.75]\ngamma = [0.1, 0.9]";
        let mut distinct: Vec<Request> = requests(grid).unwrap();
        distinct.dedup();
        distinct.sort_by_key(|request| format!("{request:?}"));
        distinct.dedup();
        assert_eq!(distinct.len(), 4 + 2 + 1);
    }

    #[test]
    fn the_grids_of_the_project_are_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../grids");
        assert_eq!(read(&folder.join("digits.toml")).unwrap().len(), 60);
        assert_eq!(read(&folder.join("noise.toml")).unwrap().len(), 35);
        assert_eq!(read(&folder.join("calibration.toml")).unwrap().len(), 540);
    }

    #[test]
    fn grids_add_to_what_stands_above_them() {
        let grid = "seed = [0, 1]\n[[grid]]\nalpha = 1.5\n[[grid]]\noptimizer = 'sgdm'\nseed = 7\n";
        let requests = requests(grid).unwrap();
        assert_eq!(requests.iter().map(|r| r.seed).collect::<Vec<_>>(), [Some(0), Some(1), Some(7)]);
    }

    #[test]
    fn slips_are_named() {
        let says = |grid: &str| requests(grid).unwrap_err();
        assert!(says("widht = 3").contains("widht"));
        assert!(says("width = []").contains("width is an empty list"));
        assert!(says("width = 'wide'").contains("width") && says("width = 'wide'").contains("wide"));
        assert!(says("grid = []").contains("empty"));
        assert!(says("seed = '0..4000000000'").contains("1000000 runs"));
        assert!(says("seed = '0..99999999999'").contains("99999999999"));
        assert_eq!(requests("tail-index = 'every=5'").unwrap()[0].tail_index, Some(5));
        assert!(says("seed = '3..3'").contains("3..3"));
        assert!(says("inject_noise = '2.5,1'").contains("2.5"));
        assert!(says("width = [1").contains("line 1"));
        let many = format!("width = {0:?}\ndepth = {0:?}\nbatch = {0:?}", (1..=101).collect::<Vec<_>>());
        assert!(says(&many).contains("1000000"));
    }
}
