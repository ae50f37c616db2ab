//! Colours that colour-blind readers can distinguish, on white and on black.

/// The colour of a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hue {
    /// The colour of text.
    Ink,
    /// Grey, for grid lines and rules.
    Muted,
    /// Blue; corrected dynamics in our figures.
    Blue,
    /// Vermillion; uncorrected dynamics in our figures.
    Vermillion,
    /// Green.
    Green,
    /// Purple.
    Purple,
    /// Orange.
    Orange,
    /// Sky blue.
    Sky,
    /// The colour of a tail index, the same in every figure.
    Alpha(f64),
}

/// Colours by tail index, on white and on black. Both hue and lightness change, so that either
/// distinguishes them.
const TAILS: [(f64, [u8; 3], [u8; 3]); 8] = [
    (0.0, [0xc9, 0xa0, 0x0c], [0xff, 0xee, 0xa0]),
    (0.5, [0xd0, 0x98, 0x10], [0xff, 0xe2, 0x7a]),
    (1.0, [0xe8, 0x74, 0x3b], [0xff, 0xab, 0x5c]),
    (1.2, [0xd8, 0x57, 0x6b], [0xff, 0x8a, 0x7a]),
    (1.5, [0xb1, 0x2a, 0x90], [0xf0, 0x6f, 0xb4]),
    (1.75, [0x7f, 0x1f, 0xa8], [0xd8, 0x77, 0xe8]),
    (1.9, [0x43, 0x1c, 0xa8], [0xb5, 0x90, 0xff]),
    (2.0, [0x14, 0x1c, 0x78], [0x9a, 0xb4, 0xff]),
];

impl Hue {
    /// Returns the colour of a tail index.
    pub fn alpha(alpha: f64) -> Self {
        Self::Alpha(alpha)
    }

    /// Returns the colour on white.
    pub(super) fn light(self) -> String {
        hex(self.on_white())
    }

    /// Returns the colour on black.
    pub(super) fn dark(self) -> String {
        hex(self.colours().1)
    }

    /// Returns red, green and blue on white.
    pub(super) fn on_white(self) -> [u8; 3] {
        self.colours().0
    }

    fn colours(self) -> ([u8; 3], [u8; 3]) {
        match self {
            Self::Ink => ([0x1b, 0x1f, 0x27], [0xe6, 0xe8, 0xec]),
            Self::Muted => ([0x84, 0x8c, 0x9a], [0x88, 0x90, 0x9e]),
            Self::Blue => ([0x00, 0x72, 0xb2], [0x5a, 0xb4, 0xf0]),
            Self::Vermillion => ([0xd5, 0x5e, 0x00], [0xff, 0x8a, 0x4c]),
            Self::Green => ([0x00, 0x9e, 0x73], [0x3f, 0xd0, 0xa4]),
            Self::Purple => ([0xcc, 0x79, 0xa7], [0xe3, 0x9c, 0xc4]),
            Self::Orange => ([0xe6, 0x9f, 0x00], [0xf5, 0xb8, 0x3d]),
            Self::Sky => ([0x56, 0xb4, 0xe9], [0x8f, 0xd0, 0xf5]),
            Self::Alpha(alpha) => of_tail(alpha),
        }
    }
}

fn of_tail(alpha: f64) -> ([u8; 3], [u8; 3]) {
    let alpha = alpha.clamp(0.0, 2.0);
    let above = TAILS.iter().position(|&(at, ..)| alpha <= at).unwrap_or(TAILS.len() - 1).max(1);
    let ((low, a, dark_a), (high, b, dark_b)) = (TAILS[above - 1], TAILS[above]);
    let t = (alpha - low) / (high - low);
    let mix = |a: [u8; 3], b: [u8; 3]| {
        std::array::from_fn(|i| (f64::from(a[i]) * (1.0 - t) + f64::from(b[i]) * t).round() as u8)
    };
    (mix(a, b), mix(dark_a, dark_b))
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_have_fixed_colours() {
        assert_eq!(Hue::alpha(2.0).light(), "#141c78");
        assert_eq!(Hue::alpha(1.0).light(), "#e8743b");
        assert_ne!(Hue::alpha(1.7).light(), Hue::alpha(1.75).light());
    }

    /// Lightness must decrease from heavy tails to light ones.
    #[test]
    fn lightness_orders_tails() {
        let luminance = |c: [u8; 3]| {
            0.2126 * f64::from(c[0]) + 0.7152 * f64::from(c[1]) + 0.0722 * f64::from(c[2])
        };
        let all: Vec<f64> = (5..=20).map(|i| luminance(of_tail(f64::from(i) / 10.0).0)).collect();
        assert!(all.windows(2).all(|pair| pair[0] > pair[1]), "{all:?}");
    }
}
