//! ∇G_α from the table in α and v against the law itself.

use levy_stable::{AlphaBand, SymmetricStable};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// The table of one α, by nothing but the description, in one precision.
macro_rules! contracted {
    ($name:ident, $float:ty, $bits:ty, $mantissa_bits:literal, $bias:literal) => {
        fn $name(band: &AlphaBand, alpha: $float) -> impl Fn($float) -> $float {
            let a = ((2.0 - alpha) / alpha / band.middle as $float).log2() / band.width as $float;
            let horner = |c: &mut dyn Iterator<Item = $float>, x: $float| c.fold(0.0, |p, c| p * x + c);
            let pieces: Vec<[$float; AlphaBand::TERMS]> = band
                .coefficients
                .iter()
                .map(|c| std::array::from_fn(|j| horner(&mut c.iter().rev().map(|c| c[j] as $float), a)))
                .collect();
            move |v| {
                let (size, shift) = (v.abs(), band.shift as $float);
                let u = (size + shift).max(2.0 * size);
                let octave = (u.to_bits() >> $mantissa_bits) as i32 - $bias - band.lowest;
                let [first, split] = band.octaves[(octave as usize).min(band.octaves.len() - 1)];
                const ONE: $bits = 1 << $mantissa_bits;
                let within = (u.to_bits() & (ONE - 1)) << split;
                let piece = &pieces[first as usize + (within >> $mantissa_bits) as usize];
                let t = (within & (ONE - 1)) as $float / ONE as $float - 0.5;
                let held = horner(&mut piece.iter().rev().copied(), t);
                if size >= band.switch as $float { held / v } else { held * v }
            }
        }
    };
}

contracted!(double, f64, u64, 52, 1023);
contracted!(single, f32, u32, 23, 127);

#[test]
fn bands_lie_end_to_end_from_two_to_a_tenth() {
    let bands: Vec<AlphaBand> = [0, 1, AlphaBand::COUNT - 2, AlphaBand::COUNT - 1].map(AlphaBand::new).into();
    let alpha = |r: f64| 2.0 / (1.0 + r);
    assert!(alpha(bands[0].ends[0]) >= 2.0 - 2f64.powi(-30));
    assert_eq!(bands[0].ends[1], bands[1].ends[0]);
    assert_eq!(bands[2].ends[1], bands[3].ends[0]);
    assert!(alpha(bands[3].ends[1]) < 0.1);
    for band in &bands {
        assert!((band.ends[0].log2() + 0.5 * band.width - band.middle.log2()).abs() < 1e-14);
        assert!(((band.ends[1] / band.ends[0]).log2() - band.width).abs() < 1e-14);
    }
}

#[test]
fn table_is_the_field_for_every_alpha_and_v() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    for number in 0..AlphaBand::COUNT {
        let band = AlphaBand::new(number);
        let [from, to] = band.ends.map(f64::log2);
        for i in 0..12 {
            // Both ends are met, and the rest is anywhere between.
            let s = match i {
                0 => from,
                1 => to,
                _ => from + (to - from) * uniform(&mut rng),
            };
            // Both precisions are to mean the same α, where singles come so close to 2.
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
                let exact = law.score(v);
                let error = (double(v) / exact - 1.0).abs();
                let usual = (0.12..=2.0 - 2f64.powi(-23)).contains(&alpha);
                assert!(error < if usual { 1e-8 } else { 2e-7 }, "alpha = {alpha}, v = {v}: {error:.1e}");
                if let Some(single) = &single {
                    let error = (f64::from(single(v as f32)) / exact - 1.0).abs();
                    let bound = if alpha >= 0.3 { 1e-6 } else { 3e-6 };
                    assert!(error < bound, "alpha = {alpha}, v = {v}: {error:.1e} in single precision");
                }
            }
        }
    }
}

#[test]
fn the_table_is_small() {
    let numbers: usize = (0..AlphaBand::COUNT)
        .map(|number| AlphaBand::new(number).coefficients.len() * AlphaBand::TERMS * AlphaBand::ALPHA_TERMS)
        .sum();
    // 1.2 MB of singles.
    assert!(numbers < 300_000, "{numbers}");
}
