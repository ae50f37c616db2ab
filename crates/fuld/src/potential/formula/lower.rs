//! Rewrites expressions for evaluation: powers become products, and operations on constants are
//! folded.

use super::function::{Function, Operator};
use super::graph::{Graph, Id, Node};
use Operator::{Div, Mul, Pow};

/// The largest |n| for which xⁿ is computed by products.
const MAX_PRODUCTS: f64 = 64.0;

/// Returns the nodes that `outputs` depend on, rewritten into a new graph.
pub(super) fn lower(graph: &Graph, outputs: &[Id]) -> (Graph, Vec<Id>) {
    let nodes = graph.reachable(outputs);
    let mut lowered = Graph::default();
    // Indexed by the nodes of the first graph; those that are not used keep this zero.
    let zero = lowered.constant(0.0);
    let mut places = vec![zero; nodes.last().map_or(0, |id| id.index() + 1)];
    for id in nodes {
        let place = |id: Id| places[id.index()];
        places[id.index()] = match graph.node(id) {
            leaf @ (Node::Constant(_) | Node::Variable(_)) => lowered.intern(leaf),
            Node::Apply(function, a) => apply(&mut lowered, function, place(a)),
            Node::Binary(op, a, b) => binary(&mut lowered, op, place(a), place(b)),
        };
    }
    let outputs = outputs.iter().map(|id| places[id.index()]).collect();
    (lowered, outputs)
}

fn apply(graph: &mut Graph, function: Function, a: Id) -> Id {
    match graph.number(a) {
        Some(a) => graph.constant(function.at(a)),
        None => graph.intern(Node::Apply(function, a)),
    }
}

fn binary(graph: &mut Graph, op: Operator, a: Id, b: Id) -> Id {
    match (op, graph.number(a), graph.number(b)) {
        (_, Some(a), Some(b)) => graph.constant(op.at(a, b)),
        (Pow, None, Some(n)) => power(graph, a, n),
        (Div, None, Some(q)) if is_power_of_two(q) => {
            // Gives the same bits as the division and is faster.
            let inverse = graph.constant(1.0 / q);
            graph.intern(Node::Binary(Mul, a, inverse))
        }
        _ => graph.intern(Node::Binary(op, a, b)),
    }
}

fn is_power_of_two(q: f64) -> bool {
    q.is_normal() && (1.0 / q).is_normal() && q.to_bits() << 12 == 0
}

/// Returns xⁿ by products for integer n, with a square root for half-integer n, and by `pow`
/// otherwise.
fn power(graph: &mut Graph, x: Id, n: f64) -> Id {
    if n.fract().abs() == 0.5 && n.abs() < MAX_PRODUCTS {
        let root = graph.intern(Node::Apply(Function::Sqrt, x));
        return match n {
            0.5 => root,
            _ => {
                let rest = power(graph, x, n - 0.5);
                binary(graph, Mul, rest, root)
            }
        };
    }
    if n.fract() != 0.0 || n.abs() > MAX_PRODUCTS {
        let n = graph.constant(n);
        return graph.intern(Node::Binary(Pow, x, n));
    }
    let product = products(graph, x, n.abs() as u32);
    if n > 0.0 {
        return product;
    }
    let one = graph.constant(1.0);
    binary(graph, Div, one, product)
}

/// Returns xⁿ by squaring; powers of the same x share nodes.
fn products(graph: &mut Graph, x: Id, n: u32) -> Id {
    match n {
        0 => graph.constant(1.0),
        1 => x,
        _ => {
            let half = products(graph, x, n / 2);
            let square = graph.intern(Node::Binary(Mul, half, half));
            if n.is_multiple_of(2) { square } else { graph.intern(Node::Binary(Mul, square, x)) }
        }
    }
}
