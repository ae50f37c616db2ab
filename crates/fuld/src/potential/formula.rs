//! Potentials from formulas, with symbolic gradients.

mod derivative;
mod display;
mod error;
mod function;
mod graph;
mod lexer;
mod log_sum;
mod lower;
mod parse;
mod program;
mod simplify;
mod variables;

pub use display::Expression;
pub use error::{FormulaError, Problem};

use super::Potential;
use crate::Specification;
use function::Operand;
use graph::{Graph, Id};
use program::Program;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use variables::{Family, MAX_DIM};

/// A potential given by a formula, with its gradient derived symbolically.
///
/// ```
/// use fuld::potential::{Formula, Potential};
/// let f: Formula = "(1-x)^2 + 100*(y-x^2)^2".parse().unwrap();
/// assert_eq!((f.dim(), f.value(&[1.0, 2.0])), (2, 100.0));
/// assert_eq!(f.derivative(1).unwrap().to_string(), "200*(y - x^2)");
/// ```
///
/// - **Variables** are `x`, `y`, `z`, `w`, in this order, or `x1`, `x2`, …, counted from 1; a
///   formula uses one of the two. The dimension is that of the last variable that occurs: `y^2` is
///   a function of (x, y).
/// - **Operators** are `+ - * / ^` with the usual precedence: `-x^2` is −(x²), `x^y^z` is x^(y^z),
///   `x/y*z` is (x/y)·z. Products require `*`: `2*x`, not `2x`.
/// - **Functions** are `exp`, `log` (natural; also `ln`), `log1p`, `sqrt`, `sin`, `cos`, `tan`,
///   `sinh`, `cosh`, `tanh`, `atan`, `abs`, `sign`, and `logcosh` = ln cosh; **constants** are
///   `pi`, `e` and numbers like `2`, `.5` and `1e-3`.
///
/// The formula is simplified as it is parsed. `Display` writes the simplified formula in a form
/// that can be parsed again. Where f has no derivative, the gradient is that of the formula: `abs`
/// has slope 0 at 0. Infinities and NaN propagate.
///
/// Points are evaluated in blocks. Single points, blocks of any size and all machines give the same
/// bits.
#[derive(Clone, Debug)]
pub struct Formula {
    source: String,
    family: Family,
    dim: usize,
    graph: Graph,
    root: Id,
    derivatives: Vec<Id>,
    value: Program,
    gradient: Program,
    both: Program,
}

impl Formula {
    /// Parses a formula, whose variables determine the dimension.
    pub fn parse(formula: &str) -> Result<Self, FormulaError> {
        Self::build(formula, None)
    }

    /// Parses a formula as a function on ℝ^`dim`. It need not contain every variable.
    pub fn with_dim(formula: &str, dim: usize) -> Result<Self, FormulaError> {
        Self::build(formula, Some(dim))
    }

    fn build(source: &str, dim: Option<usize>) -> Result<Self, FormulaError> {
        let parse::Parsed { mut graph, root, family, dim: needed } = parse::parse(source)?;
        let (given, least) = (dim.unwrap_or(needed), needed.max(1));
        if dim.is_none() && needed == 0 {
            return Err(Problem::NoVariable.at(source, 0));
        }
        if !(least..=MAX_DIM).contains(&given) {
            return Err(Problem::Dimension { least, largest: MAX_DIM, given }.at(source, 0));
        }
        let derivatives = graph.gradient(root, given);
        let both: Vec<Id> = std::iter::once(root).chain(derivatives.iter().copied()).collect();
        Ok(Self {
            source: source.to_owned(),
            family,
            dim: given,
            value: Program::new(&graph, &[root]),
            gradient: Program::new(&graph, &derivatives),
            both: Program::new(&graph, &both),
            graph,
            root,
            derivatives,
        })
    }

    /// Returns the formula as it was given.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the name of a variable, counted from 0, in the notation of the formula: y or x2.
    pub fn variable(&self, i: usize) -> String {
        self.family.name(u32::try_from(i).unwrap_or(u32::MAX - 1))
    }

    /// Returns ∂f/∂xᵢ as a formula, i counted from 0; `None` if i is not below the dimension.
    pub fn derivative(&self, i: usize) -> Option<Expression<'_>> {
        self.derivatives.get(i).map(|&root| self.expression(root))
    }

    /// Returns whether f depends on a variable, counted from 0: whether its derivative is not
    /// simply 0.
    pub fn depends_on(&self, i: usize) -> bool {
        self.derivatives.get(i).is_some_and(|&root| self.graph.number(root) != Some(0.0))
    }

    fn expression(&self, root: Id) -> Expression<'_> {
        Expression { graph: &self.graph, root, family: self.family }
    }

    /// Writes f at many points, which are stored one after the other.
    pub fn values(&self, points: &[f64], values: &mut [f64]) {
        self.value.run(self.dim, whole(points, self.dim), |block, _, results| {
            store(results, block, values, 0, 1)
        });
    }

    /// Writes f and ∇f at many points. It is faster than two calls because f and ∇f share
    /// subexpressions.
    pub fn values_and_gradients(&self, points: &[f64], values: &mut [f64], gradients: &mut [f64]) {
        let d = self.dim;
        self.both.run(d, whole(points, d), |block, j, results| match j {
            0 => store(results, block, values, 0, 1),
            _ => store(results, block, gradients, j - 1, d),
        });
    }
}

/// Returns the points that have all their coordinates.
fn whole(points: &[f64], dim: usize) -> &[f64] {
    &points[..points.len() / dim * dim]
}

/// Writes the results of a block to component `j` of `d`, up to the end of the output.
#[inline]
fn store(results: Operand<'_>, block: Range<usize>, out: &mut [f64], j: usize, d: usize) {
    let end = (block.end * d).min(out.len());
    let out = out.get_mut(block.start * d + j..end).unwrap_or_default();
    match results {
        Operand::Block(results) if d == 1 => out.copy_from_slice(&results[..out.len()]),
        Operand::Block(results) => {
            for (out, result) in out.iter_mut().step_by(d).zip(results) {
                *out = *result;
            }
        }
        Operand::Number(number) => out.iter_mut().step_by(d).for_each(|out| *out = number),
    }
}

impl Potential for Formula {
    fn dim(&self) -> usize {
        self.dim
    }

    fn specification(&self) -> Option<Specification> {
        Some(Specification::new("formula").with("text", self.to_string()))
    }

    fn value(&self, x: &[f64]) -> f64 {
        let mut value = [f64::NAN];
        self.values(x, &mut value);
        value[0]
    }

    fn gradient(&self, x: &[f64], gradient: &mut [f64]) {
        self.gradients(x, &[], gradient);
    }

    fn gradients(&self, points: &[f64], _words: &[u64], gradients: &mut [f64]) {
        let d = self.dim;
        self.gradient
            .run(d, whole(points, d), |block, j, results| store(results, block, gradients, j, d));
    }
}

impl FromStr for Formula {
    type Err = FormulaError;

    fn from_str(formula: &str) -> Result<Self, FormulaError> {
        Self::parse(formula)
    }
}

/// Writes the simplified formula, which parses as the same formula.
impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expression(self.root).fmt(out)
    }
}
