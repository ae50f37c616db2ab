//! The runs of a sweep: their folders, their shards, and the stacks that are trained together.

use crate::run_all;
use crate::spec::TrainSpec;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRun {
    /// The specification.
    pub spec: TrainSpec,
    /// The folder of the run.
    pub folder: PathBuf,
}

/// A part of a sweep, written `i/n` with i from 1 to n: the runs i, i + n, i + 2n, ….
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected I/N with 1 <= I <= N, as in 2/8, got {text:?}");
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let (index, count): (usize, usize) =
            (index.parse().map_err(|_| wrong())?, count.parse().map_err(|_| wrong())?);
        if (1..=count).contains(&index) {
            Ok(Self { index: index - 1, count })
        } else {
            Err(wrong())
        }
    }
}

/// Returns the runs of a sweep in a folder, or a shard of them.
pub fn sweep_runs(specs: Vec<TrainSpec>, out: &Path, shard: Option<Shard>) -> Vec<SweepRun> {
    let Shard { index, count } = shard.unwrap_or(Shard { index: 0, count: 1 });
    let run = |spec: TrainSpec| SweepRun { folder: out.join("runs").join(spec.name()), spec };
    specs.into_iter().skip(index).step_by(count).map(run).collect()
}

/// Groups runs into stacks of at most `most` runs that can be trained together.
pub fn into_stacks(runs: Vec<SweepRun>, most: usize) -> Vec<Vec<SweepRun>> {
    run_all::into_stacks(runs, most, |a, b| a.spec.stacks_with(&b.spec))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{DataDescription, Device, TrainRequest};

    fn spec(width: usize, alpha: f64, seed: u64) -> TrainSpec {
        let subject = DataDescription {
            name: "digits".into(),
            fingerprint: "1".into(),
            images: 1442,
            inputs: 64,
            classes: 10,
        };
        let request = TrainRequest {
            width: Some(width),
            alpha: Some(alpha),
            seed: Some(seed),
            ..TrainRequest::default()
        };
        request.spec(&subject, Device::Cpu).unwrap()
    }

    #[test]
    fn every_run_belongs_to_one_shard() {
        let all: Vec<TrainSpec> = (0..11).map(|seed| spec(8, 2.0, seed)).collect();
        let shard =
            |text: &str| sweep_runs(all.clone(), Path::new("x"), Some(text.parse().unwrap()));
        let mut seeds: Vec<u64> =
            ["1/3", "2/3", "3/3"].iter().flat_map(|s| shard(s)).map(|run| run.spec.seed).collect();
        seeds.sort_unstable();
        assert_eq!(seeds, (0..11).collect::<Vec<_>>());
        for wrong in ["0/3", "4/3", "1/0", "1", "a/b"] {
            assert!(wrong.parse::<Shard>().unwrap_err().contains(wrong));
        }
    }

    #[test]
    fn runs_of_one_shape_are_stacked() {
        let all = [(8, 2.0), (8, 1.5), (16, 1.5)];
        let all =
            all.into_iter().flat_map(|(w, a)| (0..3).map(move |seed| spec(w, a, seed))).collect();
        let sizes = |most| -> Vec<usize> {
            into_stacks(sweep_runs(Vec::clone(&all), Path::new("x"), None), most)
                .iter()
                .map(Vec::len)
                .collect()
        };
        assert_eq!(sizes(64), [6, 3]);
        assert_eq!(sizes(4), [4, 2, 3]);
        assert_eq!(sizes(1), [1; 9]);
    }
}
