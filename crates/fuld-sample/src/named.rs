//! Systems and integrators as they are written: on the command line and in a configuration.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fuld::{Dynamics, Integrator, UnknownName};
use serde::{Deserialize, Deserializer, Serializer, de};
use std::str::FromStr;

/// What has a name and can be found by it.
pub(super) trait Named: FromStr<Err = UnknownName> {
    /// The name.
    fn name(&self) -> &'static str;
}

impl Named for Dynamics {
    fn name(&self) -> &'static str {
        Self::name(*self)
    }
}

impl Named for Integrator {
    fn name(&self) -> &'static str {
        Self::name(*self)
    }
}

/// Reads a system, and knows all of them for completions and for who mistypes one.
pub(super) fn system() -> impl TypedValueParser<Value = Dynamics> {
    let known = Dynamics::ALL.map(|one| PossibleValue::new(one.name()).help(one.summary()));
    PossibleValuesParser::new(known).try_map(|name| name.parse())
}

/// Reads an integrator likewise.
pub(super) fn integrator() -> impl TypedValueParser<Value = Integrator> {
    let known = Integrator::ALL.map(|one| PossibleValue::new(one.name()).help(one.summary()));
    PossibleValuesParser::new(known).try_map(|name| name.parse())
}

/// The name, for serde.
pub(super) fn serialize<T: Named, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.serialize_some(value.name()),
        None => serializer.serialize_none(),
    }
}

/// What has the name that is there.
pub(super) fn deserialize<'de, T: Named, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    String::deserialize(deserializer)?.parse().map(Some).map_err(de::Error::custom)
}
