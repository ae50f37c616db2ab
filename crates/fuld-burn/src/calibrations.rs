//! The calibrations of a parameter, one for each run, and the tensor they are kept in.

use crate::mover::Mover;
use burn::tensor::backend::Backend;
use burn::tensor::{DType, Int, Tensor, TensorData};
use fuld::optimizer::{Calibration, Reading, Rule, Seen};

/// One for each run, of tensors of one length.
pub(crate) struct Calibrations {
    all: Vec<Calibration>,
    /// Numbers of a run's part of the parameter.
    length: usize,
}

impl Calibrations {
    /// Those that were kept, or fresh ones; none if no run needs any.
    ///
    /// # Panics
    ///
    /// If what was kept belongs to another parameter.
    pub(crate) fn of<B: Backend>(
        movers: &[Mover],
        kept: Option<Tensor<B, 2>>,
        length: usize,
    ) -> Option<Self> {
        if !movers.iter().any(Mover::is_auto) {
            return None;
        }
        let all = match kept {
            None => vec![Calibration::new(length); movers.len()],
            Some(kept) => {
                let [runs, size] = kept.dims();
                let numbers: Vec<f32> = kept.into_data().convert::<f32>().into_vec().unwrap_or_default();
                let of = |numbers: &[f32]| Calibration::from_numbers(numbers.to_vec(), length);
                let all: Option<Vec<_>> = numbers.chunks_exact(size.max(1)).map(of).collect();
                match all {
                    Some(all) if runs == movers.len() => all,
                    _ => panic!(
                        "the calibration kept is not that of {} runs of {length} numbers",
                        movers.len()
                    ),
                }
            }
        };
        Some(Self { all, length })
    }

    /// As a tensor of single precision, whatever the parameters are of.
    pub(crate) fn kept<B: Backend>(&self, device: &B::Device) -> Tensor<B, 2> {
        let numbers: Vec<f32> = self.all.iter().flat_map(Calibration::numbers).copied().collect();
        let shape = [self.all.len(), numbers.len() / self.all.len().max(1)];
        Tensor::from_data(TensorData::new(numbers, shape), (device, DType::F32))
    }

    pub(crate) fn of_run(&mut self, run: usize) -> &mut Calibration {
        &mut self.all[run]
    }

    /// What each says now.
    pub(crate) fn readings(&self) -> Vec<Reading> {
        self.all.iter().map(Calibration::reading).collect()
    }

    /// The rules of a step, after a look at tensors wherever they are.
    pub(crate) fn rules<B: Backend, const D: usize>(
        &mut self,
        movers: &[Mover],
        x: &Tensor<B, D>,
        b: Option<&Tensor<B, D>>,
        g: &Tensor<B, D>,
    ) -> Vec<Rule> {
        let (runs, length) = (self.all.len(), self.length);
        // All that look have seen as many gradients, and look at the same places.
        let looking = movers.iter().zip(&self.all).find_map(|(mover, of)| mover.is_auto().then_some(of));
        let places: Vec<i64> =
            looking.map_or(Vec::new(), |of| of.rows(length).flatten().map(|place| place as i64).collect());
        let count = places.len();
        let places = Tensor::<B, 1, Int>::from_data(TensorData::new(places, [count]), &x.device());
        let at = |tensor: &Tensor<B, D>| -> Vec<f32> {
            let seen = tensor.clone().reshape([runs, length]).select(1, places.clone());
            seen.into_data().convert::<f32>().into_vec().unwrap_or_default()
        };
        let (x, g) = (at(x), at(g));
        let mut b = b.map_or_else(|| vec![0.0; g.len()], at);
        let rule = |(run, mover): (usize, &Mover)| match mover {
            Mover::Fixed(_, rule) => rule.clone(),
            Mover::Auto(rule) => {
                let part = run * count..(run + 1) * count;
                let seen =
                    Seen { gradient: &g[part.clone()], buffer: &mut b[part.clone()], parameters: &x[part] };
                self.all[run].observe(seen, rule.motion());
                rule.rule(&self.all[run])
            }
        };
        movers.iter().enumerate().map(rule).collect()
    }
}
