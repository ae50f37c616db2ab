//! Settings out of range are refused, with the value in the error.

use super::forms::{kappa, matched, paper, sgd};
use fuld::ParameterError;
use fuld::optimizer::{Options, Rule, RuleError, WeightDecay, clip};

#[test]
fn errors_name_the_invalid_setting() {
    let law = |error: levy_stable::ParameterError| RuleError::Parameter(ParameterError::Law(error));
    assert_eq!(sgd(2.5, 0.1, 0.9), Err(law(levy_stable::ParameterError::Alpha(2.5))));
    assert_eq!(sgd(1.5, -0.1, 0.9), Err(RuleError::LearningRate(-0.1)));
    assert_eq!(sgd(1.5, 0.1, 1.5), Err(RuleError::Momentum(1.5)));
    assert_eq!(paper(1.5, 0.5, 4.0, 1.0), Err(RuleError::Momentum(-1.0)));
    assert_eq!(paper(1.5, 0.1, 0.1, 0.0), Err(RuleError::Parameter(ParameterError::Beta(0.0))));
    assert_eq!(matched(1.5, 0.1, 0.9, 0.0), Err(RuleError::Kappa(0.0)));
    assert!(matches!(matched(1.5, 0.1, 0.9, 1e-40), Err(RuleError::Extreme { .. })));
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(sgd(1.5, bad, 0.9).is_err() && sgd(1.5, 0.1, bad).is_err());
        assert!(matched(1.5, 0.1, 0.9, bad).is_err() && paper(1.5, bad, 0.1, 1.0).is_err());
        assert!(paper(1.5, 0.1, bad, 1.0).is_err() && paper(1.5, 0.1, 0.1, bad).is_err());
        assert!(kappa(1.5, 0.1, 0.9, bad).is_err() && kappa(1.5, bad, 0.9, 1.0).is_err());
        for weight_decay in [WeightDecay::Coupled(bad), WeightDecay::Decoupled(bad)] {
            let options = Options { weight_decay, ..Options::default() };
            let error = Rule::new(sgd(1.5, 0.1, 0.9).unwrap(), options).unwrap_err();
            assert!(
                matches!(error, RuleError::WeightDecay(value) if value.to_bits() == bad.to_bits())
            );
        }
        assert!(
            clip::by_value(&mut [1.0f32], bad).is_err()
                && clip::by_norm(&mut [&mut [1.0f32]], bad).is_err()
        );
    }
    let error =
        Rule::new(sgd(1.5, 0.1, 0.0).unwrap(), Options { nesterov: true, ..Options::default() });
    assert_eq!(error.unwrap_err(), RuleError::NesterovWithoutMomentum);
}
