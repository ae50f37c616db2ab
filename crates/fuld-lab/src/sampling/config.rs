//! Configurations: the options as a file.

use super::{Request, SamplingError, Settings};
use fuld::durable::replace;
use fuld::potential::nearest;
use std::io;
use std::path::Path;
use toml::Table;

/// The keys that a configuration may have.
const KEYS: [&str; 18] = [
    "potential",
    "dim",
    "param",
    "beta",
    "system",
    "integrator",
    "alpha",
    "gamma",
    "step",
    "step-power",
    "half-life",
    "chains",
    "draws",
    "warmup",
    "thin",
    "start",
    "velocities",
    "seed",
];

/// Reads a configuration; what `over` asks for itself is not taken from the file.
pub fn read_config(path: &Path, over: &Request) -> Result<Request, SamplingError> {
    let wrong = |reason: String| SamplingError::Config { path: path.display().to_string(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let meant = nearest(key, KEYS).map(|known| format!(" (did you mean `{known}`?)")).unwrap_or_default();
        return Err(wrong(format!("there is no setting `{key}`{meant}; there are {}", KEYS.join(", "))));
    }
    // Another potential has other parameters, and perhaps another dimension.
    if over.potential.is_some() {
        table.remove("param");
        table.remove("dim");
    }
    // Each key by itself, so that the message is about that key.
    for (key, value) in &table {
        let alone = Table::from_iter([(key.clone(), value.clone())]);
        alone.try_into::<Request>().map_err(|error| wrong(format!("{key}: {}", error.message())))?;
    }
    let given = Table::try_from(over).map_err(|error| wrong(error.to_string()))?;
    table.extend(given);
    table.try_into().map_err(|error: toml::de::Error| wrong(error.message().to_owned()))
}

/// Writes settled settings as a configuration.
pub fn write_config(path: &Path, settings: &Settings) -> io::Result<()> {
    let text = format!(
        "# fuld sample --config FILE runs this; options on the command line win.\n{}",
        settings.text()
    );
    replace(path, text.as_bytes())
}
