//! Text with subscripts and superscripts: `∇G_{α}`, `10^{-3}`.

use std::fmt::Write;

/// The vertical position of a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Height {
    Line,
    Below,
    Above,
}

impl Height {
    /// Returns the pixels by which the part is below the line.
    pub(super) fn level(self) -> f64 {
        match self {
            Self::Line => 0.0,
            Self::Below => 3.0,
            Self::Above => -4.5,
        }
    }

    /// Returns the size of the part relative to the text.
    pub(super) fn size(self) -> f64 {
        if self == Self::Line { 1.0 } else { 0.75 }
    }
}

/// Splits a text into parts of one height.
pub(super) fn pieces(text: &str) -> Vec<(Height, &str)> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(at) = [rest.find("_{"), rest.find("^{")].into_iter().flatten().min() {
        let Some(end) = rest[at..].find('}') else { break };
        let height = if rest[at..].starts_with('_') { Height::Below } else { Height::Above };
        all.extend([(Height::Line, &rest[..at]), (height, &rest[at + 2..at + end])]);
        rest = &rest[at + end + 1..];
    }
    all.push((Height::Line, rest));
    all.retain(|(_, piece)| !piece.is_empty());
    all
}

/// Returns the content of an SVG `text` element.
pub(super) fn svg(text: &str) -> String {
    let mut out = String::new();
    let mut sunk = 0.0;
    for (height, piece) in pieces(text) {
        let (shift, piece) = (height.level() - sunk, escape(piece));
        let _ = match height {
            Height::Line if shift == 0.0 => write!(out, "{piece}"),
            Height::Line => write!(out, "<tspan dy=\"{shift}\">{piece}</tspan>"),
            _ => {
                let percent = 100.0 * height.size();
                write!(out, "<tspan dy=\"{shift}\" font-size=\"{percent}%\">{piece}</tspan>")
            }
        };
        sunk = height.level();
    }
    out
}

/// Returns the text as HTML.
pub(super) fn html(text: &str) -> String {
    let piece = |(height, piece): (Height, &str)| match height {
        Height::Line => escape(piece),
        Height::Below => format!("<sub>{}</sub>", escape(piece)),
        Height::Above => format!("<sup>{}</sup>", escape(piece)),
    };
    pieces(text).into_iter().map(piece).collect()
}

/// Returns the approximate width of a text in a font of this size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let wide = |(height, piece): (Height, &str)| {
        height.size()
            * piece
                .chars()
                .map(|c| if " .,:;il|'()ft".contains(c) { 0.36 } else { 0.6 })
                .sum::<f64>()
    };
    size * pieces(text).into_iter().map(wide).sum::<f64>()
}

/// Escapes the characters that have a meaning in XML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_raised_and_lowered() {
        assert_eq!(svg("a<b"), "a&lt;b");
        assert_eq!(html("∇G_{α}(v) = 10^{-3}"), "∇G<sub>α</sub>(v) = 10<sup>-3</sup>");
        assert_eq!(svg("x^{2}"), "x<tspan dy=\"-4.5\" font-size=\"75%\">2</tspan>");
        assert_eq!(
            svg("G_{α} v"),
            "G<tspan dy=\"3\" font-size=\"75%\">α</tspan><tspan dy=\"-3\"> v</tspan>"
        );
        // An unclosed brace is plain text.
        assert_eq!(html("x_{1"), "x_{1");
    }
}
