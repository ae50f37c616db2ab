//! The description of a figure: what the writers of SVG and PNG draw, in pixels.

use super::hue::Hue;

/// Distances from the left and from the top in pixels.
pub(super) type Point = (f64, f64);

/// A part of a figure.
#[derive(Clone, Debug)]
pub(super) enum Element {
    /// Shapes that are painted alike.
    Shapes(Paint, Vec<Shape>),
    /// Texts in one font.
    Texts(Font, Vec<Text>),
    /// Elements moved by an offset.
    Moved(Point, Vec<Element>),
    /// Elements drawn only within a rectangle. The identifier is unique on a page.
    Clipped { id: String, corner: Point, size: (f64, f64), elements: Vec<Element> },
}

/// Stroke or fill of a shape. The ends and joins of strokes are round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    pub(super) hue: Hue,
    pub(super) opacity: f64,
    /// `None` fills the shape.
    pub(super) stroke: Option<Stroke>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke {
    pub(super) width: f64,
    /// Lengths of dashes and gaps, empty for a solid line.
    pub(super) dashes: &'static [f64],
}

impl Paint {
    pub(super) fn fill(hue: Hue, opacity: f64) -> Self {
        Self { hue, opacity, stroke: None }
    }

    pub(super) fn stroke(hue: Hue, width: f64) -> Self {
        Self::dashed(hue, width, &[])
    }

    pub(super) fn dashed(hue: Hue, width: f64, dashes: &'static [f64]) -> Self {
        Self { hue, opacity: 1.0, stroke: Some(Stroke { width, dashes }) }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// A line through points, interrupted at `None`.
    Path(Vec<Option<Point>>),
    /// A closed line through points.
    Polygon(Vec<Point>),
    /// A circle with a centre and a radius.
    Circle(Point, f64),
}

impl Shape {
    pub(super) fn segment(from: Point, to: Point) -> Self {
        Self::Path(vec![Some(from), Some(to)])
    }
}

/// Colour, size and weight of texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Font {
    pub(super) hue: Hue,
    pub(super) size: f64,
    pub(super) bold: bool,
}

impl Font {
    pub(super) fn new(hue: Hue, size: f64) -> Self {
        Self { hue, size, bold: false }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Text {
    /// The position of the anchor on the baseline.
    pub(super) at: Point,
    pub(super) anchor: Anchor,
    /// Whether the text reads upwards.
    pub(super) upwards: bool,
    /// The text, in the notation of [`label`](super::label).
    pub(super) text: String,
}

impl Text {
    pub(super) fn new(at: Point, anchor: Anchor, text: &str) -> Self {
        Self { at, anchor, upwards: false, text: text.to_owned() }
    }
}

/// The part of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}
