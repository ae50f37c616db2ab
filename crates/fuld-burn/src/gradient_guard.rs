//! The guard of [`fuld::guard`] on tensors.

use burn::backend::Flex;
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Element, Int, Tensor, TensorData};
use fuld::guard::{Guard, GuardState, sampled_positions};
use fuld::optimizer::Real;
use std::any::TypeId;

/// Guards the gradients of parameters, each with a state of its own.
///
/// On the CPU backend flex the rule of `fuld` works on the tensors' memory. On every other backend
/// it is tensor operations on the device, which the host does not wait for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientGuard {
    guard: Guard,
}

impl GradientGuard {
    /// Creates the guard of parameters.
    pub fn new(guard: Guard) -> Self {
        Self { guard }
    }

    /// Returns the guarded gradient of a parameter and its new state, one row of
    /// [`GuardState::LEN`] numbers.
    ///
    /// The first gradient has no state. On a device the numbers of a state are not read: one of
    /// another format begins anew.
    ///
    /// # Panics
    ///
    /// If the state has another shape, or on flex another format.
    pub fn apply<B: Backend, const D: usize>(
        &self,
        gradient: Tensor<B, D>,
        state: Option<Tensor<B, 2>>,
    ) -> (Tensor<B, D>, Tensor<B, 2>) {
        if let Some(state) = &state {
            let (shape, expected) = (state.dims(), [1, GuardState::LEN]);
            assert!(
                shape == expected,
                "the guard's state must have shape {expected:?}, got {shape:?}"
            );
        }
        let in_memory = TypeId::of::<B>() == TypeId::of::<Flex>();
        if in_memory && matches!(gradient.dtype(), DType::F32 | DType::F64) {
            self.apply_in_memory(gradient, state)
        } else {
            self.apply_on_device(gradient, state)
        }
    }

    fn apply_in_memory<B: Backend, const D: usize>(
        &self,
        gradient: Tensor<B, D>,
        state: Option<Tensor<B, 2>>,
    ) -> (Tensor<B, D>, Tensor<B, 2>) {
        let (device, dtype) = (gradient.device(), gradient.dtype());
        let mut state = state.map_or_else(GuardState::new, |state| {
            let numbers: Vec<f32> = state.into_data().iter::<f32>().collect();
            GuardState::from_numbers(&numbers).unwrap_or_else(|error| panic!("{error}"))
        });
        let mut g = gradient.into_data();
        match dtype {
            DType::F64 => self.in_place::<f64>(&mut state, &mut g),
            _ => self.in_place::<f32>(&mut state, &mut g),
        }
        let state = TensorData::new(state.to_numbers().to_vec(), [1, GuardState::LEN]);
        (Tensor::from_data(g, (&device, dtype)), Tensor::from_data(state, (&device, DType::F32)))
    }

    fn in_place<T: Real + Element>(&self, state: &mut GuardState, g: &mut TensorData) {
        let Ok(g) = g.as_mut_slice::<T>() else {
            panic!("the gradient must have the type {:?}", T::dtype())
        };
        self.guard.apply(state, g);
    }

    /// The formulas of [`Guard::observe`] and [`Decision::apply`](fuld::guard::Decision::apply) in
    /// tensor operations.
    fn apply_on_device<B: Backend, const D: usize>(
        &self,
        gradient: Tensor<B, D>,
        state: Option<Tensor<B, 2>>,
    ) -> (Tensor<B, D>, Tensor<B, 2>) {
        let (device, shape, dtype) = (gradient.device(), gradient.shape(), gradient.dtype());
        let length = shape.num_elements();
        let g = gradient.reshape([1, length]);
        let state = state.unwrap_or_else(|| {
            let numbers = GuardState::new().to_numbers().to_vec();
            Tensor::from_data(TensorData::new(numbers, [1, GuardState::LEN]), (&device, DType::F32))
        });
        let column = |n: usize| state.clone().slice([0..1, n..n + 1]);
        let [version, steps, log_scale] = [column(0), column(1), column(2)];
        let new = GuardState::new().to_numbers();
        let steps = steps.mask_fill(version.clone().not_equal_elem(new[0]), 0.0);

        let positions: Vec<i64> =
            sampled_positions(length).map(|position| position as i64).collect();
        let count = positions.len();
        let positions =
            Tensor::<B, 1, Int>::from_data(TensorData::new(positions, [count]), &device);
        let sample = g.clone().select(1, positions).cast(DType::F32).abs();
        // NaN fails both comparisons.
        let counts = sample
            .clone()
            .greater_equal_elem(f32::MIN_POSITIVE)
            .bool_and(sample.clone().lower_equal_elem(f32::MAX));
        let logs = sample.mask_fill(counts.clone().bool_not(), 1.0).log().sum_dim(1);
        let counted =
            Tensor::zeros([1, count], (&device, DType::F32)).mask_fill(counts, 1.0).sum_dim(1);
        let nothing = counted.clone().equal_elem(0.0);
        let mean = logs / counted.clamp_min(1.0);

        let first = steps.clone().equal_elem(0.0);
        let smaller = log_scale.clone().min_pair(mean.clone());
        let before = log_scale
            .clone()
            .mask_where(steps.clone().equal_elem(1.0), smaller)
            .mask_where(first.clone(), mean.clone());
        let deviation = (mean - before.clone()).mask_fill(nothing.clone(), 0.0);
        let next =
            (steps.clone() + 1.0).clamp_max(1.0 / Guard::WEIGHT).mask_where(nothing.clone(), steps);
        let weight = next.clone().clamp_min(1.0).recip().clamp_min(Guard::WEIGHT);
        let bound = Guard::BURST.ln();
        let log_scale = (before + weight * deviation.clone().clamp(-bound, bound))
            .mask_where(nothing.clone(), log_scale);
        let factor = (deviation.neg().exp() * Guard::BURST).clamp_max(1.0);
        let limit = (log_scale.clone().exp() * self.guard.clip())
            .mask_fill(first.clone(), 0.0)
            .mask_fill(first.bool_and(nothing), f32::INFINITY);
        let version = version.full_like(new[0]);
        let state = Tensor::cat(vec![version, next, log_scale], 1);

        let limit = limit.cast(dtype).expand([1, length]);
        let scaled = g * factor.cast(dtype).expand([1, length]);
        let nan = scaled.clone().is_nan();
        let clipped = scaled.max_pair(-limit.clone()).min_pair(limit).mask_fill(nan, 0.0);
        // Infinite where the limit is.
        let infinite = clipped.clone().is_inf();
        (clipped.mask_fill(infinite, 0.0).reshape(shape), state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gradients with a burst, corrupted components, and a step without a usable component.
    fn gradients() -> impl Iterator<Item = Vec<f32>> {
        (0..70).map(|step| {
            let mut g: Vec<f32> = (0..10_000)
                .map(|i| (((i * 7919 + step * 104_729) % 10_007) as f32 / 5003.5 - 1.0).powi(3))
                .collect();
            match step {
                3 | 60 => g.iter_mut().for_each(|g| *g *= 1000.0),
                5 | 61 => g.fill(f32::NAN),
                _ => {}
            }
            (g[17], g[4000], g[7001], g[9999]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0);
            g
        })
    }

    fn close(a: &[f32], b: &[f32]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 2e-5 * b.abs())
    }

    fn agrees_with_slices<B: Backend>(device: &B::Device) {
        for clip in [1.0, 30.0, f64::INFINITY] {
            let guard = Guard::new(clip).unwrap();
            let (mut known, mut state) = (GuardState::new(), None);
            for mut g in gradients() {
                let tensor =
                    Tensor::<B, 3>::from_data(TensorData::new(g.clone(), [2, 50, 100]), device);
                let (ours, next) = GradientGuard::new(guard).apply_on_device(tensor, state);
                guard.apply(&mut known, &mut g);
                let ours: Vec<f32> = ours.into_data().iter::<f32>().collect();
                assert!(close(&ours, &g), "{clip}");
                let numbers: Vec<f32> = next.clone().into_data().iter::<f32>().collect();
                assert!(close(&numbers, &known.to_numbers()), "{clip}: {numbers:?} {known:?}");
                state = Some(next);
            }
        }
    }

    #[test]
    fn tensor_operations_agree_with_slices() {
        agrees_with_slices::<Flex>(&Default::default());
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn tensor_operations_agree_with_slices_on_cuda() {
        agrees_with_slices::<burn::backend::Cuda>(&Default::default());
    }

    #[test]
    fn in_memory_it_is_the_rule_on_slices_bit_for_bit() {
        let (guard, mut state, mut known) = (Guard::FOR_SGD, None, GuardState::new());
        for mut g in gradients().take(10) {
            let tensor = Tensor::<Flex, 1>::from_data(
                TensorData::new(g.clone(), [10_000]),
                &Default::default(),
            );
            let (ours, next) = GradientGuard::new(guard).apply(tensor, state);
            guard.apply(&mut known, &mut g);
            assert_eq!(ours.into_data().to_vec::<f32>().unwrap(), g);
            state = Some(next);
        }
    }

    #[test]
    #[should_panic(expected = "shape [1, 3], got [2, 3]")]
    fn a_state_of_another_shape_is_refused() {
        let state = Tensor::<Flex, 2>::zeros([2, 3], &Default::default());
        let g = Tensor::<Flex, 2>::ones([2, 5], &Default::default());
        let _ = GradientGuard::new(Guard::FOR_SGD).apply(g, Some(state));
    }

    #[test]
    #[should_panic(expected = "format version 0")]
    fn a_state_of_another_format_is_refused() {
        let state = Tensor::<Flex, 2>::zeros([1, 3], &Default::default());
        let g = Tensor::<Flex, 1>::ones([5], &Default::default());
        let _ = GradientGuard::new(Guard::FOR_SGD).apply(g, Some(state));
    }
}
