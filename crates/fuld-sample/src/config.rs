//! Configurations: sampling requests as TOML files. The keys are the long options of `fuld sample`,
//! in snake_case.

use crate::defaults::samples_exactly;
use crate::error::SamplingError;
use crate::names::{by_name, nearest};
use crate::request::SampleRequest;
use fuld::durable::replace;
use fuld::{Integrator, SystemKind};
use std::io;
use std::path::Path;
use toml::{Table, Value};

/// The keys of a configuration.
const KEYS: [&str; 22] = [
    "potential",
    "dim",
    "param",
    "beta",
    "system",
    "integrator",
    "alpha",
    "gamma",
    "adapt",
    "path",
    "temper",
    "step",
    "step_power",
    "half_life",
    "noise_scale",
    "chains",
    "draws",
    "warmup",
    "thin",
    "start",
    "velocities",
    "seed",
];

/// The keys that only exact sampling has.
const PROPOSALS: [&str; 3] = ["adapt", "path", "temper"];

/// Reads a configuration. Settings in `over` take precedence over those of the file.
pub fn read_config(path: &Path, over: &SampleRequest) -> Result<SampleRequest, SamplingError> {
    let wrong = |reason: String| SamplingError::Config { path: path.display().to_string(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let mut table: Table =
        text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    // The option --step is also called --eta.
    if let Some(step) = table.remove("eta")
        && table.insert("step".into(), step).is_some()
    {
        return Err(wrong("step and eta are the same setting: leave one of them out".into()));
    }
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let meant = nearest(key, KEYS)
            .map(|known| format!(" (did you mean `{known}`?)"))
            .unwrap_or_default();
        return Err(wrong(format!(
            "unknown setting `{key}`{meant}; the settings are {}",
            KEYS.join(", ")
        )));
    }
    merged(table, over).map_err(wrong)
}

impl SampleRequest {
    /// Returns this request with the settings of `over` in place of its own.
    pub fn overridden_by(&self, over: &Self) -> Result<Self, SamplingError> {
        let table = Table::try_from(self).map_err(|error| error.to_string());
        table.and_then(|table| merged(table, over)).map_err(SamplingError::Override)
    }
}

/// Returns the settings of a table, with those of `over` in place of its own. An error is the
/// reason.
fn merged(mut table: Table, over: &SampleRequest) -> Result<SampleRequest, String> {
    // Another potential has other parameters, and perhaps another dimension.
    if over.potential.is_some() {
        table.remove("param");
        table.remove("dim");
    }
    // One key at a time, so that an error names its key.
    for (key, value) in &table {
        let alone = Table::from_iter([(key.clone(), value.clone())]);
        alone.try_into::<SampleRequest>().map_err(|error| format!("{key}: {}", error.message()))?;
    }
    if let Some(system) = over.system {
        remove_foreign(&mut table, system);
    }
    if over.integrator.is_some_and(|integrator| integrator != Integrator::Exact) {
        PROPOSALS.iter().for_each(|key| _ = table.remove(*key));
    }
    let mut given = Table::try_from(over).map_err(|error| error.to_string())?;
    // Merge parameters one by one: those that `over` does not give stay.
    if let (Some(Value::Table(ours)), Some(Value::Table(theirs))) =
        (given.get_mut("param"), table.get("param"))
    {
        for (name, value) in theirs {
            ours.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    table.extend(given);
    table.try_into().map_err(|error: toml::de::Error| error.message().to_owned())
}

/// Removes settings that `system` does not have. A file written for another system contains all of
/// that system's settings.
fn remove_foreign(table: &mut Table, system: SystemKind) {
    let integrator = table.get("integrator").and_then(Value::as_str);
    let integrator = integrator.and_then(|name| by_name::<Integrator>(name).ok());
    let foreign = [
        ("alpha", !system.has_alpha()),
        ("beta", !system.has_beta()),
        ("gamma", !system.has_velocity()),
        ("velocities", !system.has_velocity()),
        ("noise_scale", !system.has_velocity() || !system.has_beta()),
        ("integrator", integrator.is_some_and(|one| !one.suits(system.has_velocity()))),
    ];
    // A file with the default integrator of another system contains its settings too.
    let other = integrator == Some(Integrator::Exact) && !samples_exactly(system);
    let exact = ["integrator"].iter().chain(&PROPOSALS).map(|key| (*key, other));
    for (key, _) in foreign.into_iter().chain(exact).filter(|(_, foreign)| *foreign) {
        table.remove(key);
    }
}

/// Writes a request as a configuration.
pub fn write_config(path: &Path, request: &SampleRequest) -> io::Result<()> {
    let text = format!(
        "# Run it with: fuld sample --config FILE. Options on the command line take precedence.\n{}",
        request.text()
    );
    replace(path, text.as_bytes())
}
