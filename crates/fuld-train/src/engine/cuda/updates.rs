//! Guard, clipping and step of a stack, as work of a device in the lane of updates.

use super::super::rules::{Clip, StepRule, UpdateRule};
use super::device::{Argument, Array, Device, Kernel, Lane, Plan, blocks};
use super::passes::BLOCKS;
use super::rule_numbers::{RunAdam, RunRule, run_adam, run_rules};
use crate::engine::CudaError;
use fuld::guard::GuardState;

/// Blocks that add the squares of a layer of a run.
const PARTS: usize = 16;

/// The treatment of gradients with its state.
#[derive(Debug)]
pub(super) struct Updates {
    runs: usize,
    /// Weights per run of each layer.
    sizes: Vec<usize>,
    guard: Option<StackGuard>,
    clip: Option<StackClip>,
    step: StackStep,
}

/// The guard: c of each run, and for each layer the states and the decisions.
#[derive(Debug)]
struct StackGuard {
    host: Vec<f64>,
    clips: Array<f64>,
    states: Vec<Array<f32>>,
    decisions: Vec<Array<f32>>,
}

/// Clipping: the limit of each run.
#[derive(Debug)]
enum StackClip {
    Value { host: Vec<f32>, limits: Array<f32> },
    Norm { host: Vec<f64>, limits: Array<f64>, sums: Array<f64>, factors: Array<f32> },
}

/// The step: the rule of each run, and the state of each layer.
#[derive(Debug)]
enum StackStep {
    Momentum {
        host: Vec<RunRule>,
        host_tables: Vec<u32>,
        rules: Array<RunRule>,
        tables: Array<u32>,
        momenta: Vec<Array<f32>>,
        /// The largest |b| of each layer and run.
        largest: Array<f32>,
        /// √lr of each run.
        roots: Vec<f64>,
    },
    Adam {
        host: Vec<RunAdam>,
        rules: Array<RunAdam>,
        firsts: Vec<Array<f32>>,
        seconds: Vec<Array<f32>>,
    },
}

impl Updates {
    /// Plans the treatment of layers of these sizes. All runs must have the same kind of step,
    /// clipping and guard.
    pub(super) fn plan(
        plan: &mut Plan,
        rules: &[UpdateRule],
        sizes: Vec<usize>,
    ) -> Result<Self, CudaError> {
        let runs = rules.len();
        let arrays = |plan: &mut Plan, per_run: &dyn Fn(usize) -> usize| -> Vec<Array<f32>> {
            sizes.iter().map(|&size| plan.array(runs * per_run(size))).collect()
        };
        let clips: Vec<f64> = rules.iter().filter_map(|rule| Some(rule.guard?.clip())).collect();
        let guard = common(clips, runs)?.map(|host| StackGuard {
            host,
            clips: plan.array(runs),
            states: arrays(plan, &|_| GuardState::LEN),
            decisions: arrays(plan, &|_| 3),
        });
        let values = rules.iter().filter_map(|rule| match rule.clip {
            Some(Clip::Value(limit)) => Some(limit as f32),
            _ => None,
        });
        let norms = rules.iter().filter_map(|rule| match rule.clip {
            Some(Clip::Norm(limit)) => Some(limit),
            _ => None,
        });
        let values = common(values.collect(), runs)?
            .map(|host| StackClip::Value { host, limits: plan.array(runs) });
        let norms = common(norms.collect(), runs)?.map(|host| StackClip::Norm {
            host,
            limits: plan.array(runs),
            sums: plan.array(runs * sizes.len() * PARTS),
            factors: plan.array(runs),
        });
        let adams = rules.iter().filter_map(|rule| match &rule.step {
            StepRule::Adam(adam) => Some(run_adam(adam)),
            StepRule::Momentum(_) => None,
        });
        let step = match common(adams.collect(), runs)? {
            Some(host) => StackStep::Adam {
                host,
                rules: plan.array(runs),
                firsts: arrays(plan, &|size| size),
                seconds: arrays(plan, &|size| size),
            },
            None => {
                let rules = rules.iter().filter_map(|rule| match &rule.step {
                    StepRule::Momentum(rule) => Some(rule),
                    StepRule::Adam(_) => None,
                });
                let (host, host_tables) = run_rules(rules.clone());
                StackStep::Momentum {
                    rules: plan.array(runs),
                    tables: plan.array(host_tables.len()),
                    momenta: arrays(plan, &|size| size),
                    largest: plan.array(runs * sizes.len()),
                    roots: rules.map(|rule| rule.coordinates().learning_rate().sqrt()).collect(),
                    host,
                    host_tables,
                }
            }
        };
        Ok(Self { runs, sizes, guard, clip: values.or(norms), step })
    }

    pub(super) fn upload<D: Device>(&self, device: &mut D) -> Result<(), CudaError> {
        if let Some(StackGuard { host, clips, states, .. }) = &self.guard {
            device.upload(*clips, host)?;
            let fresh = GuardState::new().to_numbers().repeat(self.runs);
            states.iter().try_for_each(|state| device.upload(*state, &fresh))?;
        }
        match &self.clip {
            None => {}
            Some(StackClip::Value { host, limits }) => device.upload(*limits, host)?,
            Some(StackClip::Norm { host, limits, .. }) => device.upload(*limits, host)?,
        }
        match &self.step {
            StackStep::Momentum { host, host_tables, rules, tables, .. } => {
                device.upload(*rules, host)?;
                device.upload(*tables, host_tables)
            }
            StackStep::Adam { host, rules, .. } => device.upload(*rules, host),
        }
    }

    /// Returns a grid for `count` threads per run.
    fn grid(&self, count: usize) -> [u32; 2] {
        let runs = self.runs as u32;
        [blocks(count, BLOCKS / runs), runs]
    }

    /// Uses the gradient of a layer: takes its step, unless that requires the gradients of all.
    pub(super) fn layer<D: Device>(
        &self,
        device: &mut D,
        layer: usize,
        weights: Array<f32>,
        gradient: Array<f32>,
        iteration: Array<u64>,
    ) -> Result<(), CudaError> {
        let size = self.sizes[layer];
        if let Some(StackGuard { clips, states, decisions, .. }) = &self.guard {
            let arguments = [
                gradient.into(),
                states[layer].into(),
                decisions[layer].into(),
                (*clips).into(),
                (size as u32).into(),
            ];
            let grid = [self.runs as u32, 1];
            device.launch(Lane::Updates, Kernel::Observe, grid, &arguments)?;
        }
        let Some(StackClip::Norm { sums, .. }) = &self.clip else {
            return self.step(device, layer, weights, gradient, iteration);
        };
        let arguments = [
            gradient.into(),
            self.decisions(layer),
            (*sums).into(),
            (size as u32).into(),
            ((layer * PARTS) as u32).into(),
            ((self.sizes.len() * PARTS) as u32).into(),
        ];
        let grid = [PARTS as u32, self.runs as u32];
        device.launch(Lane::Updates, Kernel::Squares, grid, &arguments)
    }

    /// Takes the steps that require the gradients of all layers.
    pub(super) fn finish<D: Device>(
        &self,
        device: &mut D,
        weights: &[Array<f32>],
        gradients: &[Array<f32>],
        iteration: Array<u64>,
    ) -> Result<(), CudaError> {
        let Some(StackClip::Norm { limits, sums, factors, .. }) = &self.clip else {
            return Ok(());
        };
        let arguments = [
            (*sums).into(),
            (*limits).into(),
            (*factors).into(),
            ((self.sizes.len() * PARTS) as u32).into(),
            (self.runs as u32).into(),
        ];
        let grid = [blocks(self.runs, u32::MAX), 1];
        device.launch(Lane::Updates, Kernel::NormFactors, grid, &arguments)?;
        for (layer, (weights, gradient)) in weights.iter().zip(gradients).enumerate() {
            self.step(device, layer, *weights, *gradient, iteration)?;
        }
        Ok(())
    }

    fn decisions(&self, layer: usize) -> Argument {
        Argument::optional(self.guard.as_ref().map(|guard| guard.decisions[layer]))
    }

    fn step<D: Device>(
        &self,
        device: &mut D,
        layer: usize,
        weights: Array<f32>,
        gradient: Array<f32>,
        iteration: Array<u64>,
    ) -> Result<(), CudaError> {
        let (limits, factors) = match &self.clip {
            None => (None, None),
            Some(StackClip::Value { limits, .. }) => (Some(*limits), None),
            Some(StackClip::Norm { factors, .. }) => (None, Some(*factors)),
        };
        let (limits, factors) = (Argument::optional(limits), Argument::optional(factors));
        let (decisions, size) = (self.decisions(layer), self.sizes[layer]);
        let grid = self.grid(size / 4);
        let size = Argument::from(size as u32);
        match &self.step {
            StackStep::Momentum { rules, tables, momenta, .. } => {
                let arguments = [
                    weights.into(),
                    momenta[layer].into(),
                    gradient.into(),
                    (*rules).into(),
                    (*tables).into(),
                    decisions,
                    limits,
                    factors,
                    size,
                ];
                device.launch(Lane::Updates, Kernel::MomentumStep, grid, &arguments)
            }
            StackStep::Adam { rules, firsts, seconds, .. } => {
                let arguments = [
                    weights.into(),
                    firsts[layer].into(),
                    seconds[layer].into(),
                    gradient.into(),
                    (*rules).into(),
                    iteration.into(),
                    decisions,
                    limits,
                    factors,
                    size,
                ];
                device.launch(Lane::Updates, Kernel::AdamStep, grid, &arguments)
            }
        }
    }

    /// Returns the largest |v| = √lr |b| of each run, or `None` for rules without momentum.
    pub(super) fn largest_v<D: Device>(
        &self,
        device: &mut D,
    ) -> Result<Option<Vec<f64>>, CudaError> {
        let StackStep::Momentum { momenta, largest, roots, .. } = &self.step else {
            return Ok(None);
        };
        for (layer, (momenta, size)) in momenta.iter().zip(&self.sizes).enumerate() {
            let out = largest.part(layer * self.runs, self.runs);
            let arguments = [(*momenta).into(), out.into(), (*size as u32).into()];
            let grid = [self.runs as u32, 1];
            device.launch(Lane::Main, Kernel::LargestMomentum, grid, &arguments)?;
        }
        let found = device.download(*largest)?;
        let of_run = |(run, root): (usize, &f64)| {
            let layers = found.iter().skip(run).step_by(self.runs);
            // `f32::max` would ignore NaN.
            let larger = |a: f32, &b: &f32| if b <= a || a.is_nan() { a } else { b };
            root * f64::from(layers.fold(0.0, larger))
        };
        Ok(Some(roots.iter().enumerate().map(of_run).collect()))
    }

    /// Returns the name, the shape per run if it is not that of the layer, and the array of each
    /// tensor of the state of a layer.
    pub(super) fn state(&self, layer: usize) -> Vec<StateTensor> {
        let tensor = |name: &str, array: &[Array<f32>], guard: bool| StateTensor {
            name: format!("{name}.{layer}"),
            array: array[layer],
            guard,
        };
        let guard = self.guard.iter().map(|guard| tensor("guard", &guard.states, true));
        let step = match &self.step {
            StackStep::Momentum { momenta, .. } => vec![tensor("momentum", momenta, false)],
            StackStep::Adam { firsts, seconds, .. } => {
                vec![tensor("adam.first", firsts, false), tensor("adam.second", seconds, false)]
            }
        };
        guard.chain(step).collect()
    }
}

/// A tensor of the optimizer's state.
#[derive(Debug)]
pub(super) struct StateTensor {
    pub(super) name: String,
    pub(super) array: Array<f32>,
    /// Whether the tensor holds the states of a guard, and not one number per weight.
    pub(super) guard: bool,
}

/// Returns the settings of all runs, or `None` if no run has them.
fn common<T>(settings: Vec<T>, runs: usize) -> Result<Option<Vec<T>>, CudaError> {
    match settings.len() {
        0 => Ok(None),
        found if found == runs => Ok(Some(settings)),
        _ => Err(CudaError::Mixed),
    }
}
