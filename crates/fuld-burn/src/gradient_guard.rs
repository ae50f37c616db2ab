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
    runs: usize,
}

impl GradientGuard {
    /// Creates the guard of single parameters.
    pub fn new(guard: Guard) -> Self {
        Self::of_runs(guard, 1)
    }

    /// Creates the guard of a stack of independent runs: the first axis of every parameter counts
    /// the runs, and each run has its own state.
    pub fn of_runs(guard: Guard, runs: usize) -> Self {
        Self { guard, runs }
    }

    /// Returns the guarded gradient of a parameter and its new state, which has one row of
    /// [`GuardState::LEN`] numbers per run.
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
            let (shape, expected) = (state.dims(), [self.runs, GuardState::LEN]);
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
        let mut states = match state {
            None => vec![GuardState::new(); self.runs],
            Some(state) => {
                let numbers: Vec<f32> = state.into_data().iter::<f32>().collect();
                let load = |numbers| {
                    GuardState::from_numbers(numbers).unwrap_or_else(|error| panic!("{error}"))
                };
                numbers.chunks_exact(GuardState::LEN).map(load).collect()
            }
        };
        let mut g = gradient.into_data();
        match dtype {
            DType::F64 => self.over_runs::<f64>(&mut states, &mut g),
            _ => self.over_runs::<f32>(&mut states, &mut g),
        }
        let numbers: Vec<f32> = states.iter().flat_map(|state| state.to_numbers()).collect();
        let states = TensorData::new(numbers, [self.runs, GuardState::LEN]);
        (Tensor::from_data(g, (&device, dtype)), Tensor::from_data(states, (&device, DType::F32)))
    }

    fn over_runs<T: Real + Element>(&self, states: &mut [GuardState], g: &mut TensorData) {
        let Ok(g) = g.as_mut_slice::<T>() else {
            panic!("the gradient must have the type {:?}", T::dtype())
        };
        let length = g.len() / self.runs;
        for (state, g) in states.iter_mut().zip(g.chunks_exact_mut(length.max(1))) {
            self.guard.apply(state, g);
        }
    }

    /// The formulas of [`Guard::observe`] and [`Decision::apply`](fuld::guard::Decision::apply) in
    /// tensor operations.
    fn apply_on_device<B: Backend, const D: usize>(
        &self,
        gradient: Tensor<B, D>,
        state: Option<Tensor<B, 2>>,
    ) -> (Tensor<B, D>, Tensor<B, 2>) {
        let (device, shape, dtype) = (gradient.device(), gradient.shape(), gradient.dtype());
        let length = shape.num_elements() / self.runs;
        let g = gradient.reshape([self.runs, length]);
        let state = state.unwrap_or_else(|| {
            let numbers = vec![GuardState::new().to_numbers(); self.runs].concat();
            Tensor::from_data(
                TensorData::new(numbers, [self.runs, GuardState::LEN]),
                (&device, DType::F32),
            )
        });
        let column = |n: usize| state.clone().slice([0..self.runs, n..n + 1]);
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
        let counted = Tensor::zeros([self.runs, count], (&device, DType::F32))
            .mask_fill(counts, 1.0)
            .sum_dim(1);
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

        let limit = limit.cast(dtype).expand([self.runs, length]);
        let scaled = g * factor.cast(dtype).expand([self.runs, length]);
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

    /// Gradients of two runs with a burst, corrupted components, and a step without a usable
    /// component.
    fn gradients() -> impl Iterator<Item = Vec<f32>> {
        (0..70).map(|step| {
            let mut g: Vec<f32> = (0..2 * 5000)
                .map(|i| {
                    (((i * 7919 + step * 104_729) % 10_007) as f32 / 5003.5 - 1.0).powi(3)
                        * if i < 5000 { 1.0 } else { 1e-4 }
                })
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
            let (mut states, mut state) = ([GuardState::new(); 2], None);
            for mut g in gradients() {
                let tensor =
                    Tensor::<B, 3>::from_data(TensorData::new(g.clone(), [2, 50, 100]), device);
                let (ours, next) = GradientGuard::of_runs(guard, 2).apply_on_device(tensor, state);
                for (state, g) in states.iter_mut().zip(g.chunks_exact_mut(5000)) {
                    guard.apply(state, g);
                }
                let ours: Vec<f32> = ours.into_data().iter::<f32>().collect();
                assert!(close(&ours, &g), "{clip}");
                let numbers: Vec<f32> = next.clone().into_data().iter::<f32>().collect();
                assert!(
                    close(&numbers, &states.map(GuardState::to_numbers).concat()),
                    "{clip}: {numbers:?} {states:?}"
                );
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
    #[should_panic(expected = "shape [2, 3], got [1, 3]")]
    fn the_state_of_another_stack_is_refused() {
        let state = Tensor::<Flex, 2>::zeros([1, 3], &Default::default());
        let g = Tensor::<Flex, 2>::ones([2, 5], &Default::default());
        let _ = GradientGuard::of_runs(Guard::FOR_SGD, 2).apply(g, Some(state));
    }

    #[test]
    #[should_panic(expected = "format version 0")]
    fn a_state_of_another_format_is_refused() {
        let state = Tensor::<Flex, 2>::zeros([1, 3], &Default::default());
        let g = Tensor::<Flex, 1>::ones([5], &Default::default());
        let _ = GradientGuard::new(Guard::FOR_SGD).apply(g, Some(state));
    }
}
