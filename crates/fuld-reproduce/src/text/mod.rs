//! Text with a power-law vocabulary: a task on which SGD is known to do badly, because most words are rare.
//!
//! Every optimizer is tuned with the same number of trials on one seed and a validation text; its best setting is then run with other
//! seeds and measured on a test text.

mod claims;
mod figures;
mod tuning;

use crate::study::{SIGNIFICANT, Treatment, train};
use crate::{CaptionedFigure, Claim, Context, Exhibit, TextTable};
use fuld_train::text::transformer::TransformerShape;
use fuld_train::text::{
    Evaluation, EvaluationText, MOMENTUM, TEXT_VERSION, TensorCalibration, TensorNoise, TextMeasurement,
    TextOptimizer, TextResult, TextRun, TextSpec, TextTask,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use tuning::{KINDS, TRIALS, Tuned, Tuning, candidates};

/// Time per step on one core, only for the announced time.
const SECONDS_PER_STEP: f64 = 0.004;

/// The stage of the study that a run belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    /// One trial per setting, on the validation text.
    Tuning,
    /// The best setting with other seeds, on the test text.
    Test,
}

results! {
    /// Text with a power-law vocabulary. Losses are in nats per word; an excess is a loss above the lowest achievable.
    Text {
        /// A run; its excesses are infinite if it diverged.
        runs: TextRow {
            stage: Stage,
            treatment: Treatment,
            lr: f64,
            seed: u64,
            excess: f64,
            excess_ranks_1_to_10: f64,
            excess_ranks_11_to_100: f64,
            excess_other_ranks: f64,
        },
        /// A measurement of a test run.
        curves: CurveRow { treatment: Treatment, seed: u64, step: u64, excess: f64 },
        noise: TensorNoise,
        /// The calibration of a tensor at the end of a test run.
        calibration: CalibrationRow {
            seed: u64,
            tensor: String,
            noise_alpha: f64,
            noise_scale: f64,
            alpha: f64,
            kappa: f64,
            limit: f64,
            beyond_knee: f64,
        },
        task: TaskRow {
            words: usize,
            context: usize,
            width: usize,
            hidden: usize,
            parameters: usize,
            batch: usize,
            steps: u64,
            test_seeds: u64,
            /// Lowest achievable loss on the test text.
            lowest_loss: f64,
            /// Loss of a model that knows only the word frequencies.
            unigram_loss: f64,
        },
    }
}

impl Exhibit for Text {
    const ID: &'static str = "text";
    const VERSION: u32 = 2;
    const TITLE: &'static str = "Beyond the paper · Text with a power-law vocabulary";
    const SHOWS: &'static str = "text with a power-law vocabulary";
    const SECONDS: f64 = 75.0;

    fn settings(context: &Context<'_>) -> anyhow::Result<toml::Table> {
        TextStudy::new(context.seed).settings()
    }

    fn experiment(context: &Context<'_>) -> anyhow::Result<Self> {
        Self::of_study(context, &TextStudy::new(context.seed))
    }

    fn text(&self) -> String {
        let [task] = &self.task[..] else { return String::new() };
        format!(
            "A synthetic language has {} words whose frequencies follow Zipf's law, and hidden topics, so that each word depends on those \
             before it. The lowest achievable loss is therefore known: {:.3} nats per word on the test text; a model that knows only the word \
             frequencies has {:.3}. The model has {:.0} thousand parameters: embeddings of dimension {}, one block of causal attention over {} \
             words, one hidden layer. Each optimizer is tuned with {TRIALS} trials (learning rates, or learning rates and limits where gradients \
             are clipped) on one seed and a validation text. Its best setting is run with {} other seeds for {} steps of {} sentences, none of \
             them twice, and measured on a test text. A difference counts if it exceeds {SIGNIFICANT} standard errors.",
            task.words,
            task.lowest_loss,
            task.unigram_loss,
            task.parameters as f64 / 1e3,
            task.width,
            task.context,
            task.test_seeds,
            task.steps,
            task.batch,
        )
    }

    fn figures(&self) -> Vec<CaptionedFigure> {
        let [task] = &self.task[..] else { return Vec::new() };
        figures::figures(&Tuning::of(&self.runs), &self.curves, task)
    }

    fn shown(&self) -> Vec<TextTable> {
        vec![TextTable::of(
            &Tuning::of(&self.runs).all,
            &[
                ("optimizer", |tuned| tuned.label().into()),
                ("best setting", |tuned| tuned.chosen.setting()),
                ("nats above the lowest loss", Tuned::result_text),
                ("words 1–10", |tuned| format!("{:.2}", tuned.by_rank()[0].0)),
                ("11–100", |tuned| format!("{:.2}", tuned.by_rank()[1].0)),
                ("others", |tuned| format!("{:.2}", tuned.by_rank()[2].0)),
            ],
        )]
    }

    fn claims(&self) -> Vec<Claim> {
        claims::claims(&Tuning::of(&self.runs), &self.noise)
    }
}

impl TextRow {
    fn new(stage: Stage, (treatment, lr): (Treatment, f64), seed: u64, result: &TextResult) -> Self {
        let [common, middle, rare] = result.excess_by_rank;
        Self {
            stage,
            treatment,
            lr,
            seed,
            excess: result.excess,
            excess_ranks_1_to_10: common,
            excess_ranks_11_to_100: middle,
            excess_other_ranks: rare,
        }
    }

    fn by_rank(&self) -> [f64; 3] {
        [self.excess_ranks_1_to_10, self.excess_ranks_11_to_100, self.excess_other_ranks]
    }

    /// Returns the tuned setting for readers.
    fn setting(&self) -> String {
        let limit = self.treatment.limit().map_or(String::new(), |limit| format!(", limit {limit}"));
        format!("learning rate {}{limit}", self.lr)
    }
}

impl CalibrationRow {
    fn new(seed: u64, calibration: &TensorCalibration) -> Self {
        let TensorCalibration { tensor, noise_alpha, noise_scale, alpha, kappa, limit, beyond_knee } =
            calibration.clone();
        Self { seed, tensor, noise_alpha, noise_scale, alpha, kappa, limit, beyond_knee }
    }
}

impl TaskRow {
    /// Returns the excess loss of a model that knows only the word frequencies.
    fn unigram_excess(&self) -> f64 {
        self.unigram_loss - self.lowest_loss
    }
}

/// The runs of the study.
#[derive(Clone, Debug)]
struct TextStudy {
    task: TextTask,
    /// Evaluations during a test run.
    measurements: u64,
    /// Number of test seeds, after the seed of tuning.
    seeds: u64,
}

impl TextStudy {
    fn new(seed: u64) -> Self {
        let task = TextTask {
            topics: 32,
            loyalty: 0.9,
            stay: 0.98,
            batch: 32,
            steps: 500,
            sentences: 512,
            evaluation_seed: seed,
            shape: TransformerShape { words: 1000, context: 8, width: 32, hidden: 64 },
        };
        Self { task, measurements: 10, seeds: 5 }
    }

    fn test_seeds(&self) -> Range<u64> {
        let first = self.task.evaluation_seed + 1;
        first..first + self.seeds
    }

    fn settings(&self) -> anyhow::Result<toml::Table> {
        let mut settings = toml::Table::try_from(self.task)?;
        settings.insert("measurements".into(), (self.measurements as i64).into());
        settings.insert("test_seeds".into(), (self.seeds as i64).into());
        settings.insert("momentum".into(), MOMENTUM.into());
        settings.insert("text_version".into(), i64::from(TEXT_VERSION).into());
        for (treatment, rate) in KINDS.into_iter().flat_map(candidates) {
            let rates = settings.entry(treatment.to_string()).or_insert(toml::Value::Array(Vec::new()));
            if let Some(rates) = rates.as_array_mut() {
                rates.push(rate.into());
            }
        }
        Ok(settings)
    }

    fn task_row(&self) -> TaskRow {
        let (task, language) = (self.task, self.task.language());
        let TransformerShape { words, context, width, hidden } = task.shape;
        TaskRow {
            words,
            context,
            width,
            hidden,
            parameters: task.shape.parameters(),
            batch: task.batch,
            steps: task.steps,
            test_seeds: self.seeds,
            lowest_loss: Evaluation::new(&task, &language, EvaluationText::Test).lowest_loss(),
            unigram_loss: language.unigram_entropy(),
        }
    }

    /// Returns a run of a treatment at a learning rate.
    fn run(&self, stage: Stage, (treatment, lr): (Treatment, f64), seed: u64) -> TextRun {
        let (evaluation, measurements) = match stage {
            Stage::Tuning => (EvaluationText::Validation, 1),
            Stage::Test => (EvaluationText::Test, self.measurements),
        };
        let first_of_sgdm = treatment == Treatment::Sgdm && seed == self.test_seeds().start;
        let spec = TextSpec {
            lr,
            seed,
            evaluation,
            measurements,
            // The noise that SGDm has to cope with, where its first run ends.
            gradient_noise: stage == Stage::Test && first_of_sgdm,
            optimizer: optimizer(treatment),
            task: self.task,
        };
        TextRun { spec, seconds: SECONDS_PER_STEP * self.task.steps as f64 }
    }
}

/// Returns the optimizer of a treatment; treatments of other studies count as SGDm.
fn optimizer(treatment: Treatment) -> TextOptimizer {
    match treatment {
        Treatment::ClipNorm(limit) => TextOptimizer::ClipNorm(limit),
        Treatment::ClipValue(limit) => TextOptimizer::ClipValue(limit),
        Treatment::Adam => TextOptimizer::Adam,
        Treatment::Auto => TextOptimizer::Auto,
        _ => TextOptimizer::Sgdm,
    }
}

impl Text {
    fn of_study(context: &Context<'_>, study: &TextStudy) -> anyhow::Result<Self> {
        let seed = study.task.evaluation_seed;
        let tried: Vec<(Treatment, f64)> = KINDS.into_iter().flat_map(candidates).collect();
        let trials: Vec<TextRun> = tried.iter().map(|&it| study.run(Stage::Tuning, it, seed)).collect();
        let test_count = KINDS.len() * study.seeds as usize;
        let tuning_share = trials.len() as f64 / (trials.len() + test_count) as f64;
        let outcomes = train(context, "tuning on text", &trials, 0.0..tuning_share)?;
        let tried = tried.iter().zip(&outcomes);
        let runs = tried.map(|(&setting, result)| TextRow::new(Stage::Tuning, setting, seed, result));
        let mut results = Self { runs: runs.collect(), task: vec![study.task_row()], ..Self::default() };

        let mut tests = Vec::new();
        for Tuned { chosen, .. } in Tuning::of(&results.runs).all {
            tests.extend(study.test_seeds().map(|seed| ((chosen.treatment, chosen.lr), seed)));
        }
        let runs: Vec<TextRun> = tests.iter().map(|&(it, seed)| study.run(Stage::Test, it, seed)).collect();
        let outcomes = train(context, "best settings on text", &runs, tuning_share..1.0)?;
        for (&(setting, seed), result) in tests.iter().zip(outcomes) {
            results.runs.push(TextRow::new(Stage::Test, setting, seed, &result));
            let curve = |&TextMeasurement { step, excess }: &TextMeasurement| CurveRow {
                treatment: setting.0,
                seed,
                step,
                excess,
            };
            results.curves.extend(result.measurements.iter().map(curve));
            results
                .calibration
                .extend(result.calibration.iter().map(|tensor| CalibrationRow::new(seed, tensor)));
            results.noise.extend(result.noise);
        }
        Ok(results)
    }
}

#[cfg(test)]
mod tests;
