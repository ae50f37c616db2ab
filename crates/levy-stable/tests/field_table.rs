//! ∇G_α from the table against the law itself.

use levy_stable::{FieldPieces, FieldTable, ParameterError, SymmetricStable};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn table_is_the_field_on_all_of_r() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for i in 0..40 {
        let alpha = match i % 4 {
            0 => 2.0 - 10f64.powf(-8.0 * uniform(&mut rng)),
            1 => 1.0 + 10f64.powf(-8.0 * uniform(&mut rng)) * 0.5,
            _ => 0.1 + 1.9 * uniform(&mut rng),
        };
        let table = FieldTable::new(alpha).unwrap();
        let law = SymmetricStable::kinetic(alpha).unwrap();
        assert!(table.max_relative_error() <= 2e-13);
        for j in 0..4000 {
            let span = if j % 2 == 0 { 2.0 } else { 250.0 };
            let v = 10f64.powf(span * (2.0 * uniform(&mut rng) - 1.0));
            let error = (table.at(v) / law.score(v) - 1.0).abs();
            assert!(error < 1e-12, "alpha = {alpha}, v = {v}: {error:.1e}");
            let v = 10f64.powf(if j % 2 == 0 { 2.0 } else { 20.0 } * (2.0 * uniform(&mut rng) - 1.0)) as f32;
            let error = (f64::from(table.at_f32(v)) / law.score(f64::from(v)) - 1.0).abs();
            assert!(error < 2e-7, "alpha = {alpha}, v = {v}: {error:.1e} in single precision");
        }
    }
}

#[test]
fn odd_with_exact_limits() {
    for alpha in [0.3, 1.0, 1.5, 1.99, 2.0] {
        let table = FieldTable::new(alpha).unwrap();
        for v in [1e-300, 1e-9, 0.1, 1.0, 7.0, 1e9, 1e300] {
            assert_eq!(table.at(-v), -table.at(v));
            assert_eq!(table.at_f32(-v as f32), -table.at_f32(v as f32));
        }
        assert!(table.at(0.0) == 0.0 && table.at(-0.0).is_sign_negative());
        let far = if alpha == 2.0 { f64::INFINITY } else { 0.0 };
        assert_eq!((table.at(f64::INFINITY), table.at_f32(f32::INFINITY)), (far, far as f32));
        assert!(table.at(f64::NAN).is_nan() && table.at_f32(f32::NAN).is_nan());
        // The smallest and the largest numbers, on their tangents.
        let slope = SymmetricStable::kinetic(alpha).unwrap().score_derivative(0.0);
        assert!((table.at(1e-250) / (slope * 1e-250) - 1.0).abs() < 1e-12);
        if alpha < 2.0 {
            assert!((table.at(1e300) * 1e300 / (1.0 + alpha) - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn identity_at_two() {
    let table = FieldTable::new(2.0).unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    for _ in 0..10_000 {
        let v = f64::from_bits(rng.next_u64());
        if !v.is_nan() {
            assert_eq!(table.at(v).to_bits(), v.to_bits());
            assert_eq!(table.at_f32(v as f32).to_bits(), (v as f32).to_bits());
        }
    }
}

#[test]
fn slices_give_the_same_bits() {
    let table = FieldTable::new(1.4).unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for length in [0, 1, 63, 64, 65, 1000] {
        let mut v: Vec<f64> = (0..length).map(|_| 20.0 * uniform(&mut rng) - 10.0).collect();
        if let Some(last) = v.last_mut() {
            *last = f64::INFINITY;
        }
        let single: Vec<f32> = v.iter().map(|&v| v as f32).collect();
        let (mut out, mut single_out) = (vec![0.0; length], vec![0f32; length]);
        table.eval_into(&v, &mut out);
        table.eval_into_f32(&single, &mut single_out);
        for i in 0..length {
            assert_eq!(out[i].to_bits(), table.at(v[i]).to_bits());
            assert_eq!(single_out[i].to_bits(), table.at_f32(single[i]).to_bits());
        }
    }
}

#[test]
fn alpha_is_checked() {
    assert_eq!(FieldTable::new(2.1).unwrap_err(), ParameterError::Alpha(2.1));
    assert_eq!(
        FieldTable::new(0.05).unwrap_err().to_string(),
        "the field is tabulated for 0.1 <= alpha <= 2, got 0.05"
    );
    assert!(FieldTable::new(0.1).is_ok());
}

#[test]
fn tables_are_small() {
    for alpha in [0.5, 1.0, 1.5, 1.75, 1.9, 1.999] {
        let (double, single) = FieldTable::new(alpha).unwrap().bytes();
        assert!(double < 32 << 10 && single < 12 << 10, "alpha = {alpha}: {double} and {single} bytes");
    }
}

#[cfg(feature = "serde")]
#[test]
fn stored_tables_come_back_or_are_refused() {
    let table = FieldTable::new(1.5).unwrap();
    let text = serde_json::to_string(&table).unwrap();
    assert_eq!(serde_json::from_str::<FieldTable>(&text).unwrap(), table);
    let mut damaged: serde_json::Value = serde_json::from_str(&text).unwrap();
    damaged["double"]["table"]["coefficients"].as_array_mut().unwrap().truncate(80);
    let error = serde_json::from_value::<FieldTable>(damaged.clone()).unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
    damaged["alpha"] = 2.5.into();
    assert!(serde_json::from_value::<FieldTable>(damaged).unwrap_err().to_string().contains("2.5"));
}

/// The field by the steps that `FieldPieces` describes.
fn by_pieces(pieces: &FieldPieces<f32>, v: f32) -> f32 {
    let size = v.abs();
    let u = (size + pieces.shift).max(2.0 * size);
    let octave = ((u.to_bits() >> 23) as i32 - 127 - pieces.lowest).min(pieces.octaves.len() as i32 - 1);
    let [first, split] = pieces.octaves[octave as usize];
    let within = (u.to_bits() & 0x7f_ffff) << split;
    let t = f32::from_bits(0x3f80_0000 | (within & 0x7f_ffff)) - 1.5;
    let piece = &pieces.coefficients[(first + (within >> 23)) as usize];
    let held = piece.iter().rev().fold(0.0f32, |p, &c| p.mul_add(t, c));
    (if size <= pieces.near { held * size } else { held / size }).copysign(v)
}

#[test]
fn pieces_give_the_field_by_four_coefficients() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut worst = 0.0f64;
    for _ in 0..40 {
        let alpha = 0.1 + 1.9 * uniform(&mut rng);
        let (law, pieces) =
            (SymmetricStable::kinetic(alpha).unwrap(), FieldPieces::<f32>::new(alpha).unwrap());
        for _ in 0..500 {
            let v = (120.0 * uniform(&mut rng) - 60.0).exp2() as f32;
            worst = worst.max((f64::from(by_pieces(&pieces, v)) / law.score(f64::from(v)) - 1.0).abs());
        }
    }
    assert!(worst < 3e-7, "{worst}");
    for alpha in [0.0999, 2.1, f64::NAN] {
        assert!(FieldPieces::<f32>::new(alpha).is_err() && FieldPieces::<f64>::new(alpha).is_err());
    }
    let straight = FieldPieces::<f32>::new(2.0).unwrap();
    assert_eq!(by_pieces(&straight, -3.25), -3.25);
}
