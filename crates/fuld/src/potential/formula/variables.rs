//! The names of variables: x, y, z, w or x1, x2, ….

use super::error::Problem;

/// The largest dimension of a formula.
pub(super) const MAX_DIM: usize = 1 << 16;

const LETTERS: [&str; 4] = ["x", "y", "z", "w"];

/// The notation of variables that a formula uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Letters,
    Indices,
}

impl Family {
    /// Returns the variable with this name, counted from 0, or `None` if the name is not that of a
    /// variable.
    pub(super) fn variable(name: &str) -> Option<Result<(Self, u32), Problem>> {
        if let Some(i) = LETTERS.iter().position(|&letter| letter == name) {
            return Some(Ok((Self::Letters, i as u32)));
        }
        let digits = name.strip_prefix('x').filter(|d| d.bytes().all(|b| b.is_ascii_digit()))?;
        let index = digits.parse::<usize>().ok().filter(|i| (1..=MAX_DIM).contains(i));
        let plain = !digits.starts_with('0');
        Some(match index {
            Some(i) if plain => Ok((Self::Indices, (i - 1) as u32)),
            _ => Err(Problem::Index { name: name.to_owned(), largest: MAX_DIM }),
        })
    }

    pub(super) fn name(self, index: u32) -> String {
        match (self, LETTERS.get(index as usize)) {
            (Self::Letters, Some(letter)) => (*letter).to_owned(),
            _ => format!("x{}", index + 1),
        }
    }

    pub(super) fn letters() -> impl Iterator<Item = &'static str> {
        LETTERS.into_iter()
    }
}
