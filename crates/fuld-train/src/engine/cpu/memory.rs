//! The memory that a stack of runs requires, which is compared with what there is before training
//! begins: an allocation that fails later ends the program.

use super::CHUNK;
use crate::data::DataSet;
use crate::engine::EngineError;
use crate::spec::{Optimizer, TrainSpec};

/// Returns an error if the memory of a stack cannot be allocated or is not there.
pub(super) fn check(data: &DataSet, specs: &[TrainSpec]) -> Result<(), EngineError> {
    let bytes = specs.iter().map(|spec| required(data, spec)).fold(0, u64::saturating_add);
    let is_allocated =
        usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if is_allocated && available().is_none_or(|available| bytes <= available) {
        return Ok(());
    }
    let TrainSpec { width, depth, batch, .. } = specs[0];
    Err(EngineError::Memory { bytes, width, depth, batch })
}

/// Returns the bytes that a run requires, with those of writing a checkpoint.
fn required(data: &DataSet, spec: &TrainSpec) -> u64 {
    let inputs = data.train.features() as u64;
    let weights = spec.network(data.train.features(), data.classes).weights() as u64;
    let state = if spec.optimizer == Optimizer::Adam { 2 } else { 1 };
    // A checkpoint holds weights and state as tensors, then as bytes. Gradients are kept for one
    // layer, or for all.
    let network = weights.saturating_mul(3 * (1 + state) + 1);
    let units = (spec.width as u64).saturating_mul(spec.depth as u64 + 1).saturating_add(inputs);
    // The threads of the current pool share a measurement.
    let measured = (CHUNK * rayon::current_num_threads()) as u64;
    let images = (spec.batch as u64).saturating_add(measured);
    network.saturating_add(images.saturating_mul(units)).saturating_mul(size_of::<f32>() as u64)
}

/// Returns the bytes of memory that are available, where the system tells.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Device, TrainRequest};

    #[test]
    fn networks_beyond_the_memory_are_refused() {
        let data = DataSet::load("digits", std::path::Path::new("")).unwrap();
        let spec = |width| {
            let request = TrainRequest { width: Some(width), depth: Some(3), ..Default::default() };
            request.spec(&data.description(), Device::Cpu).unwrap()
        };
        assert!(check(&data, &[spec(100)]).is_ok());
        // 900 million weights each.
        let stack = vec![spec(30_000); 100];
        let error = check(&data, &stack).unwrap_err().to_string();
        assert!(error.contains("width 30000, depth 3, batch 100"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells_the_available_memory() {
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
    }
}
