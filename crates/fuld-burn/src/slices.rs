//! The step on memory: for a backend whose tensors are in the host's, the rule of `fuld` in one pass and in place.

use crate::calibrations::Calibrations;
use crate::mover::Mover;
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Element, Tensor, TensorData};
use fuld::optimizer::Real;

/// Parameter and buffer after a step. A tensor that nothing else holds is changed in place, not copied.
pub(crate) fn step<B: Backend, const D: usize>(
    movers: &[Mover],
    found: Option<&mut Calibrations>,
    tensor: Tensor<B, D>,
    buffer: Option<Tensor<B, D>>,
    gradient: Tensor<B, D>,
) -> (Tensor<B, D>, Tensor<B, D>) {
    let (device, dtype) = (tensor.device(), tensor.dtype());
    let mut x = tensor.into_data();
    let mut b = match buffer {
        Some(buffer) => buffer.into_data(),
        None if dtype == DType::F64 => TensorData::zeros::<f64, _>(x.shape.clone()),
        None => TensorData::zeros::<f32, _>(x.shape.clone()),
    };
    let g = gradient.into_data();
    match dtype {
        DType::F64 => over_runs::<f64>(movers, found, &mut x, &mut b, &g),
        _ => over_runs::<f32>(movers, found, &mut x, &mut b, &g),
    }
    (Tensor::from_data(x, (&device, dtype)), Tensor::from_data(b, (&device, dtype)))
}

/// Each on its part of the first axis.
fn over_runs<T: Real + Element>(
    movers: &[Mover],
    mut found: Option<&mut Calibrations>,
    x: &mut TensorData,
    b: &mut TensorData,
    g: &TensorData,
) {
    let (Ok(x), Ok(b), Ok(g)) = (x.as_mut_slice::<T>(), b.as_mut_slice::<T>(), g.as_slice::<T>()) else {
        panic!("parameter, momentum buffer and gradient must be of one type, {:?}", T::dtype());
    };
    if x.is_empty() {
        return;
    }
    let length = x.len() / movers.len();
    let parts = x.chunks_exact_mut(length).zip(b.chunks_exact_mut(length)).zip(g.chunks_exact(length));
    for (run, (mover, ((x, b), g))) in movers.iter().zip(parts).enumerate() {
        match (mover, &mut found) {
            (Mover::Fixed(_, rule), _) => rule.step(x, b, g),
            (Mover::Auto(rule), Some(found)) => {
                rule.step(found.of_run(run), x, b, g);
            }
            (Mover::Auto(_), None) => panic!("there must be a calibration for a rule that needs one"),
        }
    }
}
