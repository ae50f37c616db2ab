//! PNG images from our SVG, with an embedded font so that they look the same on every machine.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::io;

/// Renders an SVG as PNG, enlarged by `scale`.
pub(super) fn render(svg: &str, scale: f32) -> io::Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let tree = Tree::from_str(svg, &options).map_err(io::Error::other)?;
    let size = tree.size();
    let mut picture = Pixmap::new((scale * size.width()) as u32, (scale * size.height()) as u32)
        .ok_or_else(|| io::Error::other("the figure has no area"))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    picture.encode_png().map_err(io::Error::other)
}
