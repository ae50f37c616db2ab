//! Networks learn with the optimizers.

use super::{finished, last, result, scratch};
use crate::program::fuld;

#[test]
fn digits_are_learned_with_the_default_settings() {
    for optimizer in ["--optimizer fuld --alpha 1.75", "--optimizer sgdm", "--optimizer adam"] {
        let folder = finished(&format!("train --width 64 --iterations 400 --out run {optimizer}"));
        let accuracy = last(&folder, "test_accuracy");
        println!("{optimizer}: {accuracy}");
        assert!(accuracy > 0.93, "{optimizer}: {accuracy}");
        // The mean of the last two measurements is reported.
        let found = result(folder.path());
        let measured = found["measurements"].as_array().unwrap();
        let two =
            measured[measured.len() - 2..].iter().map(|m| m["test_accuracy"].as_float().unwrap());
        assert_eq!(found["summary"]["test_accuracy"].as_float().unwrap(), two.sum::<f64>() / 2.0);
    }
}

#[test]
fn the_matched_form_learns_where_sgd_diverges() {
    let noisy = "train --width 32 --depth 3 --iterations 1000 --out run --inject-noise 1.2,3e-2 --lr 0.01 --momentum 0.9";
    let matched = finished(&format!("{noisy} --alpha 1.2 --noise-scale injected"));
    let accuracy = last(&matched, "test_accuracy");
    println!("matched: {accuracy}");
    assert!(accuracy > 0.85, "{accuracy}");
    let folder = scratch();
    let sgdm = fuld(folder.path(), &format!("{noisy} --optimizer sgdm"));
    let accuracy = last(&folder, "test_accuracy");
    println!("sgdm: {:?}, {accuracy}", sgdm.code);
    assert!(sgdm.code == Some(3) || (sgdm.code == Some(0) && accuracy < 0.3), "{sgdm:?}");
}
