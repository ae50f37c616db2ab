//! Symbolic gradients, by the chain rule from the value down to the variables.

use super::function::{Function, Operator};
use super::graph::{Graph, Id, Node};

impl Graph {
    /// Returns ∂f/∂xᵢ for i < `dim`, as nodes of this graph.
    ///
    /// For each node t of f, ∂f/∂t is the sum of the contributions of the nodes that contain t. All
    /// components together take a few nodes per node of f, for any dimension.
    pub(super) fn gradient(&mut self, f: Id, dim: usize) -> Vec<Id> {
        let zero = self.constant(0.0);
        let mut gradient = vec![zero; dim];
        let nodes = self.reachable(&[f]);
        let mut varies = vec![false; f.index() + 1];
        for &id in &nodes {
            let node = self.node(id);
            varies[id.index()] =
                matches!(node, Node::Variable(_)) || node.children().any(|c| varies[c.index()]);
        }
        let mut passed: Vec<Vec<Id>> = vec![Vec::new(); f.index() + 1];
        passed[f.index()].push(self.constant(1.0));
        for &id in nodes.iter().rev().filter(|id| varies[id.index()]) {
            // In reverse, so that sums have the order in which they were written.
            let parts = std::mem::take(&mut passed[id.index()]);
            let outer =
                parts.into_iter().rev().reduce(|sum, part| self.add(sum, part)).unwrap_or(zero);
            if let Node::Variable(i) = self.node(id) {
                if let Some(component) = gradient.get_mut(i as usize) {
                    *component = outer;
                }
                continue;
            }
            for (child, part) in self.partials(id, outer, &varies).into_iter().rev() {
                passed[child.index()].push(part);
            }
        }
        gradient
    }

    /// Returns the operands u of a node t that depend on variables, each with `outer`·∂t/∂u.
    fn partials(&mut self, t: Id, outer: Id, varies: &[bool]) -> Vec<(Id, Id)> {
        let varies = |id: Id| varies[id.index()];
        let mut partials = Vec::with_capacity(2);
        match self.node(t) {
            Node::Constant(_) | Node::Variable(_) => {}
            Node::Apply(function, u) => {
                let slope = self.slope(function, u, t);
                partials.push((u, self.mul(outer, slope)));
            }
            Node::Binary(Operator::Add, a, b) => partials.extend([(a, outer), (b, outer)]),
            Node::Binary(Operator::Sub, a, b) => {
                partials.extend([(a, outer), (b, self.neg(outer))])
            }
            Node::Binary(Operator::Mul, a, b) => {
                partials.extend([(a, self.mul(outer, b)), (b, self.mul(outer, a))])
            }
            Node::Binary(Operator::Div, a, b) => {
                if varies(a) {
                    partials.push((a, self.div(outer, b)));
                }
                if varies(b) {
                    let (up, two) = (self.mul(outer, a), self.constant(2.0));
                    let (up, down) = (self.neg(up), self.pow(b, two));
                    partials.push((b, self.div(up, down)));
                }
            }
            Node::Binary(Operator::Pow, a, b) => {
                if varies(a) {
                    let one = self.constant(1.0);
                    let less = self.sub(b, one);
                    let power = self.pow(a, less);
                    let slope = self.mul(b, power);
                    partials.push((a, self.mul(outer, slope)));
                }
                // 0^b does not depend on b, and log 0 does not exist.
                if varies(b) && self.number(a) != Some(0.0) {
                    let log = self.apply(Function::Log, a);
                    let slope = self.mul(t, log);
                    partials.push((b, self.mul(outer, slope)));
                }
            }
        }
        partials.retain(|&(child, _)| varies(child));
        partials
    }

    /// Returns the derivative at u of a function whose value there is t.
    fn slope(&mut self, function: Function, u: Id, t: Id) -> Id {
        let (one, two) = (self.constant(1.0), self.constant(2.0));
        match function {
            Function::Neg => self.constant(-1.0),
            Function::Exp => t,
            Function::Log => self.div(one, u),
            Function::Log1p => {
                let down = self.add(one, u);
                self.div(one, down)
            }
            Function::Sqrt => {
                let down = self.mul(two, t);
                self.div(one, down)
            }
            Function::Sin => self.apply(Function::Cos, u),
            Function::Cos => {
                let sin = self.apply(Function::Sin, u);
                self.neg(sin)
            }
            Function::Tan => {
                let square = self.pow(t, two);
                self.add(one, square)
            }
            Function::Sinh => self.apply(Function::Cosh, u),
            Function::Cosh => self.apply(Function::Sinh, u),
            Function::Tanh => {
                let square = self.pow(t, two);
                self.sub(one, square)
            }
            Function::Atan => {
                let square = self.pow(u, two);
                let down = self.add(one, square);
                self.div(one, down)
            }
            Function::Abs => self.apply(Function::Sign, u),
            Function::Sign => self.constant(0.0),
            Function::LogCosh => self.apply(Function::Tanh, u),
            Function::Softplus => self.apply(Function::Sigmoid, u),
            Function::Sigmoid => {
                let other = self.sub(one, t);
                self.mul(t, other)
            }
        }
    }
}
