//! Splits formulas into numbers, names and signs.

use super::error::{FormulaError, Problem};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    /// One of `+-*/^(),`
    Sign(char),
    End,
}

/// A token and its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub(super) token: Token<'a>,
    pub(super) byte: usize,
    /// The token as written.
    pub(super) text: &'a str,
}

/// Returns all tokens of a formula; the last one is the end.
pub(super) fn tokens(formula: &str) -> Result<Vec<Placed<'_>>, FormulaError> {
    let mut tokens = Vec::new();
    let mut byte = 0;
    while let Some(first) = formula[byte..].chars().next() {
        let rest = &formula[byte..];
        let length = match first {
            '0'..='9' | '.' => number_length(rest),
            'a'..='z' | 'A'..='Z' | '_' => {
                rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        };
        let text = &rest[..length];
        let token = match first {
            '0'..='9' | '.' => match text.parse() {
                Ok(number) if f64::is_finite(number) => Token::Number(number),
                _ => return Err(Problem::Number { text: text.to_owned() }.at(formula, byte)),
            },
            'a'..='z' | 'A'..='Z' | '_' => Token::Name(text),
            '+' | '-' | '*' | '/' | '^' | '(' | ')' | ',' => Token::Sign(first),
            blank if blank.is_whitespace() => {
                byte += length;
                continue;
            }
            character => return Err(Problem::Character { character }.at(formula, byte)),
        };
        tokens.push(Placed { token, byte, text });
        byte += length;
    }
    tokens.push(Placed { token: Token::End, byte, text: "" });
    Ok(tokens)
}

/// Returns the length of a number: digits and points, then an exponent if one follows. The e of
/// `2e` is the constant.
fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let mantissa = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let Some(exponent) = text[mantissa..].strip_prefix(['e', 'E']) else {
        return mantissa;
    };
    let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    match digits(unsigned) {
        0 => mantissa,
        n => mantissa + 1 + (exponent.len() - unsigned.len()) + n,
    }
}
