//! Warnings and notes about draws, each with the section of the page that explains it.

use std::fmt;

/// The page that explains all remarks, as seen from the root of the repository.
const PAGE: &str = "docs/sampling.md";
/// Largest R̂ at which chains agree (Vehtari et al. 2021).
pub const R_HAT: f64 = 1.01;
/// Smallest effective sample size for reliable diagnostics (Vehtari et al. 2021).
pub(crate) const ESS: f64 = 400.0;

/// A section of the page that explains remarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Section {
    /// e^(−βf) cannot be normalised.
    NotNormalised,
    /// Chains left for infinity.
    LostChains,
    /// Moments do not exist.
    HeavyTails,
    /// The stationary law of the system is another one.
    OtherLaw,
    /// The draws are far from the exact law.
    FarFromExactLaw,
    /// Proposals diverged.
    Divergences,
    /// Proposals were outside the domain of f.
    OutsideTheDomain,
    /// The acceptance rate is far from its target.
    Acceptance,
    /// Exchanges between temperatures are rare.
    Exchanges,
    /// Few positions went through all temperatures and back.
    RoundTrips,
    /// Energies change slowly.
    Energy,
    /// Chains disagree.
    RHat,
    /// The effective sample size is small.
    EffectiveSampleSize,
    /// The run was stopped before its end.
    Interrupted,
}

impl Section {
    /// All sections.
    pub const ALL: &[Self] = &[
        Self::NotNormalised,
        Self::LostChains,
        Self::HeavyTails,
        Self::OtherLaw,
        Self::FarFromExactLaw,
        Self::Divergences,
        Self::OutsideTheDomain,
        Self::Acceptance,
        Self::Exchanges,
        Self::RoundTrips,
        Self::Energy,
        Self::RHat,
        Self::EffectiveSampleSize,
        Self::Interrupted,
    ];

    /// Returns the anchor of the section in the page.
    pub fn anchor(self) -> &'static str {
        match self {
            Self::NotNormalised => "a-density-that-cannot-be-normalised",
            Self::LostChains => "chains-that-left-for-infinity",
            Self::HeavyTails => "heavy-tails",
            Self::OtherLaw => "another-stationary-law",
            Self::FarFromExactLaw => "draws-far-from-the-exact-law",
            Self::Divergences => "divergences",
            Self::OutsideTheDomain => "proposals-outside-the-domain",
            Self::Acceptance => "acceptance-far-from-the-target",
            Self::Exchanges => "rare-exchanges",
            Self::RoundTrips => "few-round-trips",
            Self::Energy => "slow-energies",
            Self::RHat => "r-hat-above-101",
            Self::EffectiveSampleSize => "fewer-than-400-effective-draws",
            Self::Interrupted => "interrupted-runs",
        }
    }
}

impl Section {
    /// Returns a short name of what is wrong, for tables.
    pub fn short(self) -> &'static str {
        match self {
            Self::FarFromExactLaw => "KS",
            Self::RHat => "R̂",
            Self::EffectiveSampleSize => "ESS",
            Self::Energy => "E-BFMI",
            other => other.anchor(),
        }
    }
}

/// Returns the largest of some errors, at least 0; NaN counts as infinitely wrong.
pub fn largest(errors: impl IntoIterator<Item = f64>) -> f64 {
    errors
        .into_iter()
        .map(|error| if error.is_nan() { f64::INFINITY } else { error })
        .fold(0.0, f64::max)
}

/// Writes the address of the section.
impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PAGE}#{}", self.anchor())
    }
}

/// A warning or a note about draws.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remark {
    /// Whether the draws are not to be trusted.
    pub is_warning: bool,
    /// The section that explains it.
    pub section: Section,
    /// What was found, and what to do.
    pub text: String,
}

impl Remark {
    /// Creates a warning.
    pub(crate) fn warning(section: Section, text: String) -> Self {
        Self { is_warning: true, section, text }
    }

    /// Creates a note.
    pub(crate) fn note(section: Section, text: String) -> Self {
        Self { is_warning: false, section, text }
    }
}

/// Writes the remark on one line that ends with the address of its section.
impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.is_warning { "warning: " } else { "" };
        write!(f, "{prefix}{}; see {}", self.text, self.section)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the anchors of the headings of a page, as GitHub makes them: lower case, hyphens for
    /// spaces, no other signs.
    fn anchors(page: &str) -> Vec<String> {
        let headings = page.lines().filter(|line| line.starts_with('#'));
        let sign = |c: char| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || "-_".contains(c) => Some(c),
            _ => None,
        };
        headings
            .map(|line| {
                line.trim_start_matches('#')
                    .trim()
                    .to_lowercase()
                    .chars()
                    .filter_map(sign)
                    .collect()
            })
            .collect()
    }

    #[test]
    fn no_number_is_the_largest_error() {
        assert_eq!((largest([0.5, 2.0, 1.0]), largest([-1.0])), (2.0, 0.0));
        assert_eq!(largest([3.0, f64::NAN, 1.0]), f64::INFINITY);
    }

    #[test]
    fn every_section_is_in_the_page() {
        let page = std::fs::read_to_string(format!("{}/../../{PAGE}", env!("CARGO_MANIFEST_DIR")))
            .unwrap();
        let there = anchors(&page);
        for section in Section::ALL {
            assert!(there.iter().any(|anchor| anchor == section.anchor()), "{section}: {there:?}");
        }
    }
}
