//! Systems, integrators and potentials by name, with a suggestion for names that do not exist.

use fuld::{Integrator, SystemKind};
use levy_stable::tail_index::Method;
use serde::{Deserialize, Deserializer, Serializer, de};
use thiserror::Error;

/// A name that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no {kind} is called `{name}`{}; there are {}", did_you_mean(.nearest), .known.join(", "))]
#[non_exhaustive]
pub struct UnknownName {
    /// The kind of thing: a system, a potential, …
    pub kind: &'static str,
    /// The name that was given.
    pub name: String,
    /// The closest existing name, if one is close.
    pub nearest: Option<&'static str>,
    /// All existing names.
    pub known: Vec<&'static str>,
}

/// A type whose values are chosen by name.
pub trait Named: Copy + 'static {
    /// The kind of thing, as in "no system is called …".
    const KIND: &'static str;

    /// Returns all values.
    fn all() -> &'static [Self];

    /// Returns the name of a value.
    fn name_of(self) -> &'static str;
}

impl Named for SystemKind {
    const KIND: &'static str = "system";

    fn all() -> &'static [Self] {
        Self::ALL
    }

    fn name_of(self) -> &'static str {
        self.name()
    }
}

impl Named for Integrator {
    const KIND: &'static str = "integrator";

    fn all() -> &'static [Self] {
        Self::ALL
    }

    fn name_of(self) -> &'static str {
        self.name()
    }
}

impl Named for Method {
    const KIND: &'static str = "method";

    fn all() -> &'static [Self] {
        &Self::ALL
    }

    fn name_of(self) -> &'static str {
        self.name()
    }
}

/// Returns the value with this name. Case is ignored, and hyphens, underscores and blanks are
/// equivalent.
///
/// ```
/// use fuld::SystemKind;
/// use fuld_sample::by_name;
/// assert_eq!(by_name("FULD_Gaussian"), Ok(SystemKind::FuldGaussian));
/// let error = by_name::<SystemKind>("fudl").unwrap_err().to_string();
/// assert!(error.starts_with("no system is called `fudl` (did you mean `fuld`?); there are fuld, "));
/// ```
pub fn by_name<T: Named>(name: &str) -> Result<T, UnknownName> {
    find(T::KIND, name, T::all(), |value| value.name_of()).copied()
}

/// Returns the element of `all` with this name.
pub(crate) fn find<'a, T>(
    kind: &'static str,
    name: &str,
    all: &'a [T],
    name_of: impl Fn(&T) -> &'static str,
) -> Result<&'a T, UnknownName> {
    let plain = |name: &str| name.trim().to_lowercase().replace(['-', ' '], "_");
    let wanted = plain(name);
    all.iter().find(|one| plain(name_of(one)) == wanted).ok_or_else(|| {
        let known: Vec<_> = all.iter().map(name_of).collect();
        let nearest = nearest(name.trim(), known.iter().copied());
        UnknownName { kind, name: name.to_owned(), nearest, known }
    })
}

/// Returns the candidate with the smallest edit distance to `name`, if it is small enough to be a
/// typing error.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer than every name, so that long texts cost nothing.
    const LONGEST: usize = 40;
    let length = name.chars().take(LONGEST + 1).count();
    if length > LONGEST {
        return None;
    }
    let name = name.to_lowercase();
    let largest = |candidate: &str| 1 + candidate.len().min(length) / 3;
    candidates
        .into_iter()
        .map(|candidate| (strsim::levenshtein(&name, candidate), candidate))
        .filter(|&(distance, candidate)| {
            distance <= largest(candidate) && distance < candidate.len()
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the suggestion as it appears in an error message.
pub(crate) fn did_you_mean(nearest: &Option<&str>) -> String {
    nearest.map(|nearest| format!(" (did you mean `{nearest}`?)")).unwrap_or_default()
}

/// Serialises an optional value by its name.
pub(crate) fn serialize<T: Named, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.serialize_some(value.name_of()),
        None => serializer.serialize_none(),
    }
}

/// Reads an optional value by its name.
pub(crate) fn deserialize<'de, T: Named, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    by_name(&String::deserialize(deserializer)?).map(Some).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn typing_errors_have_suggestions() {
        let names = ["harmonic", "cauchy", "funnel", "log"];
        assert_eq!(nearest("harmonc", names), Some("harmonic"));
        assert_eq!(nearest("Cauchi", names), Some("cauchy"));
        assert_eq!(nearest("lgo", names), Some("log"));
        assert_eq!(nearest("zebra", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"harmonic".repeat(1000), names), None);
    }

    #[test]
    fn integrator_names_round_trip() {
        for &integrator in Integrator::ALL {
            assert_eq!(by_name(integrator.name()), Ok(integrator));
            assert_eq!(
                by_name(&integrator.name().to_uppercase().replace('-', "_")),
                Ok(integrator)
            );
            // As error messages write it.
            assert_eq!(by_name(&integrator.to_string()), Ok(integrator));
        }
        assert_eq!(
            by_name::<Integrator>("eular").unwrap_err().to_string(),
            "no integrator is called `eular` (did you mean `euler`?); there are euler, tamed-euler, baoab, aboba, exact"
        );
    }

    #[test]
    fn estimator_names_round_trip() {
        assert_eq!(by_name("log-moments"), Ok(Method::LogMoments));
        assert_eq!(
            by_name::<Method>("hil").unwrap_err().to_string(),
            "no method is called `hil` (did you mean `hill`?); there are characteristic, blocks, log-moments, hill"
        );
    }

    #[test]
    fn system_names_round_trip() {
        let names: HashSet<&str> = SystemKind::ALL.iter().map(|system| system.name()).collect();
        assert_eq!(names.len(), SystemKind::ALL.len());
        for &system in SystemKind::ALL {
            assert_eq!(by_name(&system.to_string()), Ok(system));
            assert_eq!(by_name(&system.name().to_uppercase().replace('-', "_")), Ok(system));
            assert!(!system.summary().is_empty());
        }
        let error = by_name::<SystemKind>("langevin").unwrap_err().to_string();
        assert!(
            error.starts_with("no system is called `langevin`; there are fuld, fuld-beta-free"),
            "{error}"
        );
    }
}
