//! Stable noise for gradients, as work of a device.

use super::device::{Argument, Array, Device, Kernel, Lane, Plain, Plan, blocks};
use super::passes::BLOCKS;
use crate::engine::CudaError;
use crate::spec::InjectedNoise;
use fuld::random::Purpose;
use levy_stable::{ParameterError, QuantileData, SymmetricStable};

/// The noise of a run, `Noise` in `kernels.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct RunNoise {
    seed: u64,
    alpha: f64,
    scale: f64,
    method: u32,
    octaves: u32,
    last_octave: u32,
    lowest: i32,
}

// SAFETY: 24 + 16 bytes of numbers, without padding.
unsafe impl Plain for RunNoise {}

/// Values of `RunNoise::method`.
const TABLE: u32 = 1;
const CHAMBERS: u32 = 2;

/// The noise of a stack with the tabulated quantile of each law.
#[derive(Debug)]
pub(super) struct StackNoise {
    host: Host,
    runs: Array<RunNoise>,
    octaves: Array<u32>,
    coefficients: Array<f64>,
    layers: u32,
}

/// The numbers that are uploaded.
#[derive(Debug, Default)]
struct Host {
    runs: Vec<RunNoise>,
    octaves: Vec<u32>,
    coefficients: Vec<f64>,
}

impl StackNoise {
    /// Plans the noise of runs with these seeds, or returns `None` if no run has noise.
    pub(super) fn plan(
        plan: &mut Plan,
        noises: &[(Option<InjectedNoise>, u64)],
        layers: usize,
    ) -> Result<Option<Self>, ParameterError> {
        if noises.iter().all(|(noise, _)| noise.is_none()) {
            return Ok(None);
        }
        let mut host = Host::default();
        // Runs with the same law share its table.
        let mut known: Vec<(InjectedNoise, RunNoise)> = Vec::new();
        for &(noise, seed) in noises {
            let Some(noise) = noise else {
                host.runs.push(RunNoise::default());
                continue;
            };
            let found = known.iter().find(|(law, _)| *law == noise).map(|(_, run)| *run);
            let run = match found {
                Some(run) => run,
                None => {
                    let run = host.law(noise)?;
                    known.push((noise, run));
                    run
                }
            };
            host.runs.push(RunNoise { seed, ..run });
        }
        Ok(Some(Self {
            runs: plan.array(host.runs.len()),
            octaves: plan.array(host.octaves.len()),
            coefficients: plan.array(host.coefficients.len()),
            layers: layers as u32,
            host,
        }))
    }

    pub(super) fn upload<D: Device>(&self, device: &mut D) -> Result<(), CudaError> {
        device.upload(self.runs, &self.host.runs)?;
        device.upload(self.octaves, &self.host.octaves)?;
        device.upload(self.coefficients, &self.host.coefficients)
    }

    /// Adds the noise of a purpose and of the iteration that `iteration` holds to the gradient of a
    /// layer of `size` weights per run, in the lane of updates.
    pub(super) fn add<D: Device>(
        &self,
        device: &mut D,
        (purpose, iteration): (Purpose, Array<u64>),
        layer: usize,
        gradient: Array<f32>,
        size: usize,
    ) -> Result<(), CudaError> {
        let runs = self.runs.len() as u32;
        let arguments: [Argument; 9] = [
            gradient.into(),
            self.runs.into(),
            self.octaves.into(),
            self.coefficients.into(),
            iteration.into(),
            (size as u32).into(),
            (layer as u32).into(),
            self.layers.into(),
            (purpose as u32).into(),
        ];
        let grid = [blocks(size.div_ceil(2), BLOCKS / runs), runs];
        device.launch(Lane::Updates, Kernel::AddNoise, grid, &arguments)
    }
}

impl Host {
    /// Adds the table of a law.
    fn law(&mut self, noise: InjectedNoise) -> Result<RunNoise, ParameterError> {
        let InjectedNoise { alpha, scale } = noise;
        let sampler = SymmetricStable::new(alpha)?.with_scale(scale)?.sampler();
        let run = RunNoise { alpha, scale, method: CHAMBERS, ..RunNoise::default() };
        let Some(QuantileData { lowest, octaves, coefficients }) = sampler.quantile_data() else {
            return Ok(run);
        };
        let terms = coefficients.len() / pieces(&octaves);
        let first_piece = (self.coefficients.len() / terms) as u32;
        let run = RunNoise {
            method: TABLE,
            octaves: self.octaves.len() as u32 / 2,
            last_octave: octaves.len() as u32 - 1,
            lowest,
            ..run
        };
        self.octaves
            .extend(octaves.iter().flat_map(|[first, split]| [first + first_piece, *split]));
        self.coefficients.extend(coefficients);
        Ok(run)
    }
}

/// Returns the number of pieces of octaves.
fn pieces(octaves: &[[u32; 2]]) -> usize {
    octaves.iter().map(|&[first, split]| (first + (1 << split)) as usize).max().unwrap_or(1)
}
