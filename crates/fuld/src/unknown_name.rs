//! What has a name, found by what a user wrote.

use crate::potential::nearest;
use thiserror::Error;

/// Nothing of its kind has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no {kind} is called `{name}`{}; there are {}", meant(.nearest), .known.join(", "))]
#[non_exhaustive]
pub struct UnknownName {
    /// What was looked for: a system, a potential, …
    pub kind: &'static str,
    /// The name asked for.
    pub name: String,
    /// The name that is spelt most like it, if one comes close.
    pub nearest: Option<&'static str>,
    /// All names.
    pub known: Vec<&'static str>,
}

/// The one of `all` with this name; capitals do not matter, and hyphens, underscores and blanks are the same.
pub(crate) fn by_name<'a, T>(
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

/// The end of a sentence about a name that does not exist.
pub(crate) fn meant(nearest: &Option<&'static str>) -> String {
    nearest.map(|nearest| format!(" (did you mean `{nearest}`?)")).unwrap_or_default()
}
