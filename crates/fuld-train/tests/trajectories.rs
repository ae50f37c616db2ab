//! Training gives the results of earlier versions, alone or in a stack, on any number of threads.

use fuld_train::data::DataSet;
use fuld_train::network::Network;
use fuld_train::spec::{Device, TrainRequest, TrainSpec};
use fuld_train::train::Trainer;
use std::path::Path;

/// Largest relative difference from the stored trajectories. Measured: 1.2e-6.
const TOLERANCE: f64 = 5e-6;

fn digits() -> DataSet {
    DataSet::load("digits", Path::new("")).unwrap()
}

/// Reads a run from settings in TOML.
fn spec(data: &DataSet, settings: &str) -> TrainSpec {
    let request: TrainRequest = toml::from_str(settings).unwrap();
    request.spec(&data.description(), Device::Cpu).unwrap()
}

#[test]
fn trajectories_are_those_of_earlier_versions() {
    let data = digits();
    let mut compared = 0;
    let stored = include_str!("golden/trajectories.csv").lines();
    for line in stored.filter(|line| !line.starts_with('#')).skip(1) {
        let columns: Vec<&str> = line.split(';').collect();
        let spec = spec(&data, &columns[0].replace(" & ", "\n"));
        let numbers = columns[1].split(' ').chain(columns[2..].iter().copied());
        let expected: Vec<f64> = numbers.map(|number| number.parse().unwrap()).collect();
        let mut trainer = Trainer::new(&data, &[spec]).unwrap();
        let mut found = Vec::new();
        for _ in 0..expected.len() - 4 {
            trainer.step().unwrap();
            found.extend(trainer.losses().unwrap());
        }
        let last = trainer.measure(true).unwrap()[0];
        found.extend([last.train_loss, last.train_accuracy, last.test_loss, last.test_accuracy]);
        for (n, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let difference = (found / expected - 1.0).abs();
            assert!(difference < TOLERANCE, "{}: number {n}: {found} {expected}", columns[0]);
        }
        compared += 1;
    }
    assert_eq!(compared, 18);
}

/// Returns the networks after 20 steps on a number of threads.
fn trained(data: &DataSet, specs: &[TrainSpec], threads: usize) -> Vec<Network> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut trainer = Trainer::new(data, specs).unwrap();
        (0..20).for_each(|_| trainer.step().unwrap());
        trainer.networks().unwrap()
    })
}

/// The widest layers have 10⁷ products per minibatch, which threads share.
#[test]
fn the_bits_depend_neither_on_threads_nor_on_the_stack() {
    let data = digits();
    let settings = [
        "alpha = 1.5",
        "alpha = 1.5\nseed = 1\ngamma = 0.5",
        "alpha = 1.9\ninject_noise = '1.5,1e-3'\nguard = 1.0",
        "lr = 0.01\nkappa = 0.002",
    ];
    let specs =
        settings.map(|settings| spec(&data, &format!("width = 300\ndepth = 3\n{settings}")));
    let together = trained(&data, &specs, 1);
    assert!(trained(&data, &specs, 3) == together);
    for (spec, network) in specs.iter().zip(&together) {
        for threads in [1, 4] {
            assert!(trained(&data, std::slice::from_ref(spec), threads) == [network.clone()]);
        }
    }
}
