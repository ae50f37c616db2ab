//! Descriptions of the parts of a run that only their author can describe: closures and trait
//! objects.
//!
//! A run stores what made its draws, so that it never continues with something else. The named
//! systems describe themselves by their parameters ([`SystemSpec`](crate::SystemSpec)). A function
//! has no description that a program could compute, so the caller who supplies one also supplies a
//! [`Specification`]: a name and the values that it was built from.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A name and the parameters that distinguish one user-supplied part of a run from another.
///
/// Two parts with equal specifications are taken to be the same, so every value that changes the
/// function belongs here.
///
/// ```
/// use fuld::Specification;
/// let relativistic = Specification::new("relativistic").with("mass", 1.5);
/// assert_eq!(relativistic.to_string(), "relativistic, mass 1.5");
/// assert_eq!(serde_json::to_string(&relativistic)?, r#"{"name":"relativistic","parameters":{"mass":1.5}}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Specification {
    name: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, Value>,
}

impl Specification {
    /// Creates a specification without parameters.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), parameters: BTreeMap::new() }
    }

    /// Adds a parameter, or replaces it. Numbers that JSON does not have are kept as the texts
    /// `NaN`, `inf` and `-inf`.
    pub fn with(mut self, parameter: impl Into<String>, value: impl ParameterValue) -> Self {
        self.parameters.insert(parameter.into(), value.into_json());
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the parameters by name.
    pub fn parameters(&self) -> &BTreeMap<String, Value> {
        &self.parameters
    }
}

/// A value that a [`Specification`] can hold: a number, a text, a truth value, JSON, and lists and
/// options of these.
pub trait ParameterValue {
    /// Returns the value as JSON. Different values have different JSON.
    fn into_json(self) -> Value;
}

macro_rules! exact_in_json {
    ($($type:ty),*) => {
        $(impl ParameterValue for $type {
            fn into_json(self) -> Value {
                self.into()
            }
        })*
    };
}

exact_in_json!(bool, i32, i64, u32, u64, usize, &str, String, Value);

impl ParameterValue for f64 {
    fn into_json(self) -> Value {
        // JSON would turn these numbers into null.
        if self.is_finite() { self.into() } else { self.to_string().into() }
    }
}

impl<T: ParameterValue> ParameterValue for Vec<T> {
    fn into_json(self) -> Value {
        self.into_iter().map(T::into_json).collect()
    }
}

impl<T: ParameterValue> ParameterValue for Option<T> {
    fn into_json(self) -> Value {
        self.map_or(Value::Null, T::into_json)
    }
}

impl From<&str> for Specification {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl fmt::Display for Specification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.parameters.iter().try_for_each(|(name, value)| write!(f, ", {name} {value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_json_lacks_stay_apart() {
        let of = |value: f64| Specification::new("f").with("a", vec![value]);
        let all = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(of);
        assert_eq!(all[0], of(f64::NAN));
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
        assert_eq!(all[2].to_string(), r#"f, a ["-inf"]"#);
    }
}
