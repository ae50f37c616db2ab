//! Errors of parsing a formula, with their position.

use std::fmt;
use thiserror::Error;

/// An error of parsing a formula. Its `Display` shows the formula with a caret below the position.
///
/// ```
/// let error = fuld::potential::Formula::parse("x^2 + 3y").unwrap_err();
/// assert_eq!(error.to_string(), "\
/// an operator is missing before `y`; products are written with *
///   x^2 + 3y
///          ^");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct FormulaError {
    formula: String,
    byte: usize,
    problem: Problem,
}

/// The problem at a position of a formula.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The formula is empty.
    #[error("the formula is empty")]
    Empty,
    /// The formula has too many bytes.
    #[error("the formula is too long: {length} bytes, where {largest} are allowed")]
    TooLong {
        /// The length in bytes.
        length: usize,
        /// The largest length.
        largest: usize,
    },
    /// Parentheses, powers and signs are nested too deeply.
    #[error("the formula is nested too deeply, more than {largest} levels")]
    TooDeep {
        /// The largest depth.
        largest: usize,
    },
    /// A character is not allowed in formulas.
    #[error("unexpected character `{character}`{}", hint(.character))]
    Character {
        /// The character.
        character: char,
    },
    /// A number is malformed or too large.
    #[error("`{text}` is not a number in double precision")]
    Number {
        /// The number as written.
        text: String,
    },
    /// A number, variable, function or parenthesis is missing.
    #[error("expected a number, a variable, a function or a parenthesis, found {found}")]
    Operand {
        /// The text found instead.
        found: String,
    },
    /// There is no operator between two operands.
    #[error("an operator is missing before `{next}`; products are written with *")]
    MissingOperator {
        /// The second operand.
        next: String,
    },
    /// A parenthesis is never closed.
    #[error("this parenthesis is never closed")]
    Unclosed,
    /// A parenthesis was never opened.
    #[error("this parenthesis was never opened")]
    Unopened,
    /// There is a comma, but no function takes two arguments.
    #[error("unexpected `,`: functions take one argument, decimals have a point")]
    Comma,
    /// A function has no argument.
    #[error("the function {function} needs its argument in parentheses: {function}(…)")]
    Argument {
        /// The function.
        function: String,
    },
    /// A name does not exist.
    #[error("unknown name `{name}`")]
    Name {
        /// The name.
        name: String,
        /// The functions, constants and variables that exist.
        known: Vec<&'static str>,
    },
    /// There is no operator between variables.
    #[error("unknown name `{name}`: did you mean {product}?")]
    Product {
        /// The name.
        name: String,
        /// The same letters with operators.
        product: String,
    },
    /// The index of a variable is 0 or too large.
    #[error("there is no variable `{name}`: variables are x1 to x{largest}")]
    Index {
        /// The variable.
        name: String,
        /// The largest index.
        largest: usize,
    },
    /// The formula contains variables of both notations, x, y, z, w and x1, x2, ….
    #[error(
        "`{name}` does not go with the variables before it: use x, y, z, w or x1, x2, …, not both"
    )]
    Mixed {
        /// The variable.
        name: String,
    },
    /// The formula has no variable, so its dimension is unknown.
    #[error("the formula has no variable")]
    NoVariable,
    /// The given dimension is too small for the variables, or too large.
    #[error("the dimension must be between {least} and {largest} for this formula, got {given}")]
    Dimension {
        /// The smallest dimension that contains the variables.
        least: usize,
        /// The largest dimension.
        largest: usize,
        /// The given dimension.
        given: usize,
    },
}

impl Problem {
    /// Creates the error for a byte of a formula.
    pub(super) fn at(self, formula: &str, byte: usize) -> FormulaError {
        FormulaError { formula: formula.to_owned(), byte, problem: self }
    }
}

impl FormulaError {
    /// Returns the problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Returns the formula as it was given.
    pub fn formula(&self) -> &str {
        &self.formula
    }

    /// Returns the position in bytes from the start.
    pub fn byte(&self) -> usize {
        self.byte
    }

    /// Returns the position in characters from the start.
    pub fn column(&self) -> usize {
        self.formula.char_indices().take_while(|&(byte, _)| byte < self.byte).count()
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Characters shown on either side of the position.
        const AROUND: usize = 60;
        let from = self.column().saturating_sub(AROUND);
        // Always one line, so that the caret is below its character.
        let blank = |c: char| if c.is_control() { ' ' } else { c };
        let shown: String = self.formula.chars().skip(from).take(2 * AROUND).map(blank).collect();
        let indent = " ".repeat(self.column() - from);
        write!(out, "{}\n  {shown}\n  {indent}^", self.problem)
    }
}

fn hint(character: &char) -> &'static str {
    match character {
        '×' | '·' | '⋅' | '∗' => "; products are written with *",
        '÷' => "; quotients are written with /",
        '−' | '–' | '—' => "; the minus sign is -",
        '²' | '³' | '⁴' => "; powers are written with ^",
        '[' | ']' | '{' | '}' => "; parentheses are round",
        '|' => "; absolute values are written abs(x)",
        '√' => "; square roots are written sqrt(x)",
        'π' => "; write pi",
        _ => "",
    }
}
