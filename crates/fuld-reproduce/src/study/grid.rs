//! The runs of a study as a grid that `fuld sweep` trains.

use super::network_runs::PlannedRun;
use fuld::durable::replace;
use std::path::Path;
use toml::{Table, Value};

/// Keys of a specification that a grid does not have.
const NOT_IN_GRIDS: [&str; 2] = ["data_fingerprint", "device"];

/// Returns the grid: tables `[[grid]]`, each of which lists the values of every setting that varies.
pub(crate) fn grid(runs: &[PlannedRun]) -> anyhow::Result<Table> {
    let mut groups: Vec<(&PlannedRun, Vec<Table>)> = Vec::new();
    for run in runs {
        let mut table = Table::try_from(&run.spec)?;
        table.retain(|key, _| !NOT_IN_GRIDS.contains(&key));
        let same = |(other, _): &&mut (&PlannedRun, Vec<Table>)| {
            (other.group, other.treatment) == (run.group, run.treatment)
        };
        match groups.iter_mut().find(same) {
            Some((_, tables)) => tables.push(table),
            None => groups.push((run, vec![table])),
        }
    }
    let grids = groups.into_iter().flat_map(|(_, tables)| products(tables)).map(Value::Table).collect();
    Ok(Table::from_iter([("grid".to_owned(), Value::Array(grids))]))
}

/// Splits settings into as few products of lists as easily found.
fn products(tables: Vec<Table>) -> Vec<Table> {
    let mut axes: Vec<(String, Vec<Value>)> = Vec::new();
    for (key, value) in tables.iter().flatten() {
        match axes.iter_mut().find(|(name, _)| name == key) {
            Some((_, values)) if values.contains(value) => {}
            Some((_, values)) => values.push(value.clone()),
            None => axes.push((key.clone(), vec![value.clone()])),
        }
    }
    let combinations: usize = axes.iter().map(|(_, values)| values.len()).product();
    let split = axes.iter().find(|(key, values)| values.len() > 1 && key != "seed");
    match split {
        Some((key, values)) if combinations != tables.len() => {
            let part = |value| tables.iter().filter(|table| table.get(key) == Some(value)).cloned().collect();
            values.iter().flat_map(|value| products(part(value))).collect()
        }
        _ => {
            let entry = |(key, mut values): (String, Vec<Value>)| match values.len() {
                1 => (key, values.remove(0)),
                _ => (key, Value::Array(values)),
            };
            vec![axes.into_iter().map(entry).collect()]
        }
    }
}

/// Writes the grid into a folder as `sweep.toml`.
pub(super) fn write(folder: &Path, runs: &[PlannedRun]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let text = format!("# fuld sweep sweep.toml trains these runs.\n\n{}", toml::to_string(&grid(runs)?)?);
    Ok(replace(&folder.join("sweep.toml"), text.as_bytes())?)
}
