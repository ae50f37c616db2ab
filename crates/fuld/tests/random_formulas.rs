//! Random formulas: values compared with a direct evaluation, gradients with differences, and text
//! that is parsed again.

use crate::differences::{Random, difference, gradient, gradients, same};
use fuld::Potential;
use fuld::potential::Formula;
use std::fmt::Write;

const FORMULAS: usize = 1000;

/// A formula as text and as a function.
struct Made {
    text: String,
    value: Value,
}

type Value = Box<dyn Fn(&[f64]) -> f64>;

fn leaf(random: &mut Random, dim: usize) -> Made {
    if random.below(3) > 0 {
        let i = random.below(dim);
        return Made { text: ["x", "y", "z"][i].to_owned(), value: Box::new(move |x| x[i]) };
    }
    let number = [0.5, 1.0, 2.0, 3.0, 0.1, 7.25, 1e-3][random.below(7)];
    Made { text: number.to_string(), value: Box::new(move |_| number) }
}

fn make(random: &mut Random, dim: usize, depth: usize) -> Made {
    if depth == 0 || random.below(8) == 0 {
        return leaf(random, dim);
    }
    let a = make(random, dim, depth - 1);
    let (text, value) = (a.text, a.value);
    match random.below(12) {
        0 => Made { text: format!("-({text})"), value: Box::new(move |x| -value(x)) },
        1 | 2 => {
            let exponents = [
                ("2", 2.0),
                ("3", 3.0),
                ("-1", -1.0),
                ("0.5", 0.5),
                ("(1/3)", 1.0 / 3.0),
                ("4", 4.0),
            ];
            let (exponent, n) = exponents[random.below(6)];
            Made {
                text: format!("({text})^{exponent}"),
                value: Box::new(move |x| value(x).powf(n)),
            }
        }
        3 | 4 => {
            type Function = fn(f64) -> f64;
            let functions: [(&str, Function); 13] = [
                ("exp", f64::exp),
                ("log", f64::ln),
                ("sqrt", f64::sqrt),
                ("sin", f64::sin),
                ("cos", f64::cos),
                ("tan", f64::tan),
                ("tanh", f64::tanh),
                ("sinh", f64::sinh),
                ("cosh", f64::cosh),
                ("abs", f64::abs),
                ("atan", f64::atan),
                ("log1p", f64::ln_1p),
                ("logcosh", |x| x.abs() + (-2.0 * x.abs()).exp().ln_1p() - std::f64::consts::LN_2),
            ];
            let (name, function) = functions[random.below(13)];
            Made { text: format!("{name}({text})"), value: Box::new(move |x| function(value(x))) }
        }
        choice => {
            let b = make(random, dim, depth - 1);
            let right = b.value;
            let mut joined = format!("({text})");
            let (sign, value): (char, Value) = match choice {
                5 | 6 => ('+', Box::new(move |x| value(x) + right(x))),
                7 => ('-', Box::new(move |x| value(x) - right(x))),
                8 | 9 => ('*', Box::new(move |x| value(x) * right(x))),
                10 => ('/', Box::new(move |x| value(x) / right(x))),
                _ => ('^', Box::new(move |x| value(x).powf(right(x)))),
            };
            write!(joined, " {sign} ({})", b.text).unwrap();
            Made { text: joined, value }
        }
    }
}

/// Random formulas that contain a variable, with some points each.
fn formulas(seed: u64) -> impl Iterator<Item = (Made, Formula, Vec<Vec<f64>>)> {
    let mut random = Random(seed);
    std::iter::repeat_with(move || {
        let dim = 1 + random.below(3);
        let depth = 2 + random.below(4);
        let made = make(&mut random, dim, depth);
        let formula = Formula::with_dim(&made.text, dim).unwrap_or_else(|error| panic!("{error}"));
        let points = (0..5).map(|_| random.points(dim, 0.2, 2.0)).collect();
        (made, formula, points)
    })
    .filter(|(made, ..)| made.text.contains(['x', 'y', 'z']))
    .take(FORMULAS)
}

/// Returns how much `value` changes under rounding errors of x, which any evaluation of the formula
/// may magnify.
fn sensitivity(value: &dyn Fn(&[f64]) -> f64, x: &[f64]) -> f64 {
    let mut largest = 0.0f64;
    for i in 0..x.len() {
        let mut moved = x.to_vec();
        moved[i] *= 1.0 + 1e-10;
        largest = largest.max((value(&moved) - value(x)).abs());
    }
    largest
}

#[test]
fn values_match_a_direct_evaluation() {
    let (mut compared, mut unlike) = (0, Vec::new());
    for (made, formula, points) in formulas(11) {
        for x in points {
            let (ours, expected) = (formula.value(&x), (made.value)(&x));
            let tolerance = 1e-3 * sensitivity(&made.value, &x) + 1e-12 * (1.0 + expected.abs());
            if !(expected.is_finite() && tolerance < 1e-3 * (1.0 + expected.abs())) {
                continue;
            }
            compared += 1;
            if (ours - expected).abs() >= tolerance {
                unlike.push(format!("{} at {x:?}: {ours}, not {expected}", made.text));
            }
        }
    }
    assert!(compared > 3 * FORMULAS, "{compared}");
    assert!(unlike.is_empty(), "{} of {compared}:\n{}", unlike.len(), unlike.join("\n"));
}

#[test]
fn gradients_match_central_differences() {
    let (mut compared, mut formulas_compared, mut undefined, mut unlike) = (0, 0, 0, Vec::new());
    for (made, formula, points) in formulas(12) {
        let before = compared;
        for x in points {
            let g = gradient(&formula, &x);
            for (i, g) in g.into_iter().enumerate() {
                let (coarse, fine) =
                    (difference(&formula, &x, i, 4e-3), difference(&formula, &x, i, 2e-3));
                let scale = 1.0 + fine.abs() + formula.value(&x).abs();
                // Near a singularity or a kink, differences with two step sizes disagree.
                if (coarse - fine).is_nan() || (coarse - fine).abs() >= 1e-8 * scale {
                    continue;
                }
                compared += 1;
                // 0·∞ where a part overflows, or the logarithm of a negative base: the value
                // exists, but not the formula of its slope.
                undefined += usize::from(g.is_nan());
                if (g - fine).abs() >= 1e-7 * scale {
                    unlike.push(format!("{} at {x:?}, {i}: {g}, not {fine}", made.text));
                }
            }
        }
        formulas_compared += usize::from(compared > before);
    }
    assert!(formulas_compared > 8 * FORMULAS / 10, "{formulas_compared}");
    assert!(undefined * 200 < compared, "{undefined} of {compared}");
    assert!(unlike.is_empty(), "{} of {compared}:\n{}", unlike.len(), unlike.join("\n"));
}

#[test]
fn text_reads_back_as_the_same_formula() {
    for (made, formula, points) in formulas(13) {
        let dim = formula.dim();
        let shown = formula.to_string();
        let again =
            Formula::with_dim(&shown, dim).unwrap_or_else(|error| panic!("{}\n{error}", made.text));
        assert_eq!(again.to_string(), shown, "{}", made.text);
        for x in &points {
            assert!(same(formula.value(x), again.value(x)), "{shown}");
        }
        for i in 0..dim {
            let shown = formula.derivative(i).unwrap().to_string();
            let again = Formula::with_dim(&shown, dim)
                .unwrap_or_else(|error| panic!("{}\n{error}", made.text));
            assert_eq!(again.to_string(), shown, "derivative {i} of {}", made.text);
            assert!(
                points.iter().all(|x| same(gradient(&formula, x)[i], again.value(x))),
                "{shown}"
            );
        }
    }
}

#[test]
fn batches_equal_single_points_bit_for_bit() {
    for (made, formula, points) in formulas(14) {
        let mut flat: Vec<f64> = points.concat();
        for special in [0.0, -1.5, f64::INFINITY, f64::NAN] {
            flat.extend(vec![special; formula.dim()]);
        }
        // More than one block.
        let flat = flat.repeat(40);
        let batch = gradients(&formula, &flat);
        for (x, batch) in flat.chunks(formula.dim()).zip(batch.chunks(formula.dim())) {
            assert!(
                gradient(&formula, x).iter().zip(batch).all(|(&a, &b)| same(a, b)),
                "{} at {x:?}",
                made.text
            );
        }
    }
}
