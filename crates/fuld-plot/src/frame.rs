//! The plot area of a panel: axes, grid and marks drawn in pixel coordinates.

use super::axis::Fitted;
use super::hue::Hue;
use super::mark::{Mark, MarkShape};
use super::scene::{Anchor, Element, Font, Paint, Point, Shape, Text};

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

    fn place(&self, (x, y): (f64, f64)) -> Option<Point> {
        (self.x.shows(x) && self.y.shows(y)).then(|| (self.across(x), self.up(y)))
    }

    pub(super) fn axes(
        &self,
        y_ticks: &[(f64, String)],
        x_label: &str,
        y_label: &str,
    ) -> [Element; 3] {
        let Self { left, right, top, bottom, .. } = *self;
        let x_ticks = self.x.ticks(((right - left) / 62.0) as usize);
        let across = y_ticks.iter().map(|(y, _)| self.across_panel(*y));
        let grid = across.chain(x_ticks.iter().map(|(x, _)| self.up_panel(*x))).collect();
        let axes = vec![
            Shape::segment((left, bottom), (right, bottom)),
            Shape::segment((left, top), (left, bottom)),
        ];
        let mut texts: Vec<Text> = y_ticks
            .iter()
            .map(|(y, text)| Text::new((left - 6.0, self.up(*y) + 4.0), Anchor::End, text))
            .collect();
        texts.extend(
            x_ticks
                .iter()
                .map(|(x, text)| Text::new((self.across(*x), bottom + 15.0), Anchor::Middle, text)),
        );
        let (middle, half) = (0.5 * (left + right), 0.5 * (top + bottom));
        texts.push(Text::new((middle, bottom + 33.0), Anchor::Middle, x_label));
        texts.push(Text { upwards: true, ..Text::new((12.0, half), Anchor::Middle, y_label) });
        [
            Element::Shapes(Paint { opacity: 0.28, ..Paint::stroke(Hue::Muted, 0.6) }, grid),
            Element::Shapes(Paint::stroke(Hue::Muted, 1.0), axes),
            Element::Texts(Font::new(Hue::Ink, 11.0), texts),
        ]
    }

    /// Returns the horizontal line through the panel at a value.
    fn across_panel(&self, y: f64) -> Shape {
        Shape::segment((self.left, self.up(y)), (self.right, self.up(y)))
    }

    /// Returns the vertical line through the panel at a value.
    fn up_panel(&self, x: f64) -> Shape {
        Shape::segment((self.across(x), self.top), (self.across(x), self.bottom))
    }

    /// Draws a mark; `None` if the axes can show nothing of it.
    pub(super) fn mark(&self, mark: &Mark) -> Option<Element> {
        let hue = mark.hue;
        let rule = Paint::dashed(hue, 1.1, &[3.0, 3.0]);
        let (paint, shapes) = match &mark.shape {
            MarkShape::Line { points, dash, weight } => {
                let points = thinned(points.iter().map(|&p| self.place(p)));
                (Paint::dashed(hue, *weight, dash.pattern()), vec![Shape::Path(points)])
            }
            MarkShape::Area(points) => {
                let floor = self.up(self.y.floor());
                let curve = points.iter().filter_map(|&p| self.place(p));
                (Paint::fill(hue, 0.22), between(curve.map(|(x, y)| (x, floor, y)).collect()))
            }
            MarkShape::Band(points) => {
                let low = points
                    .iter()
                    .filter_map(|&(x, a, b)| Some((self.place((x, a))?, self.place((x, b))?)));
                let band = low.map(|((x, a), (_, b))| (x, a, b)).collect();
                (Paint::fill(hue, 0.25), between(band))
            }
            MarkShape::Dots(points) => {
                let places = points.iter().filter_map(|&p| self.place(p));
                (Paint::fill(hue, 1.0), places.map(|at| dot(hue, at)).collect())
            }
            MarkShape::ErrorBars(bars) => {
                let ends = bars
                    .iter()
                    .filter_map(|&(x, a, b)| Some((self.place((x, a))?, self.place((x, b))?)));
                let cap = |(x, y): Point| Shape::segment((x - 2.5, y), (x + 2.5, y));
                let bar = |(low, high)| [Shape::segment(low, high), cap(low), cap(high)];
                (Paint::stroke(hue, 1.2), ends.flat_map(bar).collect())
            }
            MarkShape::Arrows(arrows) => {
                let arrow = |&(x, y, dx, dy): &(f64, f64, f64, f64)| {
                    arrow(self.place((x, y))?, self.place((x + dx, y + dy))?)
                };
                (Paint::stroke(hue, 1.0), arrows.iter().filter_map(arrow).collect())
            }
            MarkShape::Vertical(x, _) if self.x.shows(*x) => (rule, vec![self.up_panel(*x)]),
            MarkShape::Horizontal(y, _) if self.y.shows(*y) => (rule, vec![self.across_panel(*y)]),
            MarkShape::Vertical(..) | MarkShape::Horizontal(..) => return None,
        };
        (!shapes.is_empty()).then_some(Element::Shapes(paint, shapes))
    }

    /// Returns the text of a rule.
    pub(super) fn caption(&self, mark: &Mark) -> Option<Text> {
        match &mark.shape {
            MarkShape::Vertical(x, text) if (0.0..=1.0).contains(&self.x.at(*x)) => {
                let late = self.x.at(*x) > 0.7;
                let (shift, anchor) = if late { (-4.0, Anchor::End) } else { (4.0, Anchor::Start) };
                Some(Text::new((self.across(*x) + shift, self.top + 10.0), anchor, text))
            }
            MarkShape::Horizontal(y, text) if (0.0..=1.0).contains(&self.y.at(*y)) => {
                Some(Text::new((self.right - 4.0, self.up(*y) - 4.0), Anchor::End, text))
            }
            _ => None,
        }
    }
}

/// Returns the area between two curves given as (x, one, other) in pixels.
fn between(points: Vec<(f64, f64, f64)>) -> Vec<Shape> {
    let there = points.iter().map(|&(x, one, _)| (x, one));
    let back = points.iter().rev().map(|&(x, _, other)| (x, other));
    let outline: Vec<Point> = there.chain(back).collect();
    if outline.is_empty() { Vec::new() } else { vec![Shape::Polygon(outline)] }
}

/// Returns a marker whose shape depends on its colour, so that colour alone need not distinguish
/// it.
pub(super) fn dot(hue: Hue, (x, y): Point) -> Shape {
    let corners: &[Point] = match hue {
        Hue::Vermillion => &[(-3.0, -3.0), (3.0, -3.0), (3.0, 3.0), (-3.0, 3.0)],
        Hue::Green => &[(0.0, -4.2), (4.0, 2.8), (-4.0, 2.8)],
        Hue::Purple => &[(0.0, -4.3), (4.3, 0.0), (0.0, 4.3), (-4.3, 0.0)],
        Hue::Orange => &[(0.0, 4.2), (4.0, -2.8), (-4.0, -2.8)],
        _ => return Shape::Circle((x, y), 3.3),
    };
    Shape::Polygon(corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect())
}

/// Returns an arrow between two points; `None` if it is too short to be seen.
fn arrow((x1, y1): Point, (x2, y2): Point) -> Option<Shape> {
    let (dx, dy) = (x2 - x1, y2 - y1);
    let length = dx.hypot(dy);
    if length < 0.3 {
        return None;
    }
    let head = (0.35 * length).clamp(1.2, 4.0) / length;
    let (bx, by) = (x2 - head * dx, y2 - head * dy);
    let (nx, ny) = (-0.55 * head * dy, 0.55 * head * dx);
    let tip = Some((x2, y2));
    let (one, other) = (Some((bx + nx, by + ny)), Some((bx - nx, by - ny)));
    Some(Shape::Path(vec![Some((x1, y1)), tip, None, one, tip, other]))
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
