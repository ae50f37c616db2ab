//! Writes expressions as text that parses as the same expression.

use super::function::{Function, Operator};
use super::graph::{Graph, Id, Node};
use super::variables::Family;
use Operator::{Add, Div, Mul, Pow, Sub};
use std::fmt;

/// Largest number of parts that are written; shared parts of a graph can make the text very long.
const MAX_PIECES: usize = 1 << 18;

/// An expression of a [`Formula`](super::Formula): the formula itself or one of its derivatives.
///
/// `Display` writes it in a form that can be parsed as a formula. Text of hundreds of thousands of
/// characters is cut off and ends with `…`.
#[derive(Clone, Copy, Debug)]
pub struct Expression<'a> {
    pub(super) graph: &'a Graph,
    pub(super) root: Id,
    pub(super) family: Family,
}

/// The precedence of an expression: a part is written in parentheses where its surroundings bind
/// tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Sum,
    Product,
    /// The right operand of a product or quotient.
    Factor,
    Power,
    Atom,
}

enum Piece {
    Text(&'static str),
    Part(Id, Binding),
}

use Piece::{Part, Text};

impl fmt::Display for Expression<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The stack of parts that are still to be written; the top is next.
        let mut rest = vec![Part(self.root, Binding::Sum)];
        let mut pieces = 0;
        while let Some(piece) = rest.pop() {
            pieces += 1;
            if pieces > MAX_PIECES {
                return out.write_str(" …");
            }
            match piece {
                Text(text) => out.write_str(text)?,
                Part(id, around) => self.part(id, around, &mut rest, out)?,
            }
        }
        Ok(())
    }
}

impl Expression<'_> {
    /// Writes a number or a variable, and pushes the parts of any other expression on the stack.
    fn part(
        &self,
        id: Id,
        around: Binding,
        rest: &mut Vec<Piece>,
        out: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let own = self.binding(id);
        if own < around {
            rest.extend([Text(")"), Part(id, Binding::Sum), Text("(")]);
            return Ok(());
        }
        let mut infix =
            |a, left, sign, b, right| rest.extend([Part(b, right), Text(sign), Part(a, left)]);
        match self.graph.node(id) {
            Node::Constant(bits) => write!(out, "{}", number(f64::from_bits(bits)))?,
            Node::Variable(i) => write!(out, "{}", self.family.name(i))?,
            Node::Apply(Function::Neg, v) => {
                rest.extend([Part(v, self.scaled(v, true)), Text("-")])
            }
            Node::Apply(function, u) => {
                rest.extend([Text(")"), Part(u, Binding::Sum), Text("("), Text(function.name())])
            }
            Node::Binary(Add, a, b) => infix(a, Binding::Sum, " + ", b, Binding::Product),
            Node::Binary(Sub, a, b) => infix(a, Binding::Sum, " - ", b, Binding::Product),
            Node::Binary(Mul, a, b) => {
                // 2*x*y parses as (2*x)*y, which is the same expression as 2*(x*y).
                let right =
                    self.graph.number(a).map_or(Binding::Factor, |p| self.scaled(b, p < 0.0));
                infix(a, Binding::Product, "*", b, right);
            }
            Node::Binary(Div, a, b) => infix(a, Binding::Product, "/", b, Binding::Factor),
            Node::Binary(Pow, a, b) => infix(a, Binding::Atom, "^", b, Binding::Atom),
        }
        Ok(())
    }

    fn binding(&self, id: Id) -> Binding {
        match self.graph.node(id) {
            Node::Constant(bits) if f64::from_bits(bits) < 0.0 => Binding::Product,
            Node::Binary(Add | Sub, ..) => Binding::Sum,
            Node::Binary(Mul | Div, ..) | Node::Apply(Function::Neg, _) => Binding::Product,
            Node::Binary(Pow, ..) => Binding::Power,
            Node::Constant(_) | Node::Variable(_) | Node::Apply(..) => Binding::Atom,
        }
    }

    /// Returns the precedence of v after a factor. Without parentheses a minus before a difference,
    /// or a number before another, would be parsed as part of it.
    fn scaled(&self, v: Id, negative: bool) -> Binding {
        let mut first = v;
        while let Node::Binary(Mul | Div, a, _) = self.graph.node(first) {
            first = a;
        }
        let joins = match self.graph.node(first) {
            Node::Constant(_) | Node::Apply(Function::Neg, _) => true,
            Node::Binary(Sub, ..) => negative,
            _ => false,
        };
        if joins { Binding::Factor } else { Binding::Product }
    }
}

/// Writes the shortest decimal that parses as the same number.
fn number(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
