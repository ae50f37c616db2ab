//! Figures: panels in rows with one shared legend, as SVG, as PNG, or inline in an HTML page.

use super::frame::dot;
use super::hue::Hue;
use super::label;
use super::mark::{Mark, MarkShape};
use super::panel::Panel;
use super::png;
use super::scene::{Anchor, Element, Font, Paint, Point, Shape, Text};
use super::svg::{ROOT, Theme, svg};
use std::io;

/// A figure of one or more panels.
#[derive(Clone, Debug)]
pub struct Figure {
    name: String,
    columns: usize,
    panel_height: f64,
    panels: Vec<Panel>,
}

/// Width of a figure in pixels.
const WIDTH: f64 = 760.0;
/// Height of a row of the legend in pixels.
const LEGEND_ROW: f64 = 20.0;

impl Figure {
    /// Creates a figure without panels. The name becomes the name of its files.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), columns: 2, panel_height: 280.0, panels: Vec::new() }
    }

    /// Sets the number of panels per row (default 2).
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns.max(1);
        self
    }

    /// Sets the height of each panel in pixels; the figure is 760 pixels wide.
    pub fn panel_height(mut self, height: f64) -> Self {
        self.panel_height = height;
        self
    }

    /// Adds a panel.
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Returns the name of the figure's files.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the titles of the panels in one line, for screen readers.
    pub fn description(&self) -> String {
        let titles: Vec<&str> =
            self.panels.iter().map(Panel::title).filter(|title| !title.is_empty()).collect();
        titles.join("; ").replace(['{', '}'], "")
    }

    fn columns_used(&self) -> usize {
        self.columns.min(self.panels.len()).max(1)
    }

    /// Returns the first mark of each label.
    fn legend(&self) -> Vec<&Mark> {
        let mut all: Vec<&Mark> = Vec::new();
        for mark in self.panels.iter().flat_map(Panel::marks).filter(|mark| !mark.label.is_empty())
        {
            if !all.iter().any(|other| other.label == mark.label) {
                all.push(mark);
            }
        }
        all
    }

    /// Returns the legend and the panels, and the height that they fill.
    fn scene(&self) -> (Vec<Element>, f64) {
        let columns = self.columns_used();
        let cell = WIDTH / columns as f64;
        let (mut scene, rows) = self.draw_legend();
        let head = 6.0 + rows as f64 * LEGEND_ROW;
        for (i, panel) in self.panels.iter().enumerate() {
            let (column, row) = ((i % columns) as f64, (i / columns) as f64);
            let offset = (column * cell, head + row * self.panel_height);
            let id = format!("{}-{i}", self.name);
            scene.push(Element::Moved(offset, panel.draw(id, cell, self.panel_height)));
        }
        (scene, head + self.panels.len().div_ceil(columns) as f64 * self.panel_height)
    }

    /// Returns the figure as one SVG image with a white background.
    pub fn svg(&self) -> String {
        let (scene, height) = self.scene();
        let description = label::escape(&self.description());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             {ROOT} role=\"img\">\n<title>{description}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
            svg(&scene, Theme::Paper)
        )
    }

    /// Returns the figure as HTML: one SVG per panel, so that panels stack on a phone, with colours
    /// that follow the page.
    pub fn inline(&self) -> String {
        let cell = WIDTH / self.columns_used() as f64;
        let entry = |mark: &&Mark| {
            let sample = svg(&[sample(mark, (0.0, 8.0))], Theme::Page);
            let text = label::html(&mark.label);
            format!(
                "<span><svg width=\"26\" height=\"16\" viewBox=\"0 0 26 16\" {ROOT} aria-hidden=\"true\">{sample}</svg>{text}</span>"
            )
        };
        let legend: String = self.legend().iter().map(entry).collect();
        let legend = if legend.is_empty() {
            legend
        } else {
            format!("<div class=\"legend\">{legend}</div>\n")
        };
        let panels: String = self
            .panels
            .iter()
            .enumerate()
            .map(|(i, panel)| self.inline_panel(i, panel, cell))
            .collect();
        format!("{legend}<div class=\"panels\" style=\"--cell:{cell:.0}px\">\n{panels}</div>\n")
    }

    fn inline_panel(&self, i: usize, panel: &Panel, cell: f64) -> String {
        let scene = panel.draw(format!("{}-{i}", self.name), cell, self.panel_height);
        let (title, height) = (label::escape(panel.title()), self.panel_height);
        format!(
            "<svg viewBox=\"0 0 {cell:.1} {height}\" {ROOT} role=\"img\" aria-label=\"{title}\">\n{}</svg>\n",
            svg(&scene, Theme::Page)
        )
    }

    /// Returns the figure as PNG, at twice the resolution of the SVG.
    pub fn png(&self) -> io::Result<Vec<u8>> {
        let (scene, height) = self.scene();
        png::png(&scene, (WIDTH, height), 2.0)
    }

    /// Returns the figure's files, NAME.svg and NAME.png, with their contents.
    pub fn files(&self) -> io::Result<[(String, Vec<u8>); 2]> {
        let file = |extension: &str| format!("{}.{extension}", self.name);
        Ok([(file("svg"), self.svg().into_bytes()), (file("png"), self.png()?)])
    }

    /// Returns the legend at the top and its number of rows.
    fn draw_legend(&self) -> (Vec<Element>, usize) {
        let legend = self.legend();
        let (mut x, mut row) = (14.0, 0);
        let (mut elements, mut texts) = (Vec::new(), Vec::new());
        for mark in &legend {
            let wide = 46.0 + label::width(&mark.label, 12.0);
            if x + wide > WIDTH && x > 14.0 {
                (x, row) = (14.0, row + 1);
            }
            let y = 14.0 + row as f64 * LEGEND_ROW;
            elements.push(sample(mark, (x, y)));
            texts.push(Text::new((x + 31.0, y + 4.0), Anchor::Start, &mark.label));
            x += wide;
        }
        if legend.is_empty() {
            return (elements, 0);
        }
        elements.push(Element::Texts(Font::new(Hue::Ink, 12.0), texts));
        (elements, row + 1)
    }
}

/// Returns a small sample of a mark for the legend.
fn sample(mark: &Mark, (x, y): Point) -> Element {
    let (hue, end) = (mark.hue, x + 26.0);
    let (paint, shape) = match &mark.shape {
        MarkShape::Line { dash, weight, .. } => {
            (Paint::dashed(hue, weight.max(1.5), dash.pattern()), Shape::segment((x, y), (end, y)))
        }
        MarkShape::Area(_) | MarkShape::Band(_) => {
            let corners = [(x, y - 5.0), (end, y - 5.0), (end, y + 5.0), (x, y + 5.0)];
            (Paint::fill(hue, 0.3), Shape::Polygon(corners.to_vec()))
        }
        MarkShape::Dots(_) => (Paint::fill(hue, 1.0), dot(hue, (x + 13.0, y))),
        _ => {
            let head = [(end - 5.0, y - 3.0), (end, y), (end - 5.0, y + 3.0)].map(Some);
            let path = [Some((x, y)), Some((end, y)), None].into_iter().chain(head).collect();
            (Paint::stroke(hue, 1.3), Shape::Path(path))
        }
    };
    Element::Shapes(paint, vec![shape])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Axis;

    fn figure() -> Figure {
        let line: Vec<(f64, f64)> =
            (0..100).map(|i| f64::from(i) / 10.0).map(|x| (x, (-x).exp())).collect();
        let panel = Panel::new("e^{−x} & more")
            .x(Axis::linear("x"))
            .y(Axis::log("density"))
            .area(Hue::Sky, "filled", line.clone())
            .line(Hue::alpha(1.5), "α = 1.5", line.clone())
            .dots(Hue::Vermillion, "dots", line.into_iter().step_by(10).collect())
            .vertical(2.0, "here");
        Figure::new("test").panel(panel.clone()).panel(panel)
    }

    #[test]
    fn svg_is_well_formed_and_complete() {
        let svg = figure().svg();
        let tree = roxmltree::Document::parse(&svg).expect("well-formed");
        let texts: Vec<String> = tree
            .descendants()
            .filter(|node| node.has_tag_name("text"))
            .map(|node| {
                node.descendants().filter_map(|n| n.is_text().then(|| n.text()).flatten()).collect()
            })
            .collect();
        // The label is in both panels but once in the legend.
        assert_eq!(texts.iter().filter(|text| *text == "α = 1.5").count(), 1, "{texts:?}");
        assert_eq!(texts.iter().filter(|text| *text == "e−x & more").count(), 2, "{texts:?}");
    }

    #[test]
    fn png_has_ink_on_it() {
        let png = figure().png().unwrap();
        let mut reader = ::png::Decoder::new(io::Cursor::new(png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(reader.info().width, 1520);
        let dark = pixels.chunks(3).filter(|p| p[0] < 60 && p[1] < 60 && p[2] < 80).count();
        // Most dark pixels are text: without a font almost none would be left.
        assert!(dark > 2_000, "{dark}");
    }

    #[test]
    fn inline_panels_follow_the_page() {
        let html = figure().inline();
        assert_eq!(html.matches("<svg viewBox").count(), 2);
        assert!(html.contains("light-dark(#b12a90,#f06fb4)"));
    }
}
