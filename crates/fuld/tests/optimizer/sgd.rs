//! At α = 2 the rule is torch.optim.SGD, bit for bit.

use super::forms::{all_options, gradient, matched, paper, rule, sgd};
use fuld::optimizer::{Options, WeightDecay};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

macro_rules! sgd_bit_for_bit {
    ($name:ident, $float:ty) => {
        /// torch.optim.SGD written down statement by statement; every product and sum is rounded by
        /// itself.
        #[test]
        fn $name() {
            let (rate, length) = (0.03, 37);
            for momentum in [0.0, 0.9, 0.99] {
                for options in all_options(momentum) {
                    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
                    let rules = [
                        rule(sgd(2.0, rate, momentum), options),
                        rule(matched(2.0, rate, momentum, 0.37), options),
                    ];
                    let start: Vec<$float> =
                        gradient(&mut rng, length).iter().map(|&x| x as $float).collect();
                    let (mut x, mut buffer) = (start.clone(), None::<Vec<$float>>);
                    let mut ours = rules.map(|rule| (rule, start.clone(), vec![0.0; length]));
                    for _ in 0..1000 {
                        let given: Vec<$float> =
                            gradient(&mut rng, length).iter().map(|&g| g as $float).collect();
                        let mut g: Vec<$float> = given.clone();
                        for i in 0..length {
                            if options.maximize {
                                g[i] = -g[i];
                            }
                            match options.weight_decay {
                                WeightDecay::Coupled(decay) => {
                                    let pull = decay as $float * x[i];
                                    g[i] += pull;
                                }
                                WeightDecay::Decoupled(decay) => {
                                    x[i] *= (1.0 - rate * decay) as $float
                                }
                                WeightDecay::None => {}
                            }
                        }
                        if momentum != 0.0 {
                            if let Some(b) = &mut buffer {
                                for i in 0..length {
                                    b[i] *= momentum as $float;
                                    b[i] += g[i];
                                }
                            }
                            let b = buffer.get_or_insert_with(|| g.clone());
                            for i in 0..length {
                                if options.nesterov {
                                    let ahead = momentum as $float * b[i];
                                    g[i] += ahead;
                                } else {
                                    g[i] = b[i];
                                }
                            }
                        }
                        for i in 0..length {
                            let step = rate as $float * g[i];
                            x[i] -= step;
                        }
                        for (rule, ours, b) in &mut ours {
                            rule.step(ours, b, &given);
                            assert!(
                                x.iter().zip(&*ours).all(|(a, b)| a.to_bits() == b.to_bits()),
                                "{momentum} {options:?}"
                            );
                        }
                    }
                }
            }
        }
    };
}

sgd_bit_for_bit!(sgd_bit_for_bit_f32, f32);
sgd_bit_for_bit!(sgd_bit_for_bit_f64, f64);

#[test]
fn paper_form_at_two_is_sgd() {
    let paper = rule(paper(2.0, 0.1, 0.1, 3.0), Options::default());
    let sgd = rule(sgd(2.0, 0.1 * 0.1, 1.0 - 0.1 * 0.1), Options::default());
    assert_eq!(paper.step_one(1.5, 0.3, -0.7), sgd.step_one(1.5, 0.3, -0.7));
}
