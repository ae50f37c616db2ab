//! ∇G_α from the table, compared with the law itself.

use levy_stable::{FieldTable, ParameterError, SymmetricStable};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn the_table_matches_the_field_on_the_whole_line() {
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
            let error = (table.at(v) / -law.score(v) - 1.0).abs();
            assert!(error < 1e-12, "alpha = {alpha}, v = {v}: {error:.1e}");
            let v = 10f64
                .powf(if j % 2 == 0 { 2.0 } else { 20.0 } * (2.0 * uniform(&mut rng) - 1.0))
                as f32;
            let error = (f64::from(table.at_f32(v)) / -law.score(f64::from(v)) - 1.0).abs();
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
        let slope = -SymmetricStable::kinetic(alpha).unwrap().score_derivative(0.0);
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
        "a table of the field requires 0.1 <= alpha <= 2, got 0.05"
    );
    assert!(FieldTable::new(0.1).is_ok());
}

#[test]
fn tables_are_small() {
    for alpha in [0.5, 1.0, 1.5, 1.75, 1.9, 1.999] {
        let (double, single) = FieldTable::new(alpha).unwrap().bytes();
        assert!(
            double < 32 << 10 && single < 12 << 10,
            "alpha = {alpha}: {double} and {single} bytes"
        );
    }
}

#[cfg(feature = "serde")]
#[test]
fn stored_tables_round_trip_or_are_refused() {
    for alpha in [0.3, 1.5, 2.0] {
        let table = FieldTable::new(alpha).unwrap();
        let text = serde_json::to_string(&table).unwrap();
        assert_eq!(serde_json::from_str::<FieldTable>(&text).unwrap(), table);
    }
    let stored = serde_json::to_value(FieldTable::new(1.5).unwrap()).unwrap();
    let refused = |change: &dyn Fn(&mut serde_json::Value), reason: &str| {
        let mut damaged = stored.clone();
        change(&mut damaged);
        let error = serde_json::from_value::<FieldTable>(damaged).unwrap_err().to_string();
        assert!(error.contains(reason), "{reason}: {error}");
    };
    refused(&|t| t["double"]["coefficients"].as_array_mut().unwrap().truncate(80), "damaged");
    refused(&|t| t["single"]["coefficients"].as_array_mut().unwrap().truncate(80), "damaged");
    refused(&|t| t["double"]["alpha"]["value"] = 2.5.into(), "2.5");
    refused(&|t| t["double"]["alpha"]["value"] = 1.25.into(), "different alpha");
    refused(&|t| t["double"]["version"] = 2.into(), "format version 2, this version reads 1");
    refused(&|t| t["double"]["octaves"][2][1] = 11.into(), "index points outside");
    refused(&|t| t["double"]["octaves"][2][0] = u32::MAX.into(), "index points outside");
    refused(&|t| t["double"]["lowest"] = i32::MAX.into(), "octaves are none or more");
    refused(&|t| t["double"]["octaves"] = serde_json::json!([]), "octaves are none or more");
    refused(&|t| t["double"]["near_octaves"] = 0.into(), "near_octaves");
    refused(&|t| t["double"]["terms"] = 4.into(), "4 in t, where 1 and 8 are needed");
    refused(&|t| t["double"]["terms"] = 0.into(), "multiple");
    refused(&|t| t["double"]["alpha_terms"] = 2.into(), "one coefficient in alpha");
    refused(&|t| t["single"]["lowest"] = (-300).into(), "does not have");
}
