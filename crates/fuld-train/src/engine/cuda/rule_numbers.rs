//! The numbers of each run's rule, as the kernels read them.

use super::device::Plain;
use fuld::optimizer::{Adam, Rule};
use levy_stable::table::TableData;

/// Coefficients per piece of a table of the field, `FIELD_TERMS` in `kernels.cu`.
const FIELD_TERMS: usize = 8;

/// The rule of a run, `Rule` in `kernels.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunRule {
    momentum: f32,
    inner: f32,
    outer: f32,
    octaves: u32,
    pieces: u32,
    table: u32,
    lowest: i32,
    shift: f32,
    near: f32,
}

// SAFETY: nine numbers of four bytes.
unsafe impl Plain for RunRule {}

/// The rule of a run, `AdamRule` in `kernels.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunAdam {
    learning_rate: f64,
    beta1: f64,
    beta2: f64,
    eps: f32,
    /// The kernel's structure ends here, at a multiple of eight bytes.
    unused: f32,
}

// SAFETY: 24 + 8 bytes of numbers, without padding.
unsafe impl Plain for RunAdam {}

/// Returns the numbers of Adam.
pub(super) fn run_adam(adam: &Adam) -> RunAdam {
    let (beta1, beta2) = adam.betas;
    let learning_rate = adam.learning_rate;
    RunAdam { learning_rate, beta1, beta2, eps: adam.eps as f32, unused: 0.0 }
}

/// Returns the numbers of each rule and the tables of their fields; rules that share a table on the
/// host share it on the device.
pub(super) fn run_rules<'a>(rules: impl Iterator<Item = &'a Rule>) -> (Vec<RunRule>, Vec<u32>) {
    let mut tables = Vec::new();
    let mut known: Vec<(f64, RunRule)> = Vec::new();
    let rules = rules.map(|rule| {
        let coordinates = rule.coordinates();
        let plain = RunRule {
            momentum: coordinates.momentum() as f32,
            outer: coordinates.learning_rate() as f32,
            ..RunRule::default()
        };
        let Some(field) = rule.field() else { return plain };
        let alpha = coordinates.alpha();
        let of_table = match known.iter().find(|(other, _)| *other == alpha) {
            Some((_, of_table)) => *of_table,
            None => {
                let of_table = add_table(&field.single(), &mut tables);
                known.push((alpha, of_table));
                of_table
            }
        };
        RunRule {
            momentum: plain.momentum,
            inner: coordinates.inner() as f32,
            outer: coordinates.outer() as f32,
            ..of_table
        }
    });
    (rules.collect(), tables)
}

/// Adds a table of the field, in the order that `kernels.cu` reads.
fn add_table(data: &TableData, tables: &mut Vec<u32>) -> RunRule {
    assert_eq!(data.terms, FIELD_TERMS, "the kernels evaluate polynomials of this length");
    let table = tables.len() as u32;
    tables.extend(data.octaves.iter().map(|[first, split]| first << 4 | split));
    for power in 0..FIELD_TERMS {
        let of_power = data.coefficients.iter().skip(power).step_by(FIELD_TERMS);
        tables.extend(of_power.map(|&c| (c as f32).to_bits()));
    }
    RunRule {
        octaves: data.octaves.len() as u32,
        pieces: data.pieces() as u32,
        table,
        lowest: data.lowest,
        shift: f64::from(data.lowest).exp2() as f32,
        near: data.switch().map_or(f32::INFINITY, |v| (v as f32).next_down()),
        ..RunRule::default()
    }
}
