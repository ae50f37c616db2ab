//! Times of training iterations on one core, which `make bench-train` compares with torch.compile.
//!
//! The name of a benchmark is inputs × hidden width × hidden layers × batch; all networks have 10
//! outputs. An iteration gathers its minibatch, runs forward and backward pass, reads the loss and
//! updates the weights.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fuld_train::data::{DataSet, ImageShape, Images, Standardization};
use fuld_train::spec::{Device, TrainRequest, TrainSpec};
use fuld_train::train::Trainer;
use std::hint::black_box;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Side of the images, hidden width, hidden layers and batch of each network.
const NETS: [(usize, usize, usize, usize); 7] = [
    (28, 128, 2, 128),
    (28, 256, 4, 128),
    (28, 512, 6, 500),
    // The sizes of the built-in digits.
    (8, 32, 2, 100),
    (8, 64, 2, 100),
    (8, 128, 2, 100),
    (8, 256, 2, 100),
];

/// Returns random images whose class is the brightest of ten blocks.
fn data(side: usize) -> DataSet {
    let size = side * side;
    let images = |count: usize| {
        let pixel = |n: usize| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8;
        let pixels: Vec<u8> = (0..count * size).map(pixel).collect();
        let brightness = |block: &[u8]| block.iter().map(|&p| u32::from(p)).sum::<u32>();
        let brightest = |image: &[u8]| {
            let blocks = image.chunks(size.div_ceil(10)).map(brightness).enumerate();
            blocks.max_by_key(|&(_, sum)| sum).map_or(0, |(block, _)| block as u8)
        };
        let labels = pixels.chunks(size).map(brightest).collect();
        let standard = Standardization { peak: 255, channels: vec![(0.5, 0.29)] };
        let shape = ImageShape { channels: 1, height: side, width: side };
        Images::new(shape, pixels, labels, &standard).expect("as many labels as images")
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
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the only pool");
    let mut group = criterion.benchmark_group("training");
    group.throughput(Throughput::Elements(1)).sample_size(20);
    for (side, width, hidden, batch) in NETS {
        let data = data(side);
        let name = format!("{}x{width}x{hidden}x{batch}", side * side);
        let spec = spec(&data, width, hidden, batch);
        let mut trainer = Trainer::new(&data, &[spec]).expect("settings that fit");
        group.bench_function(BenchmarkId::new("iteration", &name), |bencher| {
            bencher.iter(|| {
                trainer.step().expect("settings that fit");
                black_box(trainer.losses().expect("settings that fit"))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, training);
criterion_main!(benches);
