//! SVG elements, for a stand-alone file or for an HTML page.

use super::hue::Hue;
use super::label;
use super::scene::{Anchor, Element, Font, Paint, Point, Shape, Text};
use std::fmt::Write;

/// Where a figure is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    /// A file with a white background.
    Paper,
    /// An HTML page that follows the reader's light or dark setting.
    Page,
}

/// Attributes of every `svg` element. System fonts come first; a PNG has DejaVu Sans.
pub(super) const ROOT: &str = "font-family=\"system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', \
    'DejaVu Sans', sans-serif\" stroke-linejoin=\"round\" stroke-linecap=\"round\"";

/// Returns the elements as SVG.
pub(super) fn svg(elements: &[Element], theme: Theme) -> String {
    elements.iter().map(|element| self::element(element, theme)).collect()
}

fn element(element: &Element, theme: Theme) -> String {
    match element {
        Element::Shapes(paint, shapes) => {
            let shapes: String = shapes.iter().map(shape).collect();
            format!("<g{}>\n{shapes}</g>\n", self::paint(paint, theme))
        }
        Element::Texts(font, texts) => {
            let texts: String =
                texts.iter().filter(|text| !text.text.is_empty()).map(text).collect();
            if texts.is_empty() {
                return texts;
            }
            let Font { hue, size, bold } = *font;
            let weight = if bold { " font-weight=\"600\"" } else { "" };
            let colours = colours(None, Some(hue), theme);
            format!("<g{colours} font-size=\"{size}\"{weight}>\n{texts}</g>\n")
        }
        Element::Moved(by, elements) => {
            format!("<g transform=\"translate({})\">\n{}</g>\n", pair(*by), svg(elements, theme))
        }
        Element::Clipped { id, corner, size, elements } => {
            let (x, y, w, h) = (short(corner.0), short(corner.1), short(size.0), short(size.1));
            format!(
                "<clipPath id=\"{id}\"><rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/></clipPath>\n\
                 <g clip-path=\"url(#{id})\">\n{}</g>\n",
                svg(elements, theme)
            )
        }
    }
}

fn paint(paint: &Paint, theme: Theme) -> String {
    let Paint { hue, opacity, stroke } = *paint;
    let (what, mut out) = match stroke {
        Some(_) => ("stroke", colours(Some(hue), None, theme)),
        None => ("fill", colours(None, Some(hue), theme)),
    };
    if opacity < 1.0 {
        let _ = write!(out, " {what}-opacity=\"{opacity}\"");
    }
    if let Some(stroke) = stroke {
        let _ = write!(out, " stroke-width=\"{}\"", stroke.width);
        if !stroke.dashes.is_empty() {
            let dashes: Vec<String> = stroke.dashes.iter().map(f64::to_string).collect();
            let _ = write!(out, " stroke-dasharray=\"{}\"", dashes.join(" "));
        }
    }
    out
}

/// Returns attributes for stroke and fill; `None` draws nothing.
fn colours(stroke: Option<Hue>, fill: Option<Hue>, theme: Theme) -> String {
    let one = |what: &str, hue: Option<Hue>| match (hue, theme) {
        (None, Theme::Paper) => format!(" {what}=\"none\""),
        (None, Theme::Page) => format!("{what}:none;"),
        (Some(hue), Theme::Paper) => format!(" {what}=\"{}\"", hue.light()),
        // Browsers without light-dark() keep the first declaration.
        (Some(hue), Theme::Page) => {
            let (light, dark) = (hue.light(), hue.dark());
            format!("{what}:{light};{what}:light-dark({light},{dark});")
        }
    };
    let both = one("stroke", stroke) + &one("fill", fill);
    if theme == Theme::Page { format!(" style=\"{both}\"") } else { both }
}

fn shape(shape: &Shape) -> String {
    let mut d = String::new();
    match shape {
        Shape::Path(points) => {
            let mut pen = false;
            for point in points {
                if let Some(point) = point {
                    let _ = write!(d, "{}{}", if pen { 'L' } else { 'M' }, pair(*point));
                }
                pen = point.is_some();
            }
        }
        Shape::Polygon(points) => {
            for (i, point) in points.iter().enumerate() {
                let _ = write!(d, "{}{}", if i > 0 { 'L' } else { 'M' }, pair(*point));
            }
            d.push('Z');
        }
        Shape::Circle((x, y), radius) => {
            let (x, y) = (short(*x), short(*y));
            return format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>\n");
        }
    }
    format!("<path d=\"{d}\"/>\n")
}

fn text(text: &Text) -> String {
    let Text { at, anchor, upwards, text } = text;
    let (x, y) = (short(at.0), short(at.1));
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let turn = if *upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    format!("<text x=\"{x}\" y=\"{y}\"{anchor}{turn}>{}</text>\n", label::svg(text))
}

fn pair((x, y): Point) -> String {
    format!("{} {}", short(x), short(y))
}

/// Rounds to hundredths of a pixel. Adding zero removes the sign of -0.
fn short(x: f64) -> f64 {
    (100.0 * x).round() / 100.0 + 0.0
}
