//! The guard on slices.

use fuld::guard::{
    Decision, Guard, GuardError, GuardState, GuardStateError, LogSum, RUN, SAMPLE,
    sampled_positions, sampled_runs,
};
use fuld::optimizer::{Coordinates, Options, Real, Rule, Sgd};
use levy_stable::{Sampler, SymmetricStable};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::f64::consts::LN_2;
use std::sync::LazyLock;

/// Returns SαS(1.5) noise of scale 1.
fn noise(length: usize, seed: u64) -> Vec<f64> {
    static SAMPLER: LazyLock<Sampler> =
        LazyLock::new(|| SymmetricStable::new(1.5).unwrap().sampler());
    let mut noise = vec![0.0; length];
    SAMPLER.fill(&mut Xoshiro256PlusPlus::seed_from_u64(seed), &mut noise);
    noise
}

fn single(numbers: &[f64]) -> Vec<f32> {
    numbers.iter().map(|&x| x as f32).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-6
}

/// Returns the mean of log|g| in double precision over all components that are not zero and finite.
fn full_mean(g: &[f64]) -> f64 {
    let logs: Vec<f64> =
        g.iter().filter(|g| g.is_finite() && **g != 0.0).map(|g| g.abs().ln()).collect();
    logs.iter().sum::<f64>() / logs.len() as f64
}

#[test]
fn a_sequence_computed_by_hand() {
    let mut state = GuardState::new();
    let mut step =
        |mut g: [f64; 2]| (Guard::FOR_SGD.apply(&mut state, &mut g), g, state.to_numbers()[2]);
    // ℓ = log 4 becomes ℓ̄, and the gradient is only measured.
    let (decision, g, log_scale) = step([2.0, -8.0]);
    assert!(
        decision == Decision { factor: 1.0, limit: 0.0 } && close(f64::from(log_scale), 2.0 * LN_2)
    );
    assert_eq!(g, [0.0; 2]);
    // δ = log 4, w = 1/2: ℓ̄ = log 8, and 4 times the usual size is no burst.
    let (decision, g, _) = step([16.0, 16.0]);
    assert!(decision.factor > 1.0 - 1e-6 && close(decision.limit, 8.0) && g == [decision.limit; 2]);
    // δ = log 128, w = 1/3: ℓ̄ = log 8 + log 4/3, and the factor is 4/128.
    let (decision, g, _) = step([-1024.0, 1024.0]);
    assert!(close(decision.factor, 1.0 / 32.0) && close(decision.limit, (11.0 / 3.0 * LN_2).exp()));
    assert!(g == [-decision.limit, decision.limit]);
    // δ is far below −log 4, w = 1/4: ℓ̄ falls by log 4/4, and nothing is clipped.
    let (decision, g, _) = step([1e-3, -1e-3]);
    assert!(
        decision.factor == 1.0
            && close(decision.limit, (19.0 / 6.0 * LN_2).exp())
            && g == [1e-3, -1e-3]
    );
}

/// A burst at one of the first two steps moves nothing far: afterwards the usual size is that of
/// the other step.
#[test]
fn a_burst_at_the_beginning_is_forgotten() {
    for burst in 0..2 {
        let (mut state, usual) = (GuardState::new(), noise(1000, 1));
        for step in 0..3 {
            let size = if step == burst { 1000.0 } else { 1.0 };
            let mut g: Vec<f64> = usual.iter().map(|g| size * g).collect();
            let decision = Guard::FOR_ADAM.apply(&mut state, &mut g);
            let largest = g.iter().fold(0.0, |largest: f64, g| largest.max(g.abs()));
            let expected = if step == 0 { 0.0 } else { 30.0 * full_mean(&usual).exp() };
            // A burst at the second step doubles the usual size: it has the weight 1/2 and counts
            // as 4 times as large.
            assert!(
                decision.limit >= expected && decision.limit <= 2.001 * expected,
                "{burst} {step}: {decision:?}"
            );
            assert!(largest <= decision.limit, "{burst} {step}");
        }
    }
}

/// A burst of 1000 times the usual size is scaled to 4 times, and moves the usual size by 2.8 % at
/// most.
#[test]
fn a_burst_is_scaled_down() {
    let (guard, mut state) = (Guard::new(f64::INFINITY).unwrap(), GuardState::new());
    let usual = noise(1000, 1);
    for _ in 0..60 {
        assert_eq!(guard.apply(&mut state, &mut usual.clone()).factor, 1.0);
    }
    let before = state.log_scale().unwrap();
    let mut burst: Vec<f64> = usual.iter().map(|g| 1000.0 * g).collect();
    let decision = guard.apply(&mut state, &mut burst);
    assert!(close(decision.factor, 0.004), "{decision:?}");
    assert!(burst.iter().zip(&usual).all(|(burst, usual)| close(*burst, 4.0 * usual)));
    assert!((state.log_scale().unwrap() - before - 0.02 * 4f64.ln()).abs() < 1e-6);
    // A lasting change of scale is followed.
    for _ in 0..300 {
        guard.apply(&mut state, &mut usual.iter().map(|g| 1000.0 * g).collect::<Vec<_>>());
    }
    assert!((state.log_scale().unwrap() - before - 1000f64.ln()).abs() < 0.3);
}

#[test]
fn corrupted_components_do_not_change_the_others() {
    let clean = single(&noise(5000, 2));
    let guard = Guard::new(1e6).unwrap();
    let mut state = GuardState::new();
    guard.apply(&mut state, &mut clean.clone());
    let mut g = clean.clone();
    g[7] = f32::NAN;
    g[1100] = f32::INFINITY;
    g[4000] = f32::NEG_INFINITY;
    g[4999] = f32::MAX;
    let decision = guard.apply(&mut state, &mut g);
    let limit = decision.limit as f32;
    assert!(
        limit.is_finite() && [g[7], g[1100], g[4000], g[4999]] == [0.0, limit, -limit, limit],
        "{g:?}"
    );
    let others =
        g.iter().zip(&clean).enumerate().filter(|(i, _)| ![7, 1100, 4000, 4999].contains(i));
    assert!(others.map(|(_, pair)| pair).all(|(g, clean)| g.to_bits() == clean.to_bits()));
}

#[test]
fn without_a_usable_component_nothing_is_learned() {
    let guard = Guard::FOR_SGD;
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0] {
        let (mut state, mut g) = (GuardState::new(), [bad; 20]);
        let decision = guard.apply(&mut state, &mut g);
        let all = Decision { factor: 1.0, limit: f64::INFINITY };
        assert_eq!((decision, state), (all, GuardState::new()));
        assert_eq!(g, [0.0; 20], "{bad}");
        guard.apply(&mut state, &mut [0.5f32; 20]);
        let (known, mut g) = (state, [bad; 20]);
        let decision = guard.apply(&mut state, &mut g);
        assert!(
            state == known && decision.factor == 1.0 && close(decision.limit, 0.5),
            "{decision:?}"
        );
        let expected = if bad.is_infinite() { bad.signum() * decision.limit as f32 } else { 0.0 };
        assert_eq!(g, [expected; 20], "{bad}");
    }
    assert_eq!(guard.apply::<f32>(&mut GuardState::new(), &mut []).limit, f64::INFINITY);
}

/// The rows of an embedding that a minibatch uses may all lie outside the sample.
#[test]
fn a_sparse_gradient_outside_the_sample_passes() {
    let (guard, mut state) = (Guard::FOR_ADAM, GuardState::new());
    let mut g = vec![0.0f32; 1_000_000];
    let outside = (0..).find(|i| sampled_positions(g.len()).all(|position| position != *i));
    let outside = outside.unwrap();
    for _ in 0..3 {
        (g[outside], g[outside + 1]) = (0.25, f32::NAN);
        guard.apply(&mut state, &mut g);
        assert_eq!((g[outside], g[outside + 1], state), (0.25, 0.0, GuardState::new()));
    }
}

/// Gradients times a power of 2 lead to the same factors, and to limits and gradients times that
/// power.
#[test]
fn the_guard_has_no_scale_of_its_own() {
    fn follow<T: Real + std::fmt::Debug>(rounded: fn(f64) -> T, power: i32) {
        let scale = 2f64.powi(power);
        let (mut state, mut scaled) = (GuardState::new(), GuardState::new());
        for step in 0..80 {
            let burst = if step % 20 == 7 { 300.0 } else { 1.0 };
            let g: Vec<f64> = noise(300, step).iter().map(|g| burst * g).collect();
            let mut a: Vec<T> = g.iter().map(|&g| rounded(g)).collect();
            let mut b: Vec<T> = g.iter().map(|&g| rounded(scale * g)).collect();
            let one = Guard::FOR_SGD.apply(&mut state, &mut a);
            let two = Guard::FOR_SGD.apply(&mut scaled, &mut b);
            assert!(
                (two.limit / scale - one.limit).abs() <= 1e-5 * one.limit,
                "{step}: {one:?} {two:?}"
            );
            assert!((two.factor / one.factor - 1.0).abs() < 1e-5, "{step}: {one:?} {two:?}");
            for (&a, &b) in a.iter().zip(&b) {
                let (a, b): (f64, f64) = (a.into(), b.into());
                assert!((b / scale - a).abs() <= 2e-5 * a.abs(), "{step}: {a} {b}");
            }
        }
    }
    for power in [-30, -3, 1, 40] {
        follow(|x| x as f32, power);
        follow(|x| x, power);
    }
}

#[test]
fn single_and_double_precision_agree() {
    let (mut one, mut two) = (GuardState::new(), GuardState::new());
    for step in 0..60 {
        let g = noise(10_000, step);
        let (mut a, mut b) = (single(&g), g);
        let a = Guard::FOR_SGD.apply(&mut one, &mut a);
        let b = Guard::FOR_SGD.apply(&mut two, &mut b);
        assert!((a.limit - b.limit).abs() <= 1e-6 * b.limit && a.factor == b.factor, "{a:?} {b:?}");
    }
}

#[test]
fn a_loaded_state_continues_with_the_same_bits() {
    let run = |broken: Option<u64>| {
        let (mut state, mut last) = (GuardState::new(), Vec::new());
        for step in 0..70 {
            if Some(step) == broken {
                state = GuardState::from_numbers(&state.to_numbers()).unwrap();
            }
            last = single(&noise(500, step));
            Guard::FOR_SGD.apply(&mut state, &mut last);
        }
        (last, state)
    };
    for step in [0, 1, 30, 60] {
        assert!(run(Some(step)) == run(None), "{step}");
    }
}

#[test]
fn a_state_is_checked_when_it_is_loaded() {
    let load = |numbers: &[f32]| GuardState::from_numbers(numbers);
    assert_eq!(load(&[1.0, 0.0]), Err(GuardStateError::Size(2)));
    assert_eq!(load(&[2.0, 1.0, 0.0]), Err(GuardStateError::Version(2.0)));
    assert_eq!(load(&[1.0, 51.0, 0.0]), Err(GuardStateError::Steps(51.0)));
    assert_eq!(load(&[1.0, 0.5, 0.0]), Err(GuardStateError::Steps(0.5)));
    assert!(
        matches!(load(&[1.0, f32::NAN, 0.0]), Err(GuardStateError::Steps(steps)) if steps.is_nan())
    );
    assert_eq!(load(&[1.0, 1.0, f32::INFINITY]), Err(GuardStateError::LogScale(f32::INFINITY)));
    assert_eq!(load(&GuardState::new().to_numbers()), Ok(GuardState::new()));
}

#[test]
fn a_clip_is_positive() {
    for clip in [0.0, -1.0] {
        assert_eq!(Guard::new(clip), Err(GuardError::Clip(clip)));
    }
    assert!(Guard::new(f64::NAN).unwrap_err().to_string().contains("positive, got NaN"));
    assert_eq!(Guard::new(1.0), Ok(Guard::FOR_SGD));
}

#[test]
fn the_mean_of_logarithms_is_accurate() {
    for (length, scale) in [(1, 1.0), (15, 1e-4), (1000, 1e-30), (4095, 3e7), (4096, 1e-3)] {
        let g: Vec<f64> = noise(length, 3).iter().map(|g| scale * g).collect();
        let rounded: Vec<f64> = single(&g).iter().map(|&g| f64::from(g)).collect();
        assert!(
            (LogSum::of(&single(&g)).mean().unwrap() - full_mean(&rounded)).abs() < 1e-6,
            "{length}"
        );
        assert!((LogSum::of(&g).mean().unwrap() - full_mean(&g)).abs() < 1e-6, "{length}");
    }
    let extremes = [f32::MAX, f32::MIN_POSITIVE, -1.999_999_9, 0.0, f32::NAN, 1e-45];
    let logs = LogSum::of(&extremes);
    let exact = full_mean(&extremes[..3].iter().map(|&g| f64::from(g)).collect::<Vec<_>>());
    assert!(logs.count == 3 && (logs.mean().unwrap() - exact).abs() < 1e-6, "{logs:?}");
    // The largest product of mantissas that a part can have does not overflow.
    let same = LogSum::of(&[1.414f32; SAMPLE]);
    assert!((same.mean().unwrap() - 1.414f64.ln()).abs() < 1e-6, "{same:?}");
}

#[test]
fn positions_are_spread_over_the_tensor() {
    assert!(sampled_positions(1000).eq(0..1000) && sampled_positions(SAMPLE).eq(0..SAMPLE));
    for length in [SAMPLE + 1, 2 * SAMPLE, 100_003, 1 << 20, 100_000_007] {
        let positions: Vec<usize> = sampled_positions(length).collect();
        assert!(positions.len() == SAMPLE && positions.is_sorted_by(|a, b| a < b), "{length}");
        assert!(positions[SAMPLE - 1] < length);
        let (runs, rest) = positions.as_chunks::<RUN>();
        assert!(rest.is_empty());
        for (j, run) in runs.iter().enumerate() {
            let (start, count) = (run[0], SAMPLE / RUN);
            assert!(run.iter().copied().eq(start..start + RUN) && start % RUN == 0);
            // In its own part, but for rounding down.
            assert!(j * length / count < start + RUN, "{length}: {start}");
            assert!(start + RUN <= (j + 1) * length / count, "{length}: {start}");
        }
    }
    // The formula, computed elsewhere with exact integers.
    let starts: Vec<usize> = sampled_runs(1_000_000).take(5).collect();
    assert_eq!(starts, [0, 3152, 4360, 7520, 8728]);
}

/// One column that is 1000 times larger does not bias the sample, even if widths and sample are
/// powers of 2.
#[test]
fn no_column_is_preferred() {
    for width in [8, 64, 256, 1024, 4096] {
        for large in [0, 1, width / 2, width - 1] {
            let rows = (1 << 20) / width;
            let g: Vec<f32> =
                (0..rows * width).map(|i| if i % width == large { 1000.0 } else { 1.0 }).collect();
            let expected = 1000f64.ln() / width as f64;
            let sampled = LogSum::of(&g).mean().unwrap();
            // Two standard errors of a random sample of the column.
            let error = 1000f64.ln() * (1.0 / width as f64 / SAMPLE as f64).sqrt();
            assert!(
                (sampled - expected).abs() < 2.0 * error,
                "{width} {large}: {sampled} {expected}"
            );
        }
    }
}

/// The parts of a divided tensor have the sum of their sums, and so the decision of the whole.
#[test]
fn sums_of_parts_add_up() {
    let g = noise(SAMPLE, 4);
    let (a, b) = g.split_at(1000);
    let (whole, parts) = (LogSum::of(&g), LogSum::of(a) + LogSum::of(b));
    assert!(whole.count == parts.count && close(whole.sum, parts.sum));
}

/// A guarded step has the bits of a guarded gradient followed by a step.
#[test]
fn a_step_can_include_the_guard() {
    for (alpha, length) in [(2.0, 1037), (1.5, 1037), (1.5, 16)] {
        let coordinates =
            Coordinates::sgd(Sgd { alpha, learning_rate: 0.1, momentum: 0.9 }).unwrap();
        let rule =
            Rule::new(coordinates, Options { maximize: true, ..Options::default() }).unwrap();
        let start = single(&noise(length, 5));
        let (mut x, mut b, mut state) = (start.clone(), vec![0f32; length], GuardState::new());
        let (mut y, mut c, mut other) = (start.clone(), vec![0f32; length], GuardState::new());
        for step in 0..20 {
            let mut g: Vec<f32> = single(&noise(length, step));
            g[3] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0][step as usize % 4];
            if step == 11 {
                g.iter_mut().for_each(|g| *g *= 1000.0);
            }
            let decision = Guard::FOR_SGD.observe(&mut state, LogSum::of(&g));
            let one = decision.apply_one(g[3]);
            rule.guarded(decision).step(&mut x, &mut b, &g);
            assert_eq!(Guard::FOR_SGD.apply(&mut other, &mut g), decision);
            assert_eq!(g[3], one);
            rule.step(&mut y, &mut c, &g);
            assert!(x == y && b == c, "{alpha} {step}");
        }
        assert!(x.iter().all(|x| x.is_finite()));
    }
}
