//! The identity of a run: a typed, serialised specification of everything its draws depend on.
//!
//! Checkpoints and stores keep the specification itself, as JSON. A run continues from a file only
//! if the stored specification equals its own; otherwise the error names the first field that
//! differs. [`DYNAMICS_VERSION`] is one of the fields, so that files made by another version of the
//! dynamics are never mixed with new draws.

use super::start::Start;
use crate::schedule::ScheduleSpec;
use crate::{Integrator, NoiseScale, Specification, SystemSpec};
use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Version of the rule that turns a specification into draws. It is raised whenever the draws of
/// any specification would change.
///
/// | version | change |
/// |---|---|
/// | 1 | the first generator of random words |
/// | 2 | Philox4x32-10 |
/// | 3 | logarithms of sums of exponentials in formulas do not underflow |
/// | 4 | paths of exact sampling follow turning times |
/// | 5 | its warm-up begins with Gaussian velocities and moves chains that are stuck |
/// | 6 | its step is not adapted anew in phases of less than 10 iterations, which short warm-ups have |
pub const DYNAMICS_VERSION: u32 = 6;

/// Values per segment: some megabytes.
const SEGMENT: usize = 1 << 20;

/// Everything that the draws of a run depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// Version of the dynamics, [`DYNAMICS_VERSION`].
    pub dynamics_version: u32,
    /// System with its parameters.
    pub system: SystemSpec,
    /// Integrator.
    pub integrator: Integrator,
    /// Step sizes.
    pub schedule: ScheduleSpec,
    /// Scale of the noise in the gradients; None if it is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_scale: Option<NoiseScale>,
    /// Dimension of the potential.
    pub dim: usize,
    /// Potential with its parameters and data; None if it has no specification.
    pub potential: Option<Specification>,
    /// Number of chains.
    pub chains: usize,
    /// Number of the first chain.
    pub first_chain: usize,
    /// Steps before the first draw.
    pub warmup: u64,
    /// Draws per chain.
    pub draws: u64,
    /// Steps per draw.
    pub thin: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Starting points.
    pub start: Start,
    /// Whether step, scales and path are adapted; None unless the integrator is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapt: Option<bool>,
    /// Mean time of an iteration; None unless the integrator is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<f64>,
    /// Number of temperatures; None if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temper: Option<usize>,
    /// Whether velocities are recorded.
    pub velocities: bool,
    /// Names of the averaged functions.
    pub averages: Vec<String>,
}

/// Fields of [`RunSpec`] in the order in which differences are reported: the dynamics first, the
/// amounts last.
const FIELDS: [&str; 19] = [
    "dynamics_version",
    "system",
    "integrator",
    "schedule",
    "noise_scale",
    "dim",
    "potential",
    "seed",
    "start",
    "adapt",
    "path",
    "temper",
    "chains",
    "first_chain",
    "warmup",
    "draws",
    "thin",
    "velocities",
    "averages",
];

impl RunSpec {
    /// Returns the number of steps, warmup included.
    pub(super) fn total_steps(&self) -> u64 {
        self.warmup + self.draws * self.thin
    }

    /// Returns the number of draws per chain in the first `step` steps.
    pub(super) fn draws_at(&self, step: u64) -> u64 {
        step.saturating_sub(self.warmup) / self.thin
    }

    /// Returns the number of draws per chain in each segment but the last: some megabytes of
    /// values.
    pub(super) fn segment(&self) -> usize {
        let per_draw = self.chains.saturating_mul(self.dim).max(1);
        let segment = (SEGMENT / per_draw).clamp(16, 1 << 16);
        segment.min(usize::try_from(self.draws).unwrap_or(usize::MAX))
    }

    /// Returns the canonical JSON, in which fields have a fixed order and numbers are exact.
    pub fn to_json(&self) -> String {
        // A structure of numbers, strings and string-keyed maps always has a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the SHA-256 hash of the canonical JSON.
    pub fn hash(&self) -> SpecHash {
        SpecHash(Hash::hash(self.to_json().as_bytes()))
    }

    /// Returns the version of the dynamics in a specification in JSON, or None if it has none.
    pub(super) fn stored_version(stored: &str) -> Option<u32> {
        let spec = serde_json::from_str::<Value>(stored).ok()?;
        spec["dynamics_version"].as_u64().and_then(|version| version.try_into().ok())
    }

    /// Returns the first difference from a specification in JSON, or None if the two are equal.
    pub(super) fn difference(&self, stored: &str) -> Option<String> {
        let requested = self.to_json();
        if requested == stored {
            return None;
        }
        let (Ok(stored), Ok(requested)) =
            (serde_json::from_str::<Value>(stored), serde_json::from_str::<Value>(&requested))
        else {
            return Some("its specification is not JSON".into());
        };
        let field = |name: &&str| first_difference(name, &stored[*name], &requested[*name]);
        Some(
            FIELDS
                .iter()
                .find_map(field)
                .unwrap_or_else(|| "its specification has other fields".into()),
        )
    }
}

/// Describes the first place where two values differ.
fn first_difference(path: &str, stored: &Value, requested: &Value) -> Option<String> {
    if stored == requested {
        return None;
    }
    if let (Value::Object(a), Value::Object(b)) = (stored, requested) {
        let mut keys = b.keys().chain(a.keys().filter(|key| !b.contains_key(*key)));
        return keys.find_map(|key| {
            first_difference(&format!("{path}.{key}"), &stored[key], &requested[key])
        });
    }
    Some(format!("stored {path}: {stored}, requested {path}: {requested}"))
}

/// The SHA-256 hash of a run's specification.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpecHash([u8; 32]);

/// Writes 64 hexadecimal digits.
impl fmt::Display for SpecHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for SpecHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
