//! The step on host memory, for the backend flex: the rule of `fuld` in one pass and in place.

use burn::tensor::backend::Backend;
use burn::tensor::{DType, Element, Tensor, TensorData};
use fuld::optimizer::{Real, Rule};

/// Returns parameter and buffer after a step. Tensors without other owners are changed in place.
pub(crate) fn step<B: Backend, const D: usize>(
    rule: &Rule,
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
        DType::F64 => in_place::<f64>(rule, &mut x, &mut b, &g),
        _ => in_place::<f32>(rule, &mut x, &mut b, &g),
    }
    (Tensor::from_data(x, (&device, dtype)), Tensor::from_data(b, (&device, dtype)))
}

fn in_place<T: Real + Element>(
    rule: &Rule,
    x: &mut TensorData,
    b: &mut TensorData,
    g: &TensorData,
) {
    let (Ok(x), Ok(b), Ok(g)) = (x.as_mut_slice::<T>(), b.as_mut_slice::<T>(), g.as_slice::<T>())
    else {
        panic!("parameter, momentum buffer and gradient must have the same type {:?}", T::dtype());
    };
    rule.step(x, b, g);
}
