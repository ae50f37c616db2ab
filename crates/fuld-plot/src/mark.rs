//! Marks: lines, areas, bands, dots, arrows and rules.

use super::hue::Hue;

/// A shape with its colour and label.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) hue: Hue,
    /// Empty if the legend does not list the mark.
    pub(super) label: String,
    pub(super) shape: MarkShape,
}

#[derive(Clone, Debug)]
pub(super) enum MarkShape {
    Line {
        points: Vec<(f64, f64)>,
        dash: Dash,
        weight: f64,
    },
    /// Filled down to zero.
    Area(Vec<(f64, f64)>),
    Band(Vec<(f64, f64, f64)>),
    Dots(Vec<(f64, f64)>),
    ErrorBars(Vec<(f64, f64, f64)>),
    Arrows(Vec<(f64, f64, f64, f64)>),
    /// A rule across the panel, with a text.
    Vertical(f64, String),
    Horizontal(f64, String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dash {
    Solid,
    Dashed,
    Dotted,
}

impl Dash {
    /// Returns the lengths of dashes and gaps in pixels.
    pub(super) fn pattern(self) -> &'static [f64] {
        match self {
            Self::Solid => &[],
            Self::Dashed => &[6.0, 4.0],
            Self::Dotted => &[1.5, 3.5],
        }
    }
}

impl MarkShape {
    /// Returns all values along the horizontal axis.
    pub(super) fn xs(&self) -> Vec<f64> {
        match self {
            Self::Line { points, .. } | Self::Area(points) | Self::Dots(points) => {
                points.iter().map(|p| p.0).collect()
            }
            Self::Band(points) | Self::ErrorBars(points) => points.iter().map(|p| p.0).collect(),
            Self::Arrows(arrows) => arrows.iter().flat_map(|&(x, _, dx, _)| [x, x + dx]).collect(),
            Self::Vertical(x, _) => vec![*x],
            Self::Horizontal(..) => Vec::new(),
        }
    }

    /// Returns all values along the vertical axis.
    pub(super) fn ys(&self) -> Vec<f64> {
        match self {
            Self::Line { points, .. } | Self::Dots(points) => points.iter().map(|p| p.1).collect(),
            Self::Area(points) => points.iter().map(|p| p.1).chain([0.0]).collect(),
            Self::Band(points) | Self::ErrorBars(points) => {
                points.iter().flat_map(|p| [p.1, p.2]).collect()
            }
            Self::Arrows(arrows) => arrows.iter().flat_map(|&(_, y, _, dy)| [y, y + dy]).collect(),
            Self::Horizontal(y, _) => vec![*y],
            Self::Vertical(..) => Vec::new(),
        }
    }
}
