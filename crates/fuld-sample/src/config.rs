//! Configurations: the options as a file.

use crate::error::SamplingError;
use crate::names::{by_name, nearest};
use crate::request::Request;
use crate::settings::Settings;
use fuld::durable::replace;
use fuld::{Integrator, SystemKind};
use std::io;
use std::path::Path;
use toml::{Table, Value};

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
    // As the option may be called too.
    if let Some(step) = table.remove("eta")
        && table.insert("step".into(), step).is_some()
    {
        return Err(wrong("step and eta are the same setting: leave one of them out".into()));
    }
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
    if let Some(system) = over.system {
        forget_foreign(&mut table, system);
    }
    let mut given = Table::try_from(over).map_err(|error| wrong(error.to_string()))?;
    // Parameters one by one: those that are not given stay.
    if let (Some(Value::Table(ours)), Some(Value::Table(theirs))) =
        (given.get_mut("param"), table.get("param"))
    {
        for (name, value) in theirs {
            ours.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    table.extend(given);
    table.try_into().map_err(|error: toml::de::Error| wrong(error.message().to_owned()))
}

/// Drops what another system than the file's has no use for: a file that was written for one has all its settings.
fn forget_foreign(table: &mut Table, system: SystemKind) {
    let integrator = table.get("integrator").and_then(Value::as_str);
    let integrator = integrator.and_then(|name| by_name::<Integrator>(name).ok());
    let foreign = [
        ("alpha", !system.has_alpha()),
        ("beta", !system.has_beta()),
        ("gamma", !system.has_velocity()),
        ("velocities", !system.has_velocity()),
        ("integrator", integrator.is_some_and(|one| !one.suits(system.has_velocity()))),
    ];
    for (key, _) in foreign.into_iter().filter(|(_, foreign)| *foreign) {
        table.remove(key);
    }
}

/// Writes settled settings as a configuration.
pub fn write_config(path: &Path, settings: &Settings) -> io::Result<()> {
    let text = format!(
        "# fuld sample --config FILE runs this; options on the command line win.\n{}",
        settings.text()
    );
    replace(path, text.as_bytes())
}
