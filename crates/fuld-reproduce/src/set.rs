//! The data sets, and what the paper says of each.

/// A data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// Those that the program carries. The paper did not use them: its claims are tried on them.
    Digits,
    /// One of the paper's two.
    Mnist,
    /// The other one.
    Cifar10,
}

impl Set {
    /// By the name that the program knows it by.
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "mnist" => Self::Mnist,
            "cifar10" => Self::Cifar10,
            _ => Self::Digits,
        }
    }

    /// As in "on MNIST".
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Digits => "the digits",
            Self::Mnist => "MNIST",
            Self::Cifar10 => "CIFAR-10",
        }
    }

    /// What the paper says of some sets, as it is tried on this one. It comes as the rest of a sentence, without a full stop.
    pub(crate) fn tried(self, says: &str, of: &str) -> String {
        let name = self.name();
        match self {
            Self::Digits => {
                // ASCII only: a sentence may begin with α, and Α is another letter.
                let (first, rest) = says.split_at(says.chars().next().map_or(0, char::len_utf8));
                format!("{}{rest} (the paper: on {of}; here: on {name}).", first.to_ascii_uppercase())
            }
            Self::Mnist | Self::Cifar10 => format!("On {name}, {says}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Set;

    #[test]
    fn the_paper_is_not_said_to_speak_of_the_digits() {
        let tried = |name| Set::of(name).tried("it is so", "MNIST");
        assert_eq!(tried("mnist"), "On MNIST, it is so.");
        assert_eq!(tried("digits"), "It is so (the paper: on MNIST; here: on the digits).");
        assert!(
            Set::Digits.tried("α = 2", "").starts_with("α = 2 (")
                && Set::Digits.tried("", "").starts_with(" (")
        );
    }
}
