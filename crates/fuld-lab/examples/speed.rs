//! quick
use burn::backend::Flex;
use burn::optim::SimpleOptimizer;
use burn::tensor::{Tensor, TensorData};
use fuld_burn::*;
use fuld_lab::mlp::*;
use std::time::Instant;
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
fn main() {
    let device = Default::default();
    for (width, depth, n) in [(128, 3, 128), (256, 5, 128), (512, 7, 500)] {
        let shape = Shape { inputs: 784, width, depth, classes: 10 };
        let mut net = Mlp::<Flex>::new(shape, &[1], &device);
        let opt = FuldConfig::new(1.75, Form::Paper { gamma: 0.1, beta: 1.0 }).build::<Flex>().unwrap();
        let mut states: Vec<_> = net.layers.iter().map(|_| None).collect();
        let data: Vec<f32> = (0..10000 * 784).map(|n| ((n % 1013) as f32 * 1.1).sin()).collect();
        let (mut count, mut spent) = (0, 0.0);
        let mut begin = Instant::now();
        while count < 20 || begin.elapsed().as_secs_f64() < 4.0 {
            if count == 20 {
                begin = Instant::now();
                spent = 0.0;
            }
            let mut images = vec![0f32; n * 784];
            for (i, row) in images.chunks_exact_mut(784).enumerate() {
                let k = (i * 7919 + count * 31) % 10000;
                row.copy_from_slice(&data[k * 784..][..784]);
            }
            let mut targets = vec![0f32; n * 10];
            for i in 0..n {
                targets[i * 10 + (i * 7 + count) % 10] = 1.0;
            }
            let batch = Batch {
                images: Tensor::from_data(TensorData::new(images, [1, n, 784]), &device),
                targets: Tensor::from_data(TensorData::new(targets, [1, n, 10]), &device),
            };
            let (loss, gradients) = net.gradients(batch);
            let _ = loss.into_data();
            let t = Instant::now();
            net.layers = net
                .layers
                .into_iter()
                .zip(gradients)
                .zip(states.iter_mut())
                .map(|((w, g), s)| {
                    let (w, n) = opt.step(0.1, w, g, s.take());
                    *s = n;
                    w
                })
                .collect();
            spent += t.elapsed().as_secs_f64();
            count += 1;
        }
        let all = begin.elapsed().as_secs_f64();
        println!(
            "{width}x{} {n}: {:.1} it/s, optimizer {:.1} %",
            depth - 1,
            (count - 20) as f64 / all,
            100.0 * spent / all
        );
    }
}
