//! ∇G_α evaluated from the serialised tables, of one α and of bands of α, compared with the law
//! itself.
//!
//! The evaluation here follows only the description of the format, like that on another device.

use levy_stable::SymmetricStable;
use levy_stable::table::{TableAlpha, TableData, TableError};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns the middle of a band in (2 − α)/α, and its width in log₂((2 − α)/α).
fn middle_and_width([from, to]: [f64; 2]) -> (f64, f64) {
    ((0.5 * (from + to)).exp2(), to - from)
}

/// Evaluates the table of one α in one precision.
macro_rules! evaluated {
    ($name:ident, $float:ty, $bits:ty, $mantissa_bits:literal, $bias:literal) => {
        fn $name(table: &TableData, alpha: $float) -> impl Fn($float) -> $float {
            let a = match table.alpha {
                TableAlpha::Value(_) => 0.0,
                TableAlpha::Band { log_ratio: [from, to] } => {
                    let (middle, width) = middle_and_width([from, to]);
                    ((2.0 - alpha) / alpha / middle as $float).log2() / width as $float
                }
            };
            let horner =
                |c: &mut dyn Iterator<Item = $float>, x: $float| c.fold(0.0, |p, c| p * x + c);
            let pieces: Vec<Vec<$float>> = table
                .coefficients
                .chunks(table.alpha_terms * table.terms)
                .map(|c| {
                    let rows: Vec<&[f64]> = c.chunks(table.terms).collect();
                    let in_alpha =
                        |j| horner(&mut rows.iter().rev().map(|row| row[j] as $float), a);
                    (0..table.terms).map(in_alpha).collect()
                })
                .collect();
            let (lowest, octaves, near) =
                (table.lowest, table.octaves.clone(), table.near_octaves as usize);
            move |v| {
                let (size, shift) = (v.abs(), f64::from(lowest).exp2() as $float);
                let u = (size + shift).max(2.0 * size);
                let octave = (u.to_bits() >> $mantissa_bits) as i32 - $bias - lowest;
                let octave = (octave as usize).min(octaves.len() - 1);
                let [first, split] = octaves[octave];
                const ONE: $bits = 1 << $mantissa_bits;
                let within = (u.to_bits() & (ONE - 1)) << split;
                let piece = &pieces[first as usize + (within >> $mantissa_bits) as usize];
                let t = (within & (ONE - 1)) as $float / ONE as $float - 0.5;
                let held = horner(&mut piece.iter().rev().copied(), t);
                if octave >= near { held / v } else { held * v }
            }
        }
    };
}

evaluated!(double, f64, u64, 52, 1023);
evaluated!(single, f32, u32, 23, 127);

#[test]
fn tables_of_one_alpha_give_the_field() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut worst = [0.0f64; 2];
    for _ in 0..40 {
        let alpha = 0.1 + 1.9 * uniform(&mut rng);
        let law = SymmetricStable::kinetic(alpha).unwrap();
        let tables = [TableData::single(alpha).unwrap(), TableData::double(alpha).unwrap()];
        assert_eq!((tables[0].terms, tables[1].terms), (4, 8));
        let (single, double) = (single(&tables[0], alpha as f32), double(&tables[1], alpha));
        for _ in 0..500 {
            let v = f64::from((120.0 * uniform(&mut rng) - 60.0).exp2() as f32);
            let exact = -law.score(v);
            for (worst, ours) in worst.iter_mut().zip([f64::from(single(v as f32)), double(v)]) {
                *worst = worst.max((ours / exact - 1.0).abs());
            }
        }
    }
    assert!(worst[0] < 3e-7 && worst[1] < 1e-12, "{worst:?}");
    for alpha in [0.0999, 2.1, f64::NAN] {
        assert!(TableData::single(alpha).is_err() && TableData::double(alpha).is_err());
    }
    let straight = TableData::single(2.0).unwrap();
    assert_eq!(single(&straight, 2.0)(-3.25), -3.25);
    assert_eq!((straight.switch(), straight.pieces()), (None, 1));
}

#[test]
fn a_band_that_does_not_exist_is_an_error() {
    let error = TableData::band(TableData::BANDS).unwrap_err();
    assert_eq!(error, TableError::Band { number: 32, last: 31 });
    assert_eq!(error.to_string(), "bands are numbered from 0 to 31, got 32");
}

#[cfg(feature = "serde")]
#[test]
fn bands_are_stored_in_the_same_format() {
    let band = TableData::band(20).unwrap();
    let text = serde_json::to_string(&band).unwrap();
    assert_eq!(serde_json::from_str::<TableData>(&text).unwrap(), band);
    let mut damaged = serde_json::to_value(&band).unwrap();
    damaged["alpha"]["band"]["log_ratio"] = serde_json::json!([1.0, 1.0]);
    let error = serde_json::from_value::<TableData>(damaged).unwrap_err().to_string();
    assert!(error.contains("band of alpha is empty"), "{error}");
}

fn log_ratio(band: &TableData) -> [f64; 2] {
    let TableAlpha::Band { log_ratio } = band.alpha else { panic!("a band, not {:?}", band.alpha) };
    log_ratio
}

#[test]
fn bands_lie_end_to_end_from_two_to_a_tenth() {
    let bands = [0, 1, TableData::BANDS - 2, TableData::BANDS - 1];
    let ends = bands.map(|number| log_ratio(&TableData::band(number).unwrap()));
    let alpha = |s: f64| 2.0 / (1.0 + s.exp2());
    assert!(alpha(ends[0][0]) >= 2.0 - 2f64.powi(-30));
    assert_eq!(ends[0][1], ends[1][0]);
    assert_eq!(ends[2][1], ends[3][0]);
    assert!(alpha(ends[3][1]) < 0.1);
    for band in ends {
        let (middle, width) = middle_and_width(band);
        let [from, to] = band.map(f64::exp2);
        assert!((from.log2() + 0.5 * width - middle.log2()).abs() < 1e-14);
        assert!(((to / from).log2() - width).abs() < 1e-14);
    }
}

#[test]
fn bands_give_the_field_for_every_alpha_and_v() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    for number in 0..TableData::BANDS {
        let band = TableData::band(number).unwrap();
        let [from, to] = log_ratio(&band);
        for i in 0..12 {
            // Both ends, and random points between.
            let s = match i {
                0 => from,
                1 => to,
                _ => from + (to - from) * uniform(&mut rng),
            };
            // The same α in both precisions, except for rounding near 2.
            let alpha = 2.0 / (1.0 + s.exp2());
            let coarse = f64::from(alpha as f32);
            let alpha = if s > -22.0 && coarse >= 0.1 { coarse } else { alpha };
            let law = SymmetricStable::kinetic(alpha).unwrap();
            let double = double(&band, alpha);
            let single = (s > -22.0).then(|| single(&band, alpha as f32));
            for j in 0..1500 {
                let v = match j % 3 {
                    0 => 10f64.powf(2.0 * (2.0 * uniform(&mut rng) - 1.0)),
                    1 => 12.0 * uniform(&mut rng),
                    _ => 10f64.powf(18.5 * (2.0 * uniform(&mut rng) - 1.0)).powi(2),
                };
                let v = f64::from(v as f32);
                let exact = -law.score(v);
                let error = (double(v) / exact - 1.0).abs();
                let usual = (0.12..=2.0 - 2f64.powi(-23)).contains(&alpha);
                assert!(
                    error < if usual { 1e-8 } else { 2e-7 },
                    "alpha = {alpha}, v = {v}: {error:.1e}"
                );
                if let Some(single) = &single {
                    let error = (f64::from(single(v as f32)) / exact - 1.0).abs();
                    let bound = if alpha >= 0.3 { 1e-6 } else { 3e-6 };
                    assert!(
                        error < bound,
                        "alpha = {alpha}, v = {v}: {error:.1e} in single precision"
                    );
                }
            }
        }
    }
}

#[test]
fn the_bands_are_small() {
    let numbers: usize = (0..TableData::BANDS)
        .map(|number| TableData::band(number).unwrap().coefficients.len())
        .sum();
    // 1.2 MB of singles.
    assert!(numbers < 300_000, "{numbers}");
}
