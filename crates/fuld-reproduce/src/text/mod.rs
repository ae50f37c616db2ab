//! Text with a power-law vocabulary: a task on which SGD is known to do badly, because most words are rare.

mod arm;
mod claims;
mod comparison;
mod crew;
mod exam;
mod exhibit;
mod figures;
mod gap;
mod plan;
mod run;
mod stepper;
mod tails;
#[cfg(test)]
mod tests;

use super::context::Context;
use super::unported::Exhibit;
use super::unported::Lab;
use arm::Arm;
use comparison::Comparison;
use plan::Plan;

/// Makes the exhibit.
pub(super) fn make(context: &Context<'_>) -> anyhow::Result<Exhibit> {
    let lab = Lab::new(context.seed(), context.threads()).stopped_by(context.stop().clone());
    of_plan(&Plan::new(lab.seed()), &lab)
}

fn of_plan(plan: &Plan, lab: &Lab) -> anyhow::Result<Exhibit> {
    let (hear, stop) = (lab.hear(), lab.stop());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(lab.threads()).build()?;
    pool.install(|| {
        let comparison = Comparison::new(plan, &Arm::ALL, hear, stop)?;
        // The noise that SGDm has to do with: where its first run ended.
        let run = comparison.of(Arm::Sgdm).and_then(|sgdm| sgdm.runs.first());
        let tails = run.map(|run| tails::tails(plan, &plan.language(), &run.model, plan.seed));
        Ok(exhibit::exhibit(plan, &comparison, &tails.unwrap_or_default()))
    })
}
