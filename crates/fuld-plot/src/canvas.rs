//! SVG elements, for a stand-alone file or for an HTML page.

use super::hue::Hue;
use super::label;
use std::fmt::Write;

/// Where a figure is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    /// A file with a white background.
    Paper,
    /// An HTML page that follows the reader's light or dark setting.
    Page,
}

/// Horizontal alignment of a text at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// SVG under construction.
pub(super) struct Canvas {
    pub(super) out: String,
    theme: Theme,
}

/// System fonts first; the PNG renderer has only DejaVu Sans.
pub(super) const FONT: &str =
    "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif";

impl Canvas {
    pub(super) fn new(theme: Theme) -> Self {
        Self { out: String::new(), theme }
    }

    /// Returns attributes for stroke and fill; `None` draws nothing.
    pub(super) fn colours(&self, stroke: Option<Hue>, fill: Option<Hue>) -> String {
        let one = |what: &str, hue: Option<Hue>| match (hue, self.theme) {
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
        if self.theme == Theme::Page { format!(" style=\"{both}\"") } else { both }
    }

    pub(super) fn raw(&mut self, element: &str) {
        self.out += element;
        self.out.push('\n');
    }

    pub(super) fn open_group(&mut self, attributes: &str) {
        let _ = writeln!(self.out, "<g{attributes}>");
    }

    pub(super) fn close_group(&mut self) {
        self.raw("</g>");
    }

    pub(super) fn segment(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let _ = writeln!(self.out, "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\"/>");
    }

    /// Draws a path through points, interrupted at `None`.
    pub(super) fn path(&mut self, points: &[Option<(f64, f64)>], closed: bool) {
        let mut d = String::new();
        let mut pen = false;
        for point in points {
            if let Some((x, y)) = point {
                let _ = write!(d, "{}{x:.2} {y:.2}", if pen { 'L' } else { 'M' });
            }
            pen = point.is_some();
        }
        if !d.is_empty() {
            let _ = writeln!(self.out, "<path d=\"{d}{}\"/>", if closed { "Z" } else { "" });
        }
    }

    pub(super) fn text(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        attributes: &str,
        text: &str,
    ) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = label::svg(text);
        let _ = writeln!(
            self.out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{attributes}>{text}</text>"
        );
    }
}
