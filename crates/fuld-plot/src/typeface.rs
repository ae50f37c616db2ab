//! Outlines of texts in DejaVu Sans, which has Greek and mathematics, the same on every machine.

use super::label;
use super::scene::{Anchor, Font, Text};
use std::io;
use tiny_skia::{Path, PathBuilder, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The regular and the bold font.
pub(super) struct Typeface {
    regular: Face<'static>,
    bold: Face<'static>,
}

impl Typeface {
    pub(super) fn new() -> io::Result<Self> {
        let face = |data| Face::parse(data, 0).map_err(io::Error::other);
        Ok(Self { regular: face(dejavu::sans::regular())?, bold: face(dejavu::sans::bold())? })
    }

    /// Returns the outline of a text at its position; `None` if it has no ink.
    pub(super) fn outline(&self, font: &Font, text: &Text) -> Option<Path> {
        let face = if font.bold { &self.bold } else { &self.regular };
        let mut pen = Pen { path: PathBuilder::new(), x: 0.0, y: 0.0, scale: 0.0 };
        for (height, piece) in label::pieces(&text.text) {
            pen.y = height.level() as f32;
            pen.scale = (font.size * height.size()) as f32 / f32::from(face.units_per_em());
            let mut last = None;
            for letter in piece.chars() {
                // Glyph 0 stands for letters that the font lacks.
                let glyph = face.glyph_index(letter).unwrap_or_default();
                let kerning = last.map_or(0, |last| kerning(face, last, glyph));
                pen.x += f32::from(kerning) * pen.scale;
                face.outline_glyph(glyph, &mut pen);
                pen.x += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * pen.scale;
                last = Some(glyph);
            }
        }
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * pen.x,
            Anchor::End => -pen.x,
        };
        let (x, y) = (text.at.0 as f32, text.at.1 as f32);
        let place = Transform::from_translate(x, y)
            .pre_rotate(if text.upwards { -90.0 } else { 0.0 })
            .pre_translate(back, 0.0);
        pen.path.finish()?.transform(place)
    }
}

/// Returns by how much two neighbours are moved apart, in units of the font.
fn kerning(face: &Face<'_>, left: GlyphId, right: GlyphId) -> i16 {
    let tables = face.tables().kern.into_iter().flat_map(|kern| kern.subtables);
    let mut pairs = tables.filter(|table| table.horizontal && !table.variable);
    pairs.find_map(|table| table.glyphs_kerning(left, right)).unwrap_or(0)
}

/// Appends outlines at a position. Fonts count heights upwards.
struct Pen {
    path: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + self.scale * x, self.y - self.scale * y)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) =
            (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
