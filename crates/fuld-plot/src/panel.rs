//! Panels: two axes and the marks drawn between them.

use super::axis::Axis;
use super::frame::Frame;
use super::hue::Hue;
use super::label;
use super::mark::{Dash, Mark, MarkShape};
use super::scene::{Anchor, Element, Font, Text};

/// A panel of a figure.
#[derive(Clone, Debug)]
pub struct Panel {
    title: String,
    x: Axis,
    y: Axis,
    marks: Vec<Mark>,
}

type Points = Vec<(f64, f64)>;

impl Panel {
    /// Creates an empty panel.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), x: Axis::linear(""), y: Axis::linear(""), marks: Vec::new() }
    }

    /// Sets the horizontal axis.
    pub fn x(mut self, axis: Axis) -> Self {
        self.x = axis;
        self
    }

    /// Sets the vertical axis.
    pub fn y(mut self, axis: Axis) -> Self {
        self.y = axis;
        self
    }

    fn mark(mut self, hue: Hue, label: impl Into<String>, shape: MarkShape) -> Self {
        self.marks.push(Mark { hue, label: label.into(), shape });
        self
    }

    fn stroke(
        self,
        hue: Hue,
        label: impl Into<String>,
        points: Points,
        dash: Dash,
        weight: f64,
    ) -> Self {
        self.mark(hue, label, MarkShape::Line { points, dash, weight })
    }

    /// Draws a line through points, interrupted where one is not finite. An empty label is left out
    /// of the legend.
    pub fn line(self, hue: Hue, label: impl Into<String>, points: Points) -> Self {
        self.stroke(hue, label, points, Dash::Solid, 1.8)
    }

    /// Draws a thin line, for one of many lines or a noisy one.
    pub fn thin(self, hue: Hue, label: impl Into<String>, points: Points) -> Self {
        self.stroke(hue, label, points, Dash::Solid, 0.8)
    }

    /// Draws a dashed line.
    pub fn dashed(self, hue: Hue, label: impl Into<String>, points: Points) -> Self {
        self.stroke(hue, label, points, Dash::Dashed, 1.6)
    }

    /// Draws a dotted line.
    pub fn dotted(self, hue: Hue, label: impl Into<String>, points: Points) -> Self {
        self.stroke(hue, label, points, Dash::Dotted, 1.8)
    }

    /// Draws the outline of a histogram from the centres of its bins and their heights.
    pub fn steps(self, hue: Hue, label: impl Into<String>, bins: &[(f64, f64)]) -> Self {
        let points = outline(bins);
        self.stroke(hue, label, points, Dash::Solid, 1.5)
    }

    /// Fills the area between a curve and zero.
    pub fn area(self, hue: Hue, label: impl Into<String>, points: Points) -> Self {
        self.mark(hue, label, MarkShape::Area(points))
    }

    /// Fills the band between (x, low) and (x, high).
    pub fn band(self, hue: Hue, label: impl Into<String>, points: Vec<(f64, f64, f64)>) -> Self {
        self.mark(hue, label, MarkShape::Band(points))
    }

    /// Draws dots whose shape depends on their colour.
    pub fn dots(self, hue: Hue, label: impl Into<String>, points: Points) -> Self {
        self.mark(hue, label, MarkShape::Dots(points))
    }

    /// Draws dots joined by a line.
    pub fn joined(self, hue: Hue, label: impl Into<String>, points: Points) -> Self {
        self.line(hue, "", points.clone()).dots(hue, label, points)
    }

    /// Draws means (x, mean, error) as dots joined by a line, with error bars where the error is
    /// finite.
    pub fn means(self, hue: Hue, label: &str, dashed: bool, means: &[(f64, f64, f64)]) -> Self {
        let known = means.iter().filter(|(.., error)| error.is_finite());
        let bars = known.map(|&(x, mean, error)| (x, mean - error, mean + error)).collect();
        let line: Points = means.iter().map(|&(x, mean, _)| (x, mean)).collect();
        let draw = if dashed { Self::dashed } else { Self::line };
        draw(self.error_bars(hue, bars), hue, label, line.clone()).dots(hue, "", line)
    }

    /// Draws error bars from (x, low) to (x, high).
    pub fn error_bars(self, hue: Hue, bars: Vec<(f64, f64, f64)>) -> Self {
        self.mark(hue, "", MarkShape::ErrorBars(bars))
    }

    /// Draws arrows from (x, y) to (x + dx, y + dy).
    pub fn arrows(
        self,
        hue: Hue,
        label: impl Into<String>,
        arrows: Vec<(f64, f64, f64, f64)>,
    ) -> Self {
        self.mark(hue, label, MarkShape::Arrows(arrows))
    }

    /// Draws a vertical rule with a text.
    pub fn vertical(self, x: f64, text: impl Into<String>) -> Self {
        self.mark(Hue::Muted, "", MarkShape::Vertical(x, text.into()))
    }

    /// Draws a horizontal rule with a text.
    pub fn horizontal(self, y: f64, text: impl Into<String>) -> Self {
        self.mark(Hue::Muted, "", MarkShape::Horizontal(y, text.into()))
    }

    pub(super) fn title(&self) -> &str {
        &self.title
    }

    pub(super) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Draws the panel into the rectangle from (0, 0) to (width, height). `id` must be unique on
    /// the page.
    pub(super) fn draw(&self, id: String, width: f64, height: f64) -> Vec<Element> {
        let x = self.x.fitted(self.marks.iter().flat_map(|mark| mark.shape.xs()));
        let y = self.y.fitted(self.marks.iter().flat_map(|mark| mark.shape.ys()));
        let (top, bottom) = (if self.title.is_empty() { 8.0 } else { 30.0 }, height - 42.0);
        let y_ticks = y.ticks((((bottom - top) / 42.0) as usize).max(4));
        let widest = y_ticks.iter().map(|(_, text)| label::width(text, 11.0)).fold(0.0, f64::max);
        let left = 10.0 + widest + if self.y.label().is_empty() { 6.0 } else { 22.0 };
        let frame = Frame { x, y, left, right: width - 10.0, top, bottom };

        let title = Text::new((left, 17.0), Anchor::Start, &self.title);
        let font = Font { hue: Hue::Ink, size: 13.0, bold: true };
        let mut elements = vec![Element::Texts(font, vec![title])];
        elements.extend(frame.axes(&y_ticks, self.x.label(), self.y.label()));
        elements.push(Element::Clipped {
            id,
            corner: (left, top),
            size: (frame.right - left, bottom - top),
            elements: self.marks.iter().filter_map(|mark| frame.mark(mark)).collect(),
        });
        let captions = self.marks.iter().filter_map(|mark| frame.caption(mark)).collect();
        elements.push(Element::Texts(Font::new(Hue::Muted, 10.5), captions));
        elements
    }
}

fn outline(bins: &[(f64, f64)]) -> Points {
    let [first, second, ..] = bins else { return bins.to_vec() };
    let half = 0.5 * (second.0 - first.0);
    let mut points = vec![(first.0 - half, 0.0)];
    points.extend(bins.iter().flat_map(|&(x, y)| [(x - half, y), (x + half, y)]));
    points.extend(bins.last().map(|&(x, _)| (x + half, 0.0)));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_are_steps() {
        assert_eq!(
            outline(&[(0.5, 2.0), (1.5, 1.0)]),
            [(0.0, 0.0), (0.0, 2.0), (1.0, 2.0), (1.0, 1.0), (2.0, 1.0), (2.0, 0.0)]
        );
    }
}
