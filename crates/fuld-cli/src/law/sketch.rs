//! Curves in the terminal, drawn with Braille characters of two by four dots.

use std::fmt::Write;

/// Width of a sketch in characters.
const WIDTH: usize = 64;
/// Height of a sketch in characters.
const HEIGHT: usize = 14;
/// Bits of a Braille character, by column and row of the dot.
const DOTS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// A function to be drawn.
pub(super) struct Curve<'a> {
    pub(super) of: Box<dyn Fn(f64) -> f64 + 'a>,
    /// Whether the curve is drawn with gaps, to distinguish it.
    pub(super) dotted: bool,
}

/// Draws curves over a range of x. The curves that are not dotted determine the vertical range, so
/// that they are always complete.
pub(super) fn sketch(curves: &[Curve<'_>], (from, to): (f64, f64)) -> String {
    let columns = 2 * WIDTH;
    let x = |i: usize| from + (to - from) * i as f64 / (columns - 1) as f64;
    let heights = |curve: &Curve<'_>| (0..columns).map(|i| (curve.of)(x(i))).collect::<Vec<f64>>();
    let lines: Vec<(Vec<f64>, bool)> =
        curves.iter().map(|curve| (heights(curve), curve.dotted)).collect();
    let whole = lines.iter().filter(|(_, dotted)| !dotted).flat_map(|(line, _)| line);
    let (low, high) = whole
        .filter(|y| y.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &y| (low.min(y), high.max(y)));
    if low >= high {
        return String::new();
    }
    let rows = 4 * HEIGHT;
    let row = |y: f64| ((high - y) / (high - low) * (rows - 1) as f64).round();
    let mut cells = vec![[0u8; WIDTH]; HEIGHT];
    for (line, dotted) in &lines {
        let dots = dots(line, row);
        for (column, row) in dots.into_iter().step_by(if *dotted { 3 } else { 1 }) {
            if (0.0..rows as f64).contains(&row) {
                let row = row as usize;
                cells[row / 4][column / 2] |= DOTS[column % 2][row % 4];
            }
        }
    }
    let mut text = String::new();
    for (i, cells) in cells.iter().enumerate() {
        let margin = match i {
            0 => format!("{high:.3}"),
            _ if i + 1 == HEIGHT => format!("{low:.3}"),
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "{margin:>10} │{}",
            cells.map(braille).iter().collect::<String>().trim_end()
        );
    }
    let (left, right) = (format!("{from}"), format!("{to}"));
    let _ = writeln!(text, "{:>10} └{}", "", "─".repeat(WIDTH));
    let room = WIDTH.saturating_sub(left.len() + right.len());
    let _ = writeln!(text, "{:>10}  {left}{}{right}", "", " ".repeat(room));
    text
}

/// Returns columns and rows of the dots of a curve, including the rows between two neighbouring
/// dots.
fn dots(line: &[f64], row: impl Fn(f64) -> f64) -> Vec<(usize, f64)> {
    let mut all: Vec<(usize, f64)> = Vec::new();
    for (column, y) in line.iter().enumerate().filter(|(_, y)| y.is_finite()) {
        let to = row(*y);
        let from = all.last().filter(|(last, _)| last + 1 == column).map_or(to, |&(_, row)| row);
        // A curve that comes from far outside the sketch is cut off.
        let from = from.clamp(to - 4.0 * HEIGHT as f64, to + 4.0 * HEIGHT as f64);
        let step = if to > from { 1.0 } else { -1.0 };
        let between = ((to - from).abs() - 1.0).max(0.0) as usize;
        all.extend((1..=between).map(|i| (column, from + step * i as f64)));
        all.push((column, to));
    }
    all
}

fn braille(bits: u8) -> char {
    match bits {
        0 => ' ',
        _ => char::from_u32(0x2800 + u32::from(bits)).unwrap_or(' '),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_from_corner_to_corner() {
        let text = sketch(&[Curve { of: Box::new(|x| x), dotted: false }], (0.0, 1.0));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), HEIGHT + 2);
        assert!(
            lines[0].ends_with('⠉') || lines[0].ends_with('⠋') || lines[0].ends_with('⠊'),
            "{text}"
        );
        assert!(
            lines[0].starts_with("     1.000") && lines[HEIGHT - 1].starts_with("     0.000"),
            "{text}"
        );
        assert!(lines[HEIGHT - 1].contains("│⣀"), "{text}");
    }

    #[test]
    fn values_that_are_not_finite_are_left_out() {
        assert_eq!(sketch(&[Curve { of: Box::new(|_| f64::NAN), dotted: false }], (0.0, 1.0)), "");
        assert_eq!(sketch(&[], (0.0, 1.0)), "");
        let spike = |x: f64| if x < 0.5 { f64::INFINITY } else { x };
        assert!(
            sketch(&[Curve { of: Box::new(spike), dotted: false }], (0.0, 1.0)).contains("1.000")
        );
    }
}
