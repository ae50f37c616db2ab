//! The data sets of images, and how claims name them.

use serde::{Deserialize, Serialize};

/// A data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ImageSet {
    /// The built-in digits, which the paper did not use. Its claims are tested on them all the
    /// same.
    Digits,
    /// MNIST, used by the paper.
    Mnist,
    /// CIFAR-10, used by the paper.
    Cifar10,
}

impl ImageSet {
    /// Returns the set with the name that the program uses.
    pub(crate) fn named(name: &str) -> Self {
        [Self::Mnist, Self::Cifar10]
            .into_iter()
            .find(|set| set.id() == name)
            .unwrap_or(Self::Digits)
    }

    /// Returns the name in files, and in a sentence, as in "on MNIST".
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Digits => ("digits", "the digits"),
            Self::Mnist => ("mnist", "MNIST"),
            Self::Cifar10 => ("cifar10", "CIFAR-10"),
        }
    }

    pub(crate) fn id(self) -> &'static str {
        self.names().0
    }

    pub(crate) fn title(self) -> &'static str {
        self.names().1
    }

    /// Returns a claim of the paper about the sets `of`, as tested on this one. `says` is a
    /// sentence without its full stop.
    pub(crate) fn paper_claim(self, says: &str, of: &str) -> String {
        let title = self.title();
        match self {
            Self::Digits => {
                // ASCII only: the capital of α is another letter.
                let (first, rest) = says.split_at(says.chars().next().map_or(0, char::len_utf8));
                format!(
                    "{}{rest} (the paper: on {of}; here: on {title}).",
                    first.to_ascii_uppercase()
                )
            }
            Self::Mnist | Self::Cifar10 => format!("On {title}, {says}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ImageSet;

    #[test]
    fn the_paper_does_not_speak_of_the_digits() {
        let claim = |name| ImageSet::named(name).paper_claim("it is so", "MNIST");
        assert_eq!(claim("mnist"), "On MNIST, it is so.");
        assert_eq!(claim("digits"), "It is so (the paper: on MNIST; here: on the digits).");
        assert!(ImageSet::Digits.paper_claim("α = 2", "").starts_with("α = 2 ("));
        assert!(ImageSet::Digits.paper_claim("", "").starts_with(" ("));
    }
}
