//! Grids of runs: every combination of settings that are given as lists.

use crate::spec::TrainRequest;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::{Table, Value};

/// The largest number of runs of a grid. A larger number is treated as a mistake.
const MOST: usize = 1_000_000;

/// An error of a grid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GridError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is not TOML, or one of its keys or values is not a setting.
    #[error("{}: {reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The reason, with the key or the line.
        reason: String,
    },
}

/// Reads the text of a grid.
pub fn read_grid(path: &Path) -> Result<String, GridError> {
    std::fs::read_to_string(path).map_err(|source| GridError::Io { path: path.into(), source })
}

/// Returns the requests of a grid. The last axis varies fastest. `data`, if not empty, replaces the
/// grid's data sets.
///
/// Keys are the settings of a run. A list is an axis, and `seed` may be a range such as `"0..10"`.
/// Each table `[[grid]]` is a separate grid that adds to or replaces the common settings. Settings
/// that an optimizer does not have, such as the α of Adam, are left out for it, which may make some
/// requests equal.
pub fn grid_requests(text: &str, data: &[String]) -> Result<Vec<TrainRequest>, String> {
    let mut common: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let grids = match common.remove("grid") {
        None => vec![Table::new()],
        Some(Value::Array(grids)) => grids
            .into_iter()
            .map(|grid| {
                grid.as_table().cloned().ok_or("grid must be a table, written [[grid]]".to_string())
            })
            .collect::<Result<_, _>>()?,
        Some(_) => return Err("grid must be a table, written [[grid]]".into()),
    };
    let mut requests = Vec::new();
    for grid in grids {
        let mut whole = common.clone();
        whole.extend(grid);
        if !data.is_empty() {
            whole.insert("data".into(), data.to_vec().into());
        }
        for combination in product(whole)? {
            requests.push(request(combination)?.without_unused());
        }
    }
    if requests.is_empty() {
        Err("the grid is empty: there would be no runs".into())
    } else {
        Ok(requests)
    }
}

/// Returns every combination of the lists.
fn product(grid: Table) -> Result<Vec<Table>, String> {
    let mut combinations = vec![Table::new()];
    for (key, value) in grid {
        check_key(&key)?;
        let values = axis(&key, value)?;
        if combinations.len().saturating_mul(values.len()) > MOST {
            return Err(format!("the grid has more than {MOST} runs, at the key {key}"));
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
        Value::String(number) if key == "seed" && number.parse::<u64>().is_ok() => {
            Ok(vec![Value::String(number)])
        }
        Value::String(range) if key == "seed" => {
            let wrong = || {
                format!("seed must be a number, a list or a range as in \"0..10\", got {range:?}")
            };
            let (from, to) = range.split_once("..").ok_or_else(wrong)?;
            let number =
                |text: &str| text.trim().parse::<u32>().map(i64::from).map_err(|_| wrong());
            let (from, to) = (number(from)?, number(to)?);
            match to - from {
                ..=0 => Err(wrong()),
                length if length as usize > MOST => {
                    Err(format!("the grid has more than {MOST} runs, at the key {key}"))
                }
                _ => Ok((from..to).map(Value::Integer).collect()),
            }
        }
        value => Ok(vec![value]),
    }
}

/// Refuses a key that is not one of a request, and suggests the nearest one.
fn check_key(key: &str) -> Result<(), String> {
    let keys = TrainRequest::KEYS;
    let snake_case = key.replace('-', "_");
    if keys.contains(&key) {
        return Ok(());
    }
    if keys.contains(&snake_case.as_str()) {
        return Err(format!(
            "unknown key `{key}`: keys are written with underscores, `{snake_case}`"
        ));
    }
    // A word of a key names it; otherwise the rule for typing errors is that of `fuld sample`.
    let distance = |name: &str| strsim::levenshtein(&snake_case.to_lowercase(), name);
    let is_near = |name: &str| {
        distance(name) <= 1 + name.len().min(key.chars().count()) / 3 && distance(name) < name.len()
    };
    let with_word = keys.iter().find(|name| name.split('_').any(|word| word == key));
    let nearest = || keys.iter().filter(|name| is_near(name)).min_by_key(|name| distance(name));
    let hint = with_word.or_else(nearest);
    let hint = hint.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
    Err(format!("unknown key `{key}`{hint}; keys are {}", keys.join(", ")))
}

/// Reads a combination as a request. An error names the key.
fn request(combination: Table) -> Result<TrainRequest, String> {
    let read = |table: Table| {
        TrainRequest::deserialize(table).map_err(|error| error.message().to_string())
    };
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
    fn a_list_is_an_axis() {
        let grid =
            "data = 'digits'\nwidth = [32, 64]\nalpha = [2, 1.75]\nseed = '0..3'\niterations = 100";
        let requests = grid_requests(grid, &[]).unwrap();
        assert_eq!(requests.len(), 2 * 2 * 3);
        assert!(
            requests
                .iter()
                .all(|r| r.iterations == Some(100) && r.data.as_deref() == Some("digits"))
        );
        assert_eq!(requests[1].seed, Some(1));
    }

    #[test]
    fn settings_that_an_optimizer_lacks_add_no_runs() {
        let grid = "optimizer = ['fuld', 'sgdm', 'adam']\nalpha = [1.5, 1.75]\ngamma = [0.1, 0.9]";
        let mut distinct: Vec<TrainRequest> = grid_requests(grid, &[]).unwrap();
        distinct.dedup();
        distinct.sort_by_key(|request| format!("{request:?}"));
        distinct.dedup();
        assert_eq!(distinct.len(), 4 + 2 + 1);
    }

    #[test]
    fn the_grids_of_the_repository_are_valid() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../grids");
        let runs =
            |name: &str| grid_requests(&read_grid(&folder.join(name)).unwrap(), &[]).unwrap().len();
        assert_eq!(runs("digits.toml"), 60);
        assert_eq!(runs("noise.toml"), 35);
        assert_eq!(runs("guard.toml"), 400);
    }

    #[test]
    fn grid_tables_extend_the_common_settings() {
        let grid = "seed = [0, 1]\n[[grid]]\nalpha = 1.5\n[[grid]]\noptimizer = 'sgdm'\nseed = 7\n";
        let requests = grid_requests(grid, &[]).unwrap();
        assert_eq!(
            requests.iter().map(|r| r.seed).collect::<Vec<_>>(),
            [Some(0), Some(1), Some(7)]
        );
    }

    #[test]
    fn given_data_sets_replace_those_of_the_grid() {
        let requests = grid_requests(
            "data = 'digits'\nseed = [0, 1]",
            &["mnist".into(), "some/folder".into()],
        );
        let data: Vec<_> =
            requests.unwrap().into_iter().filter_map(|request| request.data).collect();
        assert_eq!(data, ["mnist", "mnist", "some/folder", "some/folder"]);
    }

    #[test]
    fn errors_name_the_key_and_the_value() {
        let error = |grid: &str| grid_requests(grid, &[]).unwrap_err();
        assert!(error("widht = 3").contains("widht"));
        assert!(error("widht = 3").contains("did you mean `width`?"));
        assert!(error("tail-index = 5").contains("`tail_index`"));
        assert!(error("scale = 5").contains("did you mean `noise_scale`?"));
        assert!(!error("purple = 5").contains("did you mean"));
        // Near by the beginning alone, which is not enough.
        assert!(!error("widespread = 5").contains("did you mean"));
        assert!(error("width = []").contains("width is an empty list"));
        assert!(
            error("width = 'wide'").contains("width") && error("width = 'wide'").contains("wide")
        );
        assert!(error("grid = []").contains("empty"));
        assert!(error("seed = '0..4000000000'").contains("1000000 runs"));
        assert!(error("seed = '0..99999999999'").contains("99999999999"));
        assert_eq!(grid_requests("tail_index = 'every=5'", &[]).unwrap()[0].tail_index, Some(5));
        assert!(error("seed = '3..3'").contains("3..3"));
        assert!(error("inject_noise = '2.5,1'").contains("2.5"));
        assert!(error("width = [1").contains("line 1"));
        let many =
            format!("width = {0:?}\ndepth = {0:?}\nbatch = {0:?}", (1..=101).collect::<Vec<_>>());
        assert!(error(&many).contains("1000000"));
    }
}
