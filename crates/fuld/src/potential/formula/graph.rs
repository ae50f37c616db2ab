//! Expressions as a graph in which equal parts share a node.
//!
//! Nodes follow the nodes they refer to, so their order is an order of evaluation. Every algorithm
//! on expressions is a loop over nodes and not a recursion, so deep formulas cannot overflow the
//! stack.

use super::function::{Function, Operator};
use std::collections::HashMap;

/// A node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(u32);

impl Id {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// The bits of a number.
    Constant(u64),
    /// A variable, counted from 0.
    Variable(u32),
    Apply(Function, Id),
    Binary(Operator, Id, Id),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    known: HashMap<Node, Id>,
}

impl Graph {
    /// Returns the node, which is created only if there is no equal one. Sums and products with
    /// exchanged operands are equal, because their bits are.
    pub(super) fn intern(&mut self, node: Node) -> Id {
        use Operator::{Add, Mul};
        let exchanged = match node {
            Node::Binary(op @ (Add | Mul), a, b) => Node::Binary(op, b, a),
            other => other,
        };
        if let Some(&id) = self.known.get(&node).or_else(|| self.known.get(&exchanged)) {
            return id;
        }
        // The limit on the length of a formula keeps the number of nodes far below this.
        let id = Id(self.nodes.len() as u32);
        self.nodes.push(node);
        self.known.insert(node, id);
        id
    }

    pub(super) fn constant(&mut self, value: f64) -> Id {
        // −0 and 0 are one node, because −0 would be printed as another one.
        self.intern(Node::Constant(if value == 0.0 { 0.0f64 } else { value }.to_bits()))
    }

    pub(super) fn variable(&mut self, index: u32) -> Id {
        self.intern(Node::Variable(index))
    }

    pub(super) fn node(&self, id: Id) -> Node {
        self.nodes[id.index()]
    }

    /// Returns the number, if the node is one.
    pub(super) fn number(&self, id: Id) -> Option<f64> {
        match self.node(id) {
            Node::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Returns the nodes that `roots` depend on, in an order of evaluation.
    pub(super) fn reachable(&self, roots: &[Id]) -> Vec<Id> {
        let end = roots.iter().map(|id| id.index() + 1).max().unwrap_or(0);
        let mut needed = vec![false; end];
        for root in roots {
            needed[root.index()] = true;
        }
        for i in (0..end).rev() {
            if needed[i] {
                for child in self.nodes[i].children() {
                    needed[child.index()] = true;
                }
            }
        }
        (0..end).filter(|&i| needed[i]).map(|i| Id(i as u32)).collect()
    }
}

impl Node {
    pub(super) fn children(self) -> impl Iterator<Item = Id> {
        let (a, b) = match self {
            Self::Constant(_) | Self::Variable(_) => (None, None),
            Self::Apply(_, a) => (Some(a), None),
            Self::Binary(_, a, b) => (Some(a), Some(b)),
        };
        a.into_iter().chain(b)
    }
}
