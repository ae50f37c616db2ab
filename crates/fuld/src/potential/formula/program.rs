//! Expressions as straight-line programs that run on blocks of points.
//!
//! A program is a list of instructions on registers, each of which holds one number for every point
//! of a block. An instruction is a loop over the block, which the compiler vectorises, so the cost
//! of interpretation is shared by all points. Registers are reused after the last use of their
//! contents, so the working set stays in the first-level cache.

use super::function::{Function, Operand, Operator};
use super::graph::{Graph, Id, Node};
use super::lower::lower;
use std::cell::RefCell;
use std::ops::Range;

/// Points per block: enough to amortise the interpretation, few enough for the cache.
const LANES: usize = 256;
/// Largest total size of the registers, in numbers; longer programs use smaller blocks.
const CACHED: usize = 1 << 15;

/// The source of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Register(usize),
    Number(f64),
}

#[derive(Clone, Copy, Debug)]
enum Instruction {
    /// A coordinate of the points.
    Load(usize),
    Apply(Function, usize),
    Binary(Operator, Source, Source),
}

/// A program that computes several expressions together and shares common parts.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// The instructions, each with the register of its result, which is never one of its operands.
    instructions: Vec<(Instruction, usize)>,
    outputs: Vec<Source>,
    registers: usize,
}

thread_local! {
    /// The registers. They are kept between calls, because clearing memory would dominate short
    /// ones.
    static REGISTERS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

impl Program {
    pub(super) fn new(graph: &Graph, outputs: &[Id]) -> Self {
        let (graph, outputs) = lower(graph, outputs);
        let nodes = graph.reachable(&outputs);
        let mut uses = vec![0usize; nodes.last().map_or(0, |id| id.index() + 1)];
        let children = nodes.iter().flat_map(|&id| graph.node(id).children());
        // An output counts as a use at the end of the program.
        for id in children.chain(outputs.iter().copied()) {
            uses[id.index()] += 1;
        }
        let mut places = vec![Source::Number(0.0); uses.len()];
        let (mut free, mut registers, mut instructions) = (Vec::new(), 0, Vec::new());
        for &id in &nodes {
            let place = |id: Id| places[id.index()];
            let instruction = match (graph.node(id), graph.node(id).children().next().map(place)) {
                (Node::Constant(bits), _) => {
                    places[id.index()] = Source::Number(f64::from_bits(bits));
                    continue;
                }
                (Node::Variable(i), _) => Instruction::Load(i as usize),
                (Node::Apply(function, _), Some(Source::Register(a))) => {
                    Instruction::Apply(function, a)
                }
                // `lower` has folded functions of numbers.
                (Node::Apply(..), _) => continue,
                (Node::Binary(op, a, b), _) => Instruction::Binary(op, place(a), place(b)),
            };
            let out = free.pop().unwrap_or_else(|| {
                registers += 1;
                registers - 1
            });
            instructions.push((instruction, out));
            places[id.index()] = Source::Register(out);
            for child in graph.node(id).children() {
                uses[child.index()] -= 1;
                if let (0, Source::Register(register)) =
                    (uses[child.index()], places[child.index()])
                {
                    free.push(register);
                }
            }
        }
        let outputs = outputs.iter().map(|id| places[id.index()]).collect();
        Self { instructions, outputs, registers }
    }

    /// Runs the program on points of `dim` coordinates, one after the other. `sink(block, j,
    /// results)` receives the results of output j for a range of the points.
    pub(super) fn run(
        &self,
        dim: usize,
        points: &[f64],
        mut sink: impl FnMut(Range<usize>, usize, Operand<'_>),
    ) {
        REGISTERS.with_borrow_mut(|registers| {
            let lanes = (CACHED / self.registers.max(1)).clamp(8, LANES);
            let width = lanes.min(points.len() / dim);
            if registers.len() < self.registers * width {
                registers.resize(self.registers * width, 0.0);
            }
            for (block, points) in points.chunks(lanes * dim).enumerate() {
                let (first, n) = (block * lanes, points.len() / dim);
                for &(instruction, out) in &self.instructions {
                    execute(instruction, out, dim, points, (width, n), registers);
                }
                for (j, &output) in self.outputs.iter().enumerate() {
                    let result = match output {
                        Source::Register(r) => Operand::Block(&registers[r * width..][..n]),
                        Source::Number(number) => Operand::Number(number),
                    };
                    sink(first..first + n, j, result);
                }
            }
        });
    }
}

/// Executes one instruction on `n` points, in registers `width` apart.
#[inline]
fn execute(
    instruction: Instruction,
    out: usize,
    dim: usize,
    points: &[f64],
    (width, n): (usize, usize),
    registers: &mut [f64],
) {
    let (before, rest) = registers.split_at_mut(out * width);
    let (out, after) = rest.split_at_mut(width);
    let after_start = before.len() + width;
    let block = |register: usize| {
        let start = register * width;
        if start < before.len() {
            &before[start..][..n]
        } else {
            &after[start - after_start..][..n]
        }
    };
    let operand = |source| match source {
        Source::Register(register) => Operand::Block(block(register)),
        Source::Number(number) => Operand::Number(number),
    };
    let out = &mut out[..n];
    match instruction {
        Instruction::Load(_) if dim == 1 => out.copy_from_slice(&points[..n]),
        Instruction::Load(i) => {
            for (out, point) in out.iter_mut().zip(points.chunks_exact(dim)) {
                *out = point[i];
            }
        }
        Instruction::Apply(function, a) => function.map(block(a), out),
        Instruction::Binary(op, a, b) => op.map(operand(a), operand(b), out),
    }
}
