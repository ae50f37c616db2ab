//! Parses text into expressions by precedence climbing.
//!
//! | precedence | operators | |
//! |---|---|---|
//! | lowest | `+` `-` | left-associative |
//! | | `*` `/` | left-associative |
//! | | `-` before an operand | −x² is −(x²), −x·y is (−x)·y |
//! | highest | `^` | right-associative; the exponent may have a sign |

use super::error::{FormulaError, Problem};
use super::function::Function;
use super::graph::{Graph, Id};
use super::lexer::{Placed, Token, tokens};
use super::variables::Family;

/// The longest formula, in bytes.
const MAX_LENGTH: usize = 1 << 16;
/// The deepest nesting of parentheses, powers and signs. The parser calls itself a few times for
/// each level.
const MAX_DEPTH: usize = 200;

/// The only function with several arguments: log(e^a + e^b + …), which neither overflows nor
/// underflows.
const LOG_SUM_EXP: &str = "logsumexp";

const CONSTANTS: [(&str, f64); 2] = [("pi", std::f64::consts::PI), ("e", std::f64::consts::E)];

/// A parsed formula.
pub(super) struct Parsed {
    pub(super) graph: Graph,
    pub(super) root: Id,
    pub(super) family: Family,
    /// The smallest dimension that contains the variables; 0 if there are none.
    pub(super) dim: usize,
}

pub(super) fn parse(formula: &str) -> Result<Parsed, FormulaError> {
    if formula.len() > MAX_LENGTH {
        return Err(Problem::TooLong { length: formula.len(), largest: MAX_LENGTH }.at(formula, 0));
    }
    let tokens = tokens(formula)?;
    let mut parser = Parser {
        formula,
        tokens,
        next: 0,
        depth: 0,
        graph: Graph::default(),
        family: None,
        dim: 0,
    };
    if parser.peek().token == Token::End {
        return Err(Problem::Empty.at(formula, 0));
    }
    let root = parser.expression(Level::Sum)?;
    let rest = parser.peek();
    match rest.token {
        Token::End => {}
        Token::Sign(')') => return Err(parser.error(Problem::Unopened, rest)),
        _ => return Err(parser.unexpected(rest)),
    }
    let family = parser.family.unwrap_or(Family::Letters);
    Ok(Parsed { graph: parser.graph, root, family, dim: parser.dim })
}

struct Parser<'a> {
    formula: &'a str,
    tokens: Vec<Placed<'a>>,
    next: usize,
    depth: usize,
    graph: Graph,
    family: Option<Family>,
    dim: usize,
}

/// The lowest precedence of an operator that continues the current expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Sign,
    Power,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Placed<'a> {
        // The last token is the end, which is not passed.
        self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn error(&self, problem: Problem, place: Placed<'_>) -> FormulaError {
        problem.at(self.formula, place.byte)
    }

    /// Parses operands joined by operators of at least the precedence `least`.
    fn expression(&mut self, least: Level) -> Result<Id, FormulaError> {
        let mut left = self.operand()?;
        loop {
            let Token::Sign(sign) = self.peek().token else { return Ok(left) };
            // The right operand extends over operators of higher precedence; that of a power also
            // over another power.
            let (level, right) = match sign {
                '+' | '-' => (Level::Sum, Level::Product),
                '*' | '/' => (Level::Product, Level::Sign),
                '^' => (Level::Power, Level::Power),
                _ => return Ok(left),
            };
            if level < least {
                return Ok(left);
            }
            let place = self.peek();
            self.next += 1;
            let right = match sign {
                '^' => self.nested(place, |parser| parser.expression(right))?,
                _ => self.expression(right)?,
            };
            left = match sign {
                '+' => self.graph.add(left, right),
                '-' => self.graph.sub(left, right),
                '*' => self.graph.mul(left, right),
                '/' => self.graph.div(left, right),
                _ => self.graph.pow(left, right),
            };
        }
    }

    /// Parses a number, constant, variable, function or parenthesis, or one of these with a sign.
    fn operand(&mut self) -> Result<Id, FormulaError> {
        let place = self.peek();
        self.next += 1;
        match place.token {
            Token::Number(value) => Ok(self.graph.constant(value)),
            Token::Name(name) => self.name(name, place),
            Token::Sign('(') => self.nested(place, |parser| parser.closed(place)),
            Token::Sign('-') => {
                let operand = self.nested(place, |parser| parser.expression(Level::Sign))?;
                Ok(self.graph.neg(operand))
            }
            Token::Sign('+') => self.nested(place, |parser| parser.expression(Level::Sign)),
            Token::Sign(',') => Err(self.error(Problem::Comma, place)),
            Token::Sign(sign) => {
                let doubled = sign == '*' && self.formula[..place.byte].ends_with('*');
                let found = if doubled {
                    "`**`; powers are written with ^".to_owned()
                } else {
                    format!("`{sign}`")
                };
                Err(self.error(Problem::Operand { found }, place))
            }
            Token::End => Err(self.error(Problem::Operand { found: "the end".to_owned() }, place)),
        }
    }

    fn name(&mut self, name: &str, place: Placed<'a>) -> Result<Id, FormulaError> {
        if name == LOG_SUM_EXP {
            return self.log_sum_exp(place);
        }
        if let Some(function) = Function::named(name) {
            let open = self.peek();
            if open.token != Token::Sign('(') {
                return Err(self.error(Problem::Argument { function: name.to_owned() }, open));
            }
            self.next += 1;
            let argument = self.nested(place, |parser| parser.closed(open))?;
            return Ok(self.graph.apply(function, argument));
        }
        if let Some(&(_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
            return Ok(self.graph.constant(value));
        }
        let Some(variable) = Family::variable(name) else {
            return Err(self.error(unknown(name), place));
        };
        let (family, index) = variable.map_err(|problem| self.error(problem, place))?;
        if *self.family.get_or_insert(family) != family {
            return Err(self.error(Problem::Mixed { name: name.to_owned() }, place));
        }
        self.dim = self.dim.max(index as usize + 1);
        Ok(self.graph.variable(index))
    }

    /// Parses the arguments of `logsumexp`, separated by commas.
    fn log_sum_exp(&mut self, place: Placed<'a>) -> Result<Id, FormulaError> {
        let open = self.peek();
        if open.token != Token::Sign('(') {
            return Err(self.error(Problem::Argument { function: LOG_SUM_EXP.to_owned() }, open));
        }
        let mut sum = None;
        while sum.is_none() || self.peek().token == Token::Sign(',') {
            self.next += 1;
            let argument = self.nested(place, |parser| parser.expression(Level::Sum))?;
            sum = Some(sum.map_or(argument, |sum| self.graph.log_add(sum, argument)));
        }
        let close = self.peek();
        match (close.token, sum) {
            (Token::Sign(')'), Some(sum)) => {
                self.next += 1;
                Ok(sum)
            }
            (Token::End, _) => Err(self.error(Problem::Unclosed, open)),
            _ => Err(self.unexpected(close)),
        }
    }

    /// Parses an expression in parentheses after the opening one.
    fn closed(&mut self, open: Placed<'a>) -> Result<Id, FormulaError> {
        let inside = self.expression(Level::Sum)?;
        let close = self.peek();
        match close.token {
            Token::Sign(')') => {
                self.next += 1;
                Ok(inside)
            }
            Token::End => Err(self.error(Problem::Unclosed, open)),
            _ => Err(self.unexpected(close)),
        }
    }

    /// Returns the error for a token that cannot continue the expression.
    fn unexpected(&self, place: Placed<'a>) -> FormulaError {
        let problem = match place.token {
            Token::Sign(',') => Problem::Comma,
            _ => Problem::MissingOperator { next: place.text.to_owned() },
        };
        self.error(problem, place)
    }

    fn nested(
        &mut self,
        place: Placed<'a>,
        inner: impl FnOnce(&mut Self) -> Result<Id, FormulaError>,
    ) -> Result<Id, FormulaError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(Problem::TooDeep { largest: MAX_DEPTH }, place));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }
}

/// Returns the problem of an unknown name: variables without a * between them, or another name.
fn unknown(name: &str) -> Problem {
    let name = name.to_owned();
    if name.len() <= 8
        && name.chars().all(|c| Family::letters().any(|letter| letter.starts_with(c)))
    {
        let letters: Vec<_> = name.chars().map(String::from).collect();
        return Problem::Product { name, product: letters.join("*") };
    }
    let constants = CONSTANTS.iter().map(|&(known, _)| known);
    Problem::Name {
        name,
        known: Function::names()
            .chain([LOG_SUM_EXP])
            .chain(constants)
            .chain(Family::letters())
            .collect(),
    }
}
