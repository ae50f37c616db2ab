//! PNG images.
//!
//! Pixels come from `tiny-skia`. The file is written here: a format of four chunks, one of which
//! `flate2` compresses, is shorter than its share of another crate.

use super::hue::Hue;
use super::scene::{Element, Paint, Shape};
use super::typeface::Typeface;
use flate2::{Compression, Crc, write::ZlibEncoder};
use std::io::{self, Write};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash,
    Transform,
};

/// Draws elements on white and returns the image as a file, enlarged by `scale`.
pub(super) fn png(
    elements: &[Element],
    (width, height): (f64, f64),
    scale: f64,
) -> io::Result<Vec<u8>> {
    let mut pixels = Pixmap::new((scale * width) as u32, (scale * height) as u32)
        .ok_or_else(|| io::Error::other("the figure has no area"))?;
    pixels.fill(Color::WHITE);
    let mut picture = Picture { pixels, typeface: Typeface::new()? };
    picture.draw(elements, Transform::from_scale(scale as f32, scale as f32), None);
    encoded(&picture.pixels)
}

struct Picture {
    pixels: Pixmap,
    typeface: Typeface,
}

impl Picture {
    fn draw(&mut self, elements: &[Element], place: Transform, mask: Option<&Mask>) {
        for element in elements {
            match element {
                Element::Shapes(paint, shapes) => {
                    for path in shapes.iter().filter_map(path) {
                        self.paint(&path, paint, place, mask);
                    }
                }
                Element::Texts(font, texts) => {
                    let paint = Paint::fill(font.hue, 1.0);
                    for text in texts {
                        if let Some(path) = self.typeface.outline(font, text) {
                            self.paint(&path, &paint, place, mask);
                        }
                    }
                }
                Element::Moved((x, y), elements) => {
                    self.draw(elements, place.pre_translate(*x as f32, *y as f32), mask);
                }
                Element::Clipped { corner: (x, y), size: (w, h), elements, .. } => {
                    let mask = Mask::new(self.pixels.width(), self.pixels.height());
                    let rect = Rect::from_xywh(*x as f32, *y as f32, *w as f32, *h as f32);
                    // Without a rectangle nothing is visible.
                    if let (Some(mut mask), Some(rect)) = (mask, rect) {
                        let path = PathBuilder::from_rect(rect);
                        mask.fill_path(&path, FillRule::Winding, true, place);
                        self.draw(elements, place, Some(&mask));
                    }
                }
            }
        }
    }

    fn paint(&mut self, path: &Path, paint: &Paint, place: Transform, mask: Option<&Mask>) {
        let Paint { hue, opacity, stroke } = paint;
        let colour = colour(*hue, *opacity);
        match stroke {
            None => self.pixels.fill_path(path, &colour, FillRule::Winding, place, mask),
            Some(stroke) => {
                let dashes = stroke.dashes.iter().map(|&length| length as f32).collect();
                let stroke = Stroke {
                    width: stroke.width as f32,
                    line_cap: LineCap::Round,
                    line_join: LineJoin::Round,
                    dash: StrokeDash::new(dashes, 0.0),
                    ..Stroke::default()
                };
                self.pixels.stroke_path(path, &colour, &stroke, place, mask);
            }
        }
    }
}

fn colour(hue: Hue, opacity: f64) -> tiny_skia::Paint<'static> {
    let [red, green, blue] = hue.on_white();
    let mut paint = tiny_skia::Paint::default();
    paint.set_color_rgba8(red, green, blue, (255.0 * opacity).round() as u8);
    paint
}

fn path(shape: &Shape) -> Option<Path> {
    let mut path = PathBuilder::new();
    match shape {
        Shape::Path(points) => {
            let mut pen = false;
            for point in points {
                match point {
                    Some((x, y)) if pen => path.line_to(*x as f32, *y as f32),
                    Some((x, y)) => path.move_to(*x as f32, *y as f32),
                    None => {}
                }
                pen = point.is_some();
            }
        }
        Shape::Polygon(points) => {
            for (i, (x, y)) in points.iter().enumerate() {
                let to = if i > 0 { PathBuilder::line_to } else { PathBuilder::move_to };
                to(&mut path, *x as f32, *y as f32);
            }
            path.close();
        }
        Shape::Circle((x, y), radius) => path.push_circle(*x as f32, *y as f32, *radius as f32),
    }
    path.finish()
}

/// Returns the file of an opaque image.
fn encoded(pixels: &Pixmap) -> io::Result<Vec<u8>> {
    let (width, height) = (pixels.width(), pixels.height());
    let mut data = ZlibEncoder::new(Vec::new(), Compression::best());
    for row in pixels.pixels().chunks(width as usize) {
        // Rows are stored as they are: for flat colours no filter makes files smaller.
        data.write_all(&[0])?;
        let row: Vec<u8> = row.iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
        data.write_all(&row)?;
    }
    // 8 bits per channel, red, green and blue, without interlacing.
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, content) in [(b"IHDR", header), (b"IDAT", data.finish()?), (b"IEND", Vec::new())] {
        let mut sum = Crc::new();
        sum.update(kind);
        sum.update(&content);
        file.extend((content.len() as u32).to_be_bytes());
        file.extend(kind);
        file.extend(content);
        file.extend(sum.sum().to_be_bytes());
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::super::scene::{Anchor, Font, Text};
    use super::*;

    /// Draws elements on 100 by 100 pixels.
    fn drawn(elements: &[Element]) -> Vec<Vec<[u8; 3]>> {
        let file = png(elements, (100.0, 100.0), 1.0).unwrap();
        let mut reader = ::png::Decoder::new(io::Cursor::new(file)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut bytes).unwrap();
        bytes.chunks(300).map(|row| row.as_chunks().0.to_vec()).collect()
    }

    /// Returns the left, right, top and bottom of what is not white.
    fn bounds(pixels: &[Vec<[u8; 3]>]) -> [usize; 4] {
        let ink = |(y, row): (usize, &Vec<[u8; 3]>)| -> Vec<(usize, usize)> {
            (0..row.len()).filter(|&x| row[x] != [255; 3]).map(|x| (x, y)).collect()
        };
        let all: Vec<_> = pixels.iter().enumerate().flat_map(ink).collect();
        let (xs, ys) = (all.iter().map(|p| p.0), all.iter().map(|p| p.1));
        [xs.clone().min(), xs.max(), ys.clone().min(), ys.max()].map(Option::unwrap)
    }

    #[test]
    fn shapes_are_moved_clipped_and_mixed_with_what_is_below() {
        let square = |low, high| {
            let corners = vec![(low, low), (high, low), (high, high), (low, high)];
            vec![Shape::Polygon(corners)]
        };
        let elements = vec![
            Element::Shapes(Paint::fill(Hue::Blue, 1.0), square(0.0, 50.0)),
            Element::Shapes(Paint::fill(Hue::Orange, 0.2), square(0.0, 90.0)),
        ];
        let (id, corner, size) = (String::new(), (20.0, 10.0), (40.0, 60.0));
        let clipped = Element::Clipped { id, corner, size, elements };
        let pixels = drawn(&[Element::Moved((5.0, 0.0), vec![clipped])]);
        assert_eq!(bounds(&pixels), [25, 64, 10, 69]);
        let mixed = |below: [u8; 3]| {
            [0, 1, 2]
                .map(|i| 0.2 * f64::from(Hue::Orange.on_white()[i]) + 0.8 * f64::from(below[i]))
        };
        for (pixel, expected) in
            [(pixels[30][30], mixed(Hue::Blue.on_white())), (pixels[60][60], mixed([255; 3]))]
        {
            let near = (0..3).all(|i| (f64::from(pixel[i]) - expected[i]).abs() < 2.0);
            assert!(near, "{pixel:?} {expected:?}");
        }
    }

    #[test]
    fn dashed_lines_have_gaps() {
        let line = vec![Shape::segment((5.0, 50.5), (95.0, 50.5))];
        let dashes = |pattern| {
            let paint = Paint::dashed(Hue::Ink, 1.0, pattern);
            let row = drawn(&[Element::Shapes(paint, line.clone())])[50].clone();
            row.windows(2).filter(|pair| pair[0] == [255; 3] && pair[1] != [255; 3]).count()
        };
        assert_eq!(dashes(&[]), 1);
        assert_eq!(dashes(&[6.0, 4.0]), 9);
    }

    #[test]
    fn texts_are_where_their_anchors_say() {
        let bounds_of = |anchor, upwards, text: &str| {
            let text = Text { upwards, ..Text::new((50.0, 50.0), anchor, text) };
            bounds(&drawn(&[Element::Texts(Font::new(Hue::Ink, 12.0), vec![text])]))
        };
        // H is 9 pixels wide and as high; it has 1 pixel of space on either side.
        assert_eq!(bounds_of(Anchor::Start, false, "HHH"), [51, 75, 41, 49]);
        assert_eq!(bounds_of(Anchor::End, false, "HHH"), [24, 48, 41, 49]);
        assert_eq!(bounds_of(Anchor::Middle, true, "HHH"), [41, 49, 37, 62]);
        let [.., top, bottom] = bounds_of(Anchor::Start, false, "H^{2}_{α}");
        assert!(top < 41 && bottom > 50, "{top} {bottom}");
        // Pairs such as AV are closer than their letters alone.
        let right = |text| bounds_of(Anchor::Start, false, text)[1];
        assert!(right("AVAVAV") < right("AAAVVV"));
    }
}
