//! Logarithms of sums of exponentials, which neither overflow nor underflow.
//!
//! log(c₁ e^u₁ + c₂ e^u₂ + …) becomes u₁ + log c₁ + softplus(…), as `logsumexp` writes it. Without
//! this the density of a mixture would be log 0 a few dozen standard deviations from its modes.

use super::function::{Function, Operator};
use super::graph::{Graph, Id, Node};

impl Graph {
    /// Returns log(e^a + e^b) = a + softplus(b − a).
    pub(super) fn log_add(&mut self, a: Id, b: Id) -> Id {
        let difference = self.sub(b, a);
        let rest = self.apply(Function::Softplus, difference);
        self.add(a, rest)
    }

    /// Returns log u, if u is a sum of exponentials with positive factors, possibly times a
    /// positive number.
    pub(super) fn log_of_sum(&mut self, u: Id) -> Option<Id> {
        let factors = self.factors(u);
        let mut sums = factors
            .iter()
            .filter(|(id, _)| matches!(self.node(*id), Node::Binary(Operator::Add, ..)));
        let &(sum, false) = sums.next()? else { return None };
        let others: Vec<_> = factors.iter().copied().filter(|&(id, _)| id != sum).collect();
        let mut exponents = Vec::new();
        let mut rest = vec![sum];
        while let Some(id) = rest.pop() {
            match self.node(id) {
                Node::Binary(Operator::Add, a, b) => rest.extend([b, a]),
                _ => {
                    let factors = self.factors(id);
                    exponents.push(self.log_of_product(&factors)?);
                }
            }
        }
        let constant = self.log_of_product(&others)?;
        let varies = exponents.iter().any(|&exponent| self.number(exponent).is_none());
        let sum = exponents.into_iter().reduce(|sum, exponent| self.log_add(sum, exponent))?;
        varies.then(|| self.add(constant, sum))
    }

    /// Returns the factors of a product or quotient, each with whether it divides.
    fn factors(&self, id: Id) -> Vec<(Id, bool)> {
        let (mut factors, mut rest) = (Vec::new(), vec![(id, false)]);
        while let Some((id, divides)) = rest.pop() {
            match self.node(id) {
                Node::Binary(Operator::Mul, a, b) => rest.extend([(b, divides), (a, divides)]),
                Node::Binary(Operator::Div, a, b) => rest.extend([(b, !divides), (a, divides)]),
                _ => factors.push((id, divides)),
            }
        }
        factors
    }

    /// Returns the logarithm of a product of exponentials and positive numbers.
    fn log_of_product(&mut self, factors: &[(Id, bool)]) -> Option<Id> {
        let mut sum = self.constant(0.0);
        for &(factor, divides) in factors {
            let log = match self.node(factor) {
                Node::Apply(Function::Exp, u) => u,
                _ => {
                    let log = libm::log(self.number(factor).filter(|&number| number > 0.0)?);
                    self.constant(log)
                }
            };
            sum = if divides { self.sub(sum, log) } else { self.add(sum, log) };
        }
        Some(sum)
    }
}
