use super::*;
use crate::run_all::run_stored;
use crate::text::spec::{EvaluationText, TextOptimizer, TextTask};
use crate::text::transformer::TransformerShape;

/// A run in the size of the report.
fn spec() -> TextSpec {
    let task = TextTask {
        topics: 32,
        loyalty: 0.9,
        stay: 0.98,
        batch: 32,
        steps: 150,
        sentences: 128,
        evaluation_seed: 1,
        shape: TransformerShape { words: 1000, context: 8, width: 32, hidden: 64 },
    };
    TextSpec {
        lr: 0.0064,
        seed: 5,
        evaluation: EvaluationText::Test,
        measurements: 2,
        gradient_noise: false,
        optimizer: TextOptimizer::Adam,
        task,
    }
}

fn small() -> TextSpec {
    let shape = TransformerShape { words: 40, context: 4, width: 8, hidden: 8 };
    let task =
        TextTask { topics: 4, batch: 8, steps: 3, sentences: 70, evaluation_seed: 7, shape, ..spec().task };
    TextSpec { lr: 0.1, measurements: 1, task, ..spec() }
}

fn trained(spec: &TextSpec) -> TextResult {
    train(spec, &mut |_| Control::Continue).unwrap().unwrap()
}

/// After 150 steps of Adam with its usual constants, the excess loss is less than half that of a model that knows only the word
/// frequencies.
#[test]
fn a_model_learns_more_than_frequencies() {
    let adam = trained(&spec());
    let language = spec().task.language();
    let lowest = Evaluation::new(&spec().task, &language, EvaluationText::Test).lowest_loss();
    let frequencies = language.unigram_entropy() - lowest;
    assert!(adam.excess < 0.5 * frequencies && adam.excess > 0.0, "{} {frequencies}", adam.excess);
    assert_eq!(adam.measurements.iter().map(|point| point.step).collect::<Vec<_>>(), [75, 150]);
    assert_eq!(adam.measurements[1].excess, adam.excess);
    let diverged = trained(&TextSpec { optimizer: TextOptimizer::Sgdm, lr: 1e38, ..spec() });
    assert!(diverged.excess == f64::INFINITY && diverged.excess_by_rank == [f64::INFINITY; 3]);
    assert!(train(&spec(), &mut |_| Control::Stop).unwrap().is_none());
}

#[test]
fn clipping_changes_the_result_only_below_its_limit() {
    let excess = |optimizer| trained(&TextSpec { optimizer, ..small() }).excess;
    let plain = excess(TextOptimizer::Sgdm);
    for clip in [TextOptimizer::ClipNorm, TextOptimizer::ClipValue] {
        assert_eq!(excess(clip(1e6)), plain);
        assert_ne!(excess(clip(0.01)), plain);
    }
    assert_ne!(excess(TextOptimizer::ClipNorm(0.01)), excess(TextOptimizer::ClipValue(0.01)));
}

#[test]
fn ranks_are_averaged_separately() {
    let task = small().task;
    let evaluation = Evaluation::new(&task, &task.language(), EvaluationText::Test);
    let model = Transformer::new(task.shape, 1, &Default::default());
    let excess = evaluation.excess(&model);
    assert_eq!(excess.len(), 70 * 4);
    let [common, rare] = evaluation.by_rank(&excess, [10, u32::MAX]);
    let all = mean(excess.iter().copied());
    assert!(common != rare && (common - all) * (rare - all) < 0.0, "{common} {all} {rare}");
}

/// Infinite numbers and the largest seed are stored exactly, and no run is trained twice.
#[test]
fn results_are_stored_and_reused() {
    let folder = tempfile::TempDir::new().unwrap();
    let auto = TextSpec { optimizer: TextOptimizer::Auto, gradient_noise: true, seed: u64::MAX, ..small() };
    let diverged = TextSpec { optimizer: TextOptimizer::Sgdm, lr: 1e38, ..small() };
    let runs = [auto, diverged].map(|spec| TextRun { spec, seconds: 1.0 });
    let first = run_stored(&runs, folder.path(), 2, &|_| Control::Continue).unwrap().unwrap();
    // Nothing is left to train, so nothing can be stopped.
    let again = run_stored(&runs, folder.path(), 2, &|_| Control::Stop).unwrap().unwrap();
    // NaN differs from itself, so texts are compared.
    assert_eq!(format!("{first:?}"), format!("{again:?}"));
    assert_eq!((first[0].noise.len(), first[0].calibration.len(), first[1].noise.len()), (10, 10, 0));
    assert!(first[1].excess.is_infinite());
    let missing = TextRun { spec: TextSpec { seed: 1, ..auto }, seconds: 1.0 };
    assert!(run_stored(&[missing], folder.path(), 2, &|_| Control::Stop).unwrap().is_none());
}
