//! The plot area of a panel: axes, grid and marks drawn in pixel coordinates.

use super::axis::Fitted;
use super::canvas::{Anchor, Canvas};
use super::hue::Hue;
use super::mark::{Mark, MarkShape};
use std::fmt::Write;

/// The axes of a panel and the rectangle they span, in pixels.
pub(super) struct Frame {
    pub(super) x: Fitted,
    pub(super) y: Fitted,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Frame {
    fn across(&self, x: f64) -> f64 {
        self.left + self.x.at(x).clamp(-50.0, 50.0) * (self.right - self.left)
    }

    fn up(&self, y: f64) -> f64 {
        self.bottom - self.y.at(y).clamp(-50.0, 50.0) * (self.bottom - self.top)
    }

    fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        (self.x.shows(x) && self.y.shows(y)).then(|| (self.across(x), self.up(y)))
    }

    pub(super) fn axes(
        &self,
        canvas: &mut Canvas,
        y_ticks: &[(f64, String)],
        x_label: &str,
        y_label: &str,
    ) {
        let x_ticks = self.x.ticks(((self.right - self.left) / 62.0) as usize);
        let muted = canvas.colours(Some(Hue::Muted), None);
        canvas.open_group(&format!("{muted} stroke-width=\"0.6\" stroke-opacity=\"0.28\""));
        y_ticks
            .iter()
            .for_each(|&(y, _)| canvas.segment((self.left, self.up(y)), (self.right, self.up(y))));
        x_ticks.iter().for_each(|&(x, _)| {
            canvas.segment((self.across(x), self.top), (self.across(x), self.bottom))
        });
        canvas.close_group();
        canvas.open_group(&format!("{muted} stroke-width=\"1\""));
        canvas.segment((self.left, self.bottom), (self.right, self.bottom));
        canvas.segment((self.left, self.top), (self.left, self.bottom));
        canvas.close_group();

        let ink = canvas.colours(None, Some(Hue::Ink));
        canvas.open_group(&format!("{ink} font-size=\"11\""));
        for (y, text) in y_ticks {
            canvas.text((self.left - 6.0, self.up(*y) + 4.0), Anchor::End, "", text);
        }
        for (x, text) in &x_ticks {
            canvas.text((self.across(*x), self.bottom + 15.0), Anchor::Middle, "", text);
        }
        let (middle, half) = (0.5 * (self.left + self.right), 0.5 * (self.top + self.bottom));
        canvas.text((middle, self.bottom + 33.0), Anchor::Middle, "", x_label);
        let turned = format!(" transform=\"rotate(-90 12 {half:.1})\"");
        canvas.text((12.0, half), Anchor::Middle, &turned, y_label);
        canvas.close_group();
    }

    pub(super) fn mark(&self, canvas: &mut Canvas, mark: &Mark) {
        let (stroke, fill) =
            (canvas.colours(Some(mark.hue), None), canvas.colours(None, Some(mark.hue)));
        match &mark.shape {
            MarkShape::Line { points, dash, weight } => {
                canvas.open_group(&format!(
                    "{stroke} stroke-width=\"{weight}\" stroke-dasharray=\"{}\"",
                    dash.pattern()
                ));
                canvas.path(&thinned(points.iter().map(|&p| self.place(p))), false);
                canvas.close_group();
            }
            MarkShape::Area(points) => {
                let floor = self.up(self.y.floor());
                let curve = points.iter().filter_map(|&p| self.place(p));
                self.fill(canvas, &fill, 0.22, curve.map(|(x, y)| (x, floor, y)).collect());
            }
            MarkShape::Band(points) => {
                let low = points
                    .iter()
                    .filter_map(|&(x, a, b)| Some((self.place((x, a))?, self.place((x, b))?)));
                self.fill(canvas, &fill, 0.25, low.map(|((x, a), (_, b))| (x, a, b)).collect());
            }
            MarkShape::Dots(points) => {
                canvas.open_group(&fill);
                points
                    .iter()
                    .filter_map(|&p| self.place(p))
                    .for_each(|(x, y)| canvas.raw(&dot(mark.hue, x, y)));
                canvas.close_group();
            }
            MarkShape::ErrorBars(bars) => {
                canvas.open_group(&format!("{stroke} stroke-width=\"1.2\""));
                for (low, high) in bars
                    .iter()
                    .filter_map(|&(x, a, b)| Some((self.place((x, a))?, self.place((x, b))?)))
                {
                    canvas.segment(low, high);
                    for (x, y) in [low, high] {
                        canvas.segment((x - 2.5, y), (x + 2.5, y));
                    }
                }
                canvas.close_group();
            }
            MarkShape::Arrows(arrows) => {
                canvas.open_group(&format!("{stroke} stroke-width=\"1\""));
                for &(x, y, dx, dy) in arrows {
                    if let (Some(from), Some(to)) =
                        (self.place((x, y)), self.place((x + dx, y + dy)))
                    {
                        arrow(canvas, from, to);
                    }
                }
                canvas.close_group();
            }
            MarkShape::Vertical(x, _) if self.x.shows(*x) => self.rule(
                canvas,
                &stroke,
                (self.across(*x), self.top),
                (self.across(*x), self.bottom),
            ),
            MarkShape::Horizontal(y, _) if self.y.shows(*y) => {
                self.rule(canvas, &stroke, (self.left, self.up(*y)), (self.right, self.up(*y)))
            }
            // A rule at a value the axis cannot show.
            MarkShape::Vertical(..) | MarkShape::Horizontal(..) => {}
        }
    }

    fn rule(&self, canvas: &mut Canvas, stroke: &str, from: (f64, f64), to: (f64, f64)) {
        canvas.open_group(&format!("{stroke} stroke-width=\"1.1\" stroke-dasharray=\"3 3\""));
        canvas.segment(from, to);
        canvas.close_group();
    }

    /// Fills between two curves given as (x, one, other) in pixels.
    fn fill(&self, canvas: &mut Canvas, fill: &str, opacity: f64, points: Vec<(f64, f64, f64)>) {
        let there = points.iter().map(|&(x, one, _)| Some((x, one)));
        let back = points.iter().rev().map(|&(x, _, other)| Some((x, other)));
        canvas.open_group(&format!("{fill} fill-opacity=\"{opacity}\""));
        canvas.path(&there.chain(back).collect::<Vec<_>>(), true);
        canvas.close_group();
    }

    /// Draws the texts of rules.
    pub(super) fn caption(&self, canvas: &mut Canvas, mark: &Mark) {
        let ink = format!("{} font-size=\"10.5\"", canvas.colours(None, Some(Hue::Muted)));
        match &mark.shape {
            MarkShape::Vertical(x, text) if (0.0..=1.0).contains(&self.x.at(*x)) => {
                let late = self.x.at(*x) > 0.7;
                let (shift, anchor) = if late { (-4.0, Anchor::End) } else { (4.0, Anchor::Start) };
                canvas.text((self.across(*x) + shift, self.top + 10.0), anchor, &ink, text);
            }
            MarkShape::Horizontal(y, text) if (0.0..=1.0).contains(&self.y.at(*y)) => {
                canvas.text((self.right - 4.0, self.up(*y) - 4.0), Anchor::End, &ink, text);
            }
            _ => {}
        }
    }
}

/// Returns a marker whose shape depends on its colour, so that colour alone need not distinguish
/// it.
pub(super) fn dot(hue: Hue, x: f64, y: f64) -> String {
    let mut d = String::new();
    let _ = match hue {
        Hue::Vermillion => write!(d, "M{:.1} {:.1}h6v6h-6Z", x - 3.0, y - 3.0),
        Hue::Green => write!(d, "M{x:.1} {:.1}l4 7h-8Z", y - 4.2),
        Hue::Purple => write!(d, "M{x:.1} {:.1}l4.3 4.3l-4.3 4.3l-4.3 -4.3Z", y - 4.3),
        Hue::Orange => write!(d, "M{x:.1} {:.1}l4 -7h-8Z", y + 4.2),
        _ => return format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.3\"/>"),
    };
    format!("<path d=\"{d}\"/>")
}

fn arrow(canvas: &mut Canvas, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let (dx, dy) = (x2 - x1, y2 - y1);
    let length = dx.hypot(dy);
    if length < 0.3 {
        return;
    }
    let head = (0.35 * length).clamp(1.2, 4.0) / length;
    let (bx, by) = (x2 - head * dx, y2 - head * dy);
    let (nx, ny) = (-0.55 * head * dy, 0.55 * head * dx);
    let (ax, ay, cx, cy) = (bx + nx, by + ny, bx - nx, by - ny);
    canvas.raw(&format!(
        "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}M{ax:.1} {ay:.1}L{x2:.1} {y2:.1}L{cx:.1} {cy:.1}\"/>"
    ));
}

/// Drops points that cannot be seen: of those within half a pixel it keeps the first, lowest,
/// highest and last.
fn thinned(points: impl Iterator<Item = Option<(f64, f64)>>) -> Vec<Option<(f64, f64)>> {
    let mut kept = Vec::new();
    let mut column: Vec<(f64, f64)> = Vec::new();
    let flush = |column: &mut Vec<(f64, f64)>, kept: &mut Vec<Option<(f64, f64)>>| {
        if column.len() <= 4 {
            kept.extend(column.drain(..).map(Some));
            return;
        }
        let by = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
        let (low, high) = ((0..column.len()).min_by(by), (0..column.len()).max_by(by));
        let mut order: Vec<usize> =
            [Some(0), low, high, Some(column.len() - 1)].into_iter().flatten().collect();
        order.sort_unstable();
        order.dedup();
        kept.extend(order.into_iter().map(|i| Some(column[i])));
        column.clear();
    };
    for point in points {
        match point {
            Some(point) => {
                if column.first().is_some_and(|first| (first.0 - point.0).abs() > 0.5) {
                    flush(&mut column, &mut kept);
                }
                column.push(point);
            }
            None => {
                flush(&mut column, &mut kept);
                kept.push(None);
            }
        }
    }
    flush(&mut column, &mut kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_extremes() {
        let points = (0..100_000)
            .map(|i| Some((f64::from(i) * 1e-3, if i == 5_555 { 9.0 } else { f64::from(i % 7) })));
        let kept = thinned(points);
        assert!(kept.len() < 1_000, "{}", kept.len());
        assert!(kept.iter().flatten().any(|&(_, y)| y == 9.0));
    }
}
