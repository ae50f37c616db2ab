//! Times of training iterations on one core, and of the optimizer's part: `make bench-train`
//! compares them with torch.compile.
//!
//! The networks have 784 inputs and 10 outputs. The name of a benchmark is hidden width × hidden
//! layers × batch. An iteration gathers its minibatch, runs forward and backward pass, reads the
//! loss and updates the weights.

use burn::backend::Flex;
use burn::optim::SimpleOptimizer;
use burn::tensor::Tensor;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fuld_train::data::{DataSet, ImageShape, Images, Standardization};
use fuld_train::mlp::ImageBatch;
use fuld_train::spec::{Device, TrainRequest, TrainSpec};
use fuld_train::train::Trainer;
use std::hint::black_box;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Hidden width, hidden layers and batch of each network.
const NETS: [(usize, usize, usize); 3] = [(128, 2, 128), (256, 4, 128), (512, 6, 500)];

/// Returns random images whose class is the brightest of ten blocks.
fn data() -> DataSet {
    let images = |count: usize| {
        let pixel = |n: usize| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8;
        let pixels: Vec<u8> = (0..count * 784).map(pixel).collect();
        let brightness = |block: &[u8]| block.iter().map(|&p| u32::from(p)).sum::<u32>();
        let brightest = |image: &[u8]| {
            let blocks = image.chunks(79).map(brightness).enumerate();
            blocks.max_by_key(|&(_, sum)| sum).map_or(0, |(block, _)| block as u8)
        };
        let labels = pixels.chunks(784).map(brightest).collect();
        let standard = Standardization { peak: 255, channels: vec![(0.5, 0.29)] };
        Images::new(ImageShape { channels: 1, height: 28, width: 28 }, pixels, labels, &standard)
            .expect("as many labels as images")
    };
    DataSet { name: "noise", train: images(60_000), test: images(100), classes: 10 }
}

fn spec(data: &DataSet, width: usize, hidden: usize, batch: usize) -> TrainSpec {
    let request = TrainRequest {
        width: Some(width),
        depth: Some(hidden + 1),
        batch: Some(batch),
        lr: Some(0.01),
        momentum: Some(0.99),
        ..TrainRequest::default()
    };
    request.spec(&data.description(), Device::Cpu).expect("settings in range")
}

fn training(criterion: &mut Criterion) {
    let data = data();
    let mut group = criterion.benchmark_group("training");
    group.throughput(Throughput::Elements(1)).sample_size(20);
    for (width, hidden, batch) in NETS {
        let name = format!("{width}x{hidden}x{batch}");
        let spec = spec(&data, width, hidden, batch);
        let mut trainer =
            Trainer::<Flex>::new(&data, std::slice::from_ref(&spec), &Default::default())
                .expect("settings that fit");
        group.bench_function(BenchmarkId::new("iteration", &name), |bencher| {
            bencher.iter(|| black_box(trainer.step().into_data()));
        });
        let mut net = trainer.net().clone();
        let rule = spec.config().build::<Flex>().expect("settings in range");
        let mut states = vec![None; net.layers.len()];
        let tensor = |size| Tensor::<Flex, 3>::ones([1, batch, size], &Default::default());
        let minibatch = ImageBatch { images: tensor(784), targets: tensor(10) / 10 };
        // The optimizer runs after the gradients, so that the caches are as in training.
        let mut steps = |count| {
            let mut spent = Duration::ZERO;
            for _ in 0..count {
                let (_, gradients) = net.gradients(minibatch.clone());
                let start = Instant::now();
                let layers =
                    std::mem::take(&mut net.layers).into_iter().zip(gradients).zip(&mut states);
                let moved = layers.map(|((layer, gradient), state)| {
                    let (layer, new) = rule.step(spec.step(), layer, gradient, state.take());
                    *state = new;
                    layer
                });
                net.layers = moved.collect();
                spent += start.elapsed();
            }
            spent
        };
        group.bench_function(BenchmarkId::new("optimizer", &name), |bencher| {
            bencher.iter_custom(&mut steps)
        });
    }
    group.finish();
}

criterion_group!(benches, training);
criterion_main!(benches);
