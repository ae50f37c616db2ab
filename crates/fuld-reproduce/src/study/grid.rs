//! The grids of a study: products of settings, each trained with every treatment and seed; and the
//! file that `fuld sweep` trains.

use super::network_row::{Group, LabelledRun};
use super::treatment::Treatment;
use fuld::durable::replace;
use fuld_train::spec::{DataDescription, InjectedNoise, SpecError, TrainRequest};
use std::ops::Range;
use std::path::Path;
use toml::{Table, Value};

/// The paper measures every 100 iterations and reports the mean of the last two measurements.
const BETWEEN_MEASUREMENTS: u64 = 100;

/// A grid of runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grid {
    pub(crate) group: Group,
    pub(crate) treatments: Vec<Treatment>,
    pub(crate) noise: Vec<Option<InjectedNoise>>,
    /// Units of a hidden layer.
    pub(crate) widths: Vec<usize>,
    /// Linear layers.
    pub(crate) depths: Vec<usize>,
    pub(crate) batch: Option<usize>,
    /// Learning rates and momenta; `None` means those of the paper.
    pub(crate) rates: Vec<Option<(f64, f64)>>,
    /// Optimizer steps.
    pub(crate) iterations: u64,
    pub(crate) seeds: Range<u64>,
}

impl Grid {
    /// Returns all runs. They are measured only twice, at the end.
    pub(crate) fn runs(&self, data: &DataDescription) -> Result<Vec<LabelledRun>, SpecError> {
        let mut requests = vec![TrainRequest {
            batch: self.batch,
            iterations: Some(self.iterations),
            measure_every: Some(self.iterations.saturating_sub(BETWEEN_MEASUREMENTS).max(1)),
            ..TrainRequest::default()
        }];
        vary(&mut requests, &self.noise, |request, noise| request.inject_noise = noise);
        vary(&mut requests, &self.widths, |request, width| request.width = Some(width));
        vary(&mut requests, &self.depths, |request, depth| request.depth = Some(depth));
        vary(&mut requests, &self.rates, |request, rate| {
            (request.lr, request.momentum) = (rate.map(|rate| rate.0), rate.map(|rate| rate.1));
        });
        let seeds: Vec<u64> = self.seeds.clone().collect();
        vary(&mut requests, &seeds, |request, seed| request.seed = Some(seed));
        let run = |request: &TrainRequest, treatment: Treatment| {
            Ok(LabelledRun { group: self.group, treatment, spec: treatment.spec(request, data)? })
        };
        let all = requests
            .iter()
            .flat_map(|request| self.treatments.iter().map(move |&it| run(request, it)));
        all.collect()
    }
}

/// Replaces each request by one for each value of a setting.
fn vary<T: Copy>(
    requests: &mut Vec<TrainRequest>,
    values: &[T],
    set: impl Fn(&mut TrainRequest, T),
) {
    let each = |request: TrainRequest| {
        let set = &set;
        values.iter().map(move |&value| {
            let mut request = request.clone();
            set(&mut request, value);
            request
        })
    };
    *requests = std::mem::take(requests).into_iter().flat_map(each).collect();
}

/// Returns all runs of some grids.
pub(crate) fn all_runs(
    grids: &[Grid],
    data: &DataDescription,
) -> Result<Vec<LabelledRun>, SpecError> {
    Ok(grids.iter().map(|grid| grid.runs(data)).collect::<Result<Vec<_>, _>>()?.concat())
}

/// Returns `count` seeds from `first` on, or the last ones there are.
pub(crate) fn seeds(first: u64, count: u64) -> Range<u64> {
    let first = first.min(u64::MAX - count);
    first..first + count
}

/// Keys of a specification that a grid does not have.
const NOT_IN_GRIDS: [&str; 2] = ["data_fingerprint", "device"];

/// Returns runs as tables `[[grid]]` that list the values of every setting that varies.
pub(crate) fn to_toml(runs: &[LabelledRun]) -> anyhow::Result<Table> {
    let mut groups: Vec<(&LabelledRun, Vec<Table>)> = Vec::new();
    for run in runs {
        let mut table = Table::try_from(&run.spec)?;
        table.retain(|key, _| !NOT_IN_GRIDS.contains(&key));
        let same = |(other, _): &&mut (&LabelledRun, Vec<Table>)| {
            (other.group, other.treatment) == (run.group, run.treatment)
        };
        match groups.iter_mut().find(same) {
            Some((_, tables)) => tables.push(table),
            None => groups.push((run, vec![table])),
        }
    }
    let grids =
        groups.into_iter().flat_map(|(_, tables)| products(tables)).map(Value::Table).collect();
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
            let part = |value| {
                tables.iter().filter(|table| table.get(key) == Some(value)).cloned().collect()
            };
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

/// The file of an exhibit with its runs as a grid for `fuld sweep`.
pub(crate) const SWEEP: &str = "sweep.toml";

/// Writes runs into a folder as `sweep.toml`.
pub(super) fn write(folder: &Path, runs: &[LabelledRun]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let text = format!(
        "# fuld sweep sweep.toml trains these runs.\n\n{}",
        toml::to_string(&to_toml(runs)?)?
    );
    Ok(replace(&folder.join(SWEEP), text.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::seeds;

    #[test]
    fn every_first_seed_has_others_after_it() {
        assert_eq!((seeds(7, 5), seeds(u64::MAX, 5)), (7..12, u64::MAX - 5..u64::MAX));
    }
}
