//! Elements of SVG, for paper or for a page.

use super::hue::Hue;
use super::label;
use std::fmt::Write;

/// Where a figure will be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    /// White, with nothing around it.
    Paper,
    /// A page of ours, light or dark as its reader likes.
    Page,
}

/// How a text stands at its place.
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

/// System fonts first; where pictures become PNG there is only the last.
pub(super) const FONT: &str = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif";

impl Canvas {
    pub(super) fn new(theme: Theme) -> Self {
        Self { out: String::new(), theme }
    }

    /// Attributes that colour an element's lines and its inside; what is not coloured is not there.
    pub(super) fn colours(&self, stroke: Option<Hue>, fill: Option<Hue>) -> String {
        let one = |what: &str, hue: Option<Hue>| match (hue, self.theme) {
            (None, Theme::Paper) => format!(" {what}=\"none\""),
            (None, Theme::Page) => format!("{what}:none;"),
            (Some(hue), Theme::Paper) => format!(" {what}=\"{}\"", hue.light()),
            // Browsers that do not know the second declaration keep the first.
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

    /// A path through points, which parts at those that are missing.
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

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, attributes: &str, text: &str) {
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
