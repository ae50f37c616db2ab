//! Figures with panels of lines, bands, dots and arrows, as SVG, as PNG, and inline in an HTML
//! page.
//!
//! The crate draws its own figures: they must follow a page's light or dark colours, stack on a
//! phone, and give the same bytes on every machine, which no plotting crate offers together. A
//! figure is laid out once, as a scene, which one module writes as SVG and another draws as PNG.
//!
//! ```
//! use fuld_plot::{Axis, Figure, Hue, Panel};
//! let parabola: Vec<(f64, f64)> = (0..50).map(|i| f64::from(i) / 10.0).map(|x| (x, x * x)).collect();
//! let panel = Panel::new("a parabola").x(Axis::linear("x")).y(Axis::linear("x^{2}")).line(Hue::Blue, "x^{2}", parabola);
//! let svg = Figure::new("parabola").panel(panel).svg();
//! assert!(svg.starts_with("<svg") && svg.contains("a parabola"));
//! ```

mod axis;
mod figure;
mod frame;
mod hue;
mod label;
mod mark;
pub mod page;
mod panel;
mod png;
mod scene;
mod svg;
mod typeface;

pub use axis::Axis;
pub use figure::Figure;
pub use hue::Hue;
pub use label::escape;
pub use panel::Panel;
