//! The jobs of a sweep: which there are, which are this process's, and which train together.

use crate::settings::{Optimizer, Settings};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// One run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// What determines it.
    pub settings: Settings,
    /// Its folder.
    pub folder: PathBuf,
}

/// A part of a sweep, written `i/n`: jobs i, i + n, i + 2n, … of n parts, i from 1.
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
        if (1..=count).contains(&index) { Ok(Self { index: index - 1, count }) } else { Err(wrong()) }
    }
}

/// The jobs of a sweep in a folder, or a shard of them.
pub fn jobs(settings: Vec<Settings>, out: &Path, shard: Option<Shard>) -> Vec<Job> {
    let Shard { index, count } = shard.unwrap_or(Shard { index: 0, count: 1 });
    let job = |settings: Settings| Job { folder: out.join("runs").join(settings.name()), settings };
    settings.into_iter().skip(index).step_by(count).map(job).collect()
}

/// Jobs that can train together, at most `most` at a time: those that differ in nothing but seed, α, friction or momentum, scale
/// and the law of the noise.
pub fn stacks(jobs: Vec<Job>, most: usize) -> Vec<Vec<Job>> {
    let mut stacks: Vec<Vec<Job>> = Vec::new();
    for job in jobs {
        let room = |stack: &&mut Vec<Job>| stack.len() < most && fits(&stack[0].settings, &job.settings);
        match stacks.iter_mut().find(room) {
            Some(stack) => stack.push(job),
            None => stacks.push(vec![job]),
        }
    }
    stacks
}

fn fits(a: &Settings, b: &Settings) -> bool {
    let shape =
        |s: &Settings| (s.data_fingerprint.clone(), s.width, s.depth, s.batch, s.iterations, s.measure_every);
    // SGD with momentum is the rule at α = 2.
    let rule = |s: &Settings| if s.optimizer == Optimizer::Sgdm { Optimizer::Fuld } else { s.optimizer };
    shape(a) == shape(b)
        && rule(a) == rule(b)
        && (a.step(), a.clip, a.tail_index) == (b.step(), b.clip, b.tail_index)
        && a.inject_noise.is_some() == b.inject_noise.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Device, Request, Subject};

    fn settings(width: usize, alpha: f64, seed: u64) -> Settings {
        let subject =
            Subject { name: "digits".into(), fingerprint: "1".into(), images: 1442, inputs: 64, classes: 10 };
        let request =
            Request { width: Some(width), alpha: Some(alpha.into()), seed: Some(seed), ..Request::default() };
        request.settings(&subject, Device::Cpu).unwrap()
    }

    #[test]
    fn shards_are_a_partition() {
        let all: Vec<Settings> = (0..11).map(|seed| settings(8, 2.0, seed)).collect();
        let shard = |text: &str| jobs(all.clone(), Path::new("x"), Some(text.parse().unwrap()));
        let mut seeds: Vec<u64> =
            ["1/3", "2/3", "3/3"].iter().flat_map(|s| shard(s)).map(|job| job.settings.seed).collect();
        seeds.sort_unstable();
        assert_eq!(seeds, (0..11).collect::<Vec<_>>());
        for wrong in ["0/3", "4/3", "1/0", "1", "a/b"] {
            assert!(wrong.parse::<Shard>().unwrap_err().contains(wrong));
        }
    }

    #[test]
    fn runs_of_one_shape_train_together() {
        let all = [(8, 2.0), (8, 1.5), (16, 1.5)];
        let all = all.into_iter().flat_map(|(w, a)| (0..3).map(move |seed| settings(w, a, seed))).collect();
        let sizes = |most| -> Vec<usize> {
            stacks(jobs(Vec::clone(&all), Path::new("x"), None), most).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(64), [6, 3]);
        assert_eq!(sizes(4), [4, 2, 3]);
        assert_eq!(sizes(1), [1; 9]);
    }
}
