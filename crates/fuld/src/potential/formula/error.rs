//! What can be wrong with a formula, and where.

use std::fmt;
use thiserror::Error;

/// A formula that cannot be read. Its `Display` shows the formula with a caret below the place.
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

/// What is wrong at a place of a formula.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// There is no formula.
    #[error("the formula is empty")]
    Empty,
    /// More bytes than a formula may have.
    #[error("the formula is too long: {length} bytes, where {largest} are allowed")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The largest length.
        largest: usize,
    },
    /// More nested parentheses, powers and signs than a formula may have.
    #[error("the formula is nested too deeply, more than {largest} levels")]
    TooDeep {
        /// The largest depth.
        largest: usize,
    },
    /// A character that no formula contains.
    #[error("unexpected character `{character}`{}", hint(.character))]
    Character {
        /// The character.
        character: char,
    },
    /// A number that is no number, or too large for one.
    #[error("`{text}` is not a number in double precision")]
    Number {
        /// The number as written.
        text: String,
    },
    /// Something else stands where a number, variable, function or parenthesis should.
    #[error("expected a number, a variable, a function or a parenthesis, found {found}")]
    Operand {
        /// What was found.
        found: String,
    },
    /// Two operands without an operator between them.
    #[error("an operator is missing before `{next}`; products are written with *")]
    MissingOperator {
        /// The second operand.
        next: String,
    },
    /// A parenthesis that is never closed.
    #[error("this parenthesis is never closed")]
    Unclosed,
    /// A parenthesis that was never opened.
    #[error("this parenthesis was never opened")]
    Unopened,
    /// A comma: no function takes two arguments.
    #[error("unexpected `,`: functions take one argument, decimals have a point")]
    Comma,
    /// A function without its argument.
    #[error("the function {function} needs its argument in parentheses: {function}(…)")]
    Argument {
        /// The function.
        function: String,
    },
    /// A name that does not exist.
    #[error("unknown name `{name}`")]
    Name {
        /// The name.
        name: String,
        /// The functions, constants and variables that exist.
        known: Vec<&'static str>,
    },
    /// Variables without an operator between them.
    #[error("unknown name `{name}`: did you mean {product}?")]
    Product {
        /// The name.
        name: String,
        /// The same letters with operators.
        product: String,
    },
    /// A variable whose index does not count from 1.
    #[error("there is no variable `{name}`: variables are x1 to x{largest}")]
    Index {
        /// The variable.
        name: String,
        /// The largest index.
        largest: usize,
    },
    /// Variables x, y, z, w beside variables x1, x2, ….
    #[error("`{name}` does not go with the variables before it: use x, y, z, w or x1, x2, …, not both")]
    Mixed {
        /// The variable.
        name: String,
    },
    /// No variable, so no dimension.
    #[error("the formula has no variable")]
    NoVariable,
    /// The dimension asked for is too small for the variables, or too large.
    #[error("the dimension must be between {least} and {largest} for this formula, got {given}")]
    Dimension {
        /// The dimension that the variables need.
        least: usize,
        /// The largest dimension.
        largest: usize,
        /// The dimension asked for.
        given: usize,
    },
}

impl Problem {
    /// The problem at a byte of a formula.
    pub(super) fn at(self, formula: &str, byte: usize) -> FormulaError {
        FormulaError { formula: formula.to_owned(), byte, problem: self }
    }
}

impl FormulaError {
    /// What is wrong.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The formula as it was given.
    pub fn formula(&self) -> &str {
        &self.formula
    }

    /// Where, in bytes from the start.
    pub fn byte(&self) -> usize {
        self.byte
    }

    /// Where, in characters from the start.
    pub fn column(&self) -> usize {
        self.formula.char_indices().take_while(|&(byte, _)| byte < self.byte).count()
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Characters shown on either side of the place.
        const AROUND: usize = 60;
        let from = self.column().saturating_sub(AROUND);
        // One line whatever the formula contains, so that the caret is below its character.
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
