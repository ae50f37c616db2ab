//! The complete specification of a sampling run: everything its draws depend on.

use crate::recipe::CompleteRecipe;
use crate::request::SampleRequest;
use crate::start::StartingPoint;
use fuld::durable::fingerprint;
use std::collections::BTreeMap;

/// A [`SampleRequest`] with its defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleSpec {
    /// A formula, or the name of a potential.
    pub potential: String,
    /// The dimension.
    pub dim: usize,
    /// Parameters of a named potential.
    pub param: BTreeMap<String, f64>,
    /// All other settings.
    pub recipe: CompleteRecipe,
}

impl SampleSpec {
    /// Returns the specification as a complete request, the form in which `config.toml` stores it.
    pub fn request(&self) -> SampleRequest {
        let recipe = self.recipe.clone();
        SampleRequest {
            potential: Some(self.potential.clone()),
            dim: Some(self.dim),
            beta: recipe.beta.map(f64::from),
            system: Some(recipe.system),
            integrator: Some(recipe.integrator),
            alpha: recipe.alpha.map(f64::from),
            gamma: recipe.gamma.map(f64::from),
            step: Some(recipe.step.get()),
            step_power: recipe.step_power,
            half_life: recipe.half_life,
            chains: Some(recipe.chains),
            draws: Some(recipe.draws),
            warmup: Some(recipe.warmup),
            thin: Some(recipe.thin),
            start: Some(StartingPoint(recipe.start)),
            velocities: recipe.velocities,
            seed: Some(recipe.seed),
            param: self.param.clone(),
        }
    }

    /// Returns the first setting that differs from a stored request: as stored, and as specified here.
    pub fn difference(&self, stored: &SampleRequest) -> Option<(String, String)> {
        let (theirs, ours) = (stored.text(), self.text());
        let only = |text: &str, other: &str| {
            let line = text.lines().find(|line| !other.lines().any(|known| known == *line));
            line.map(ToOwned::to_owned)
        };
        let (there, here) = (only(&theirs, &ours), only(&ours, &theirs));
        // A setting on one side only is named on the other side as well.
        let missing = |line: &Option<String>| {
            line.as_ref().map(|line| format!("no {}", line.split(" =").next().unwrap_or(line)))
        };
        match (there.clone().or_else(|| missing(&here)), here.or_else(|| missing(&there))) {
            (Some(there), Some(here)) => Some((there, here)),
            _ => None,
        }
    }

    /// Returns the specification as TOML.
    pub fn text(&self) -> String {
        self.request().text()
    }

    /// Returns a folder name: potential, system, tail index, seed, and a hash of the whole specification.
    pub fn name(&self) -> String {
        let known = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_word = self.potential.chars().all(known) && self.potential.len() > 2;
        let potential = if is_word { &self.potential } else { "formula" };
        let alpha = self.recipe.alpha.map(|alpha| format!("-alpha{}", alpha.get())).unwrap_or_default();
        let hash = fingerprint(self.text().as_bytes());
        format!("{potential}-{}{alpha}-seed{}-{hash:016x}", self.recipe.system, self.recipe.seed)
    }

    /// Returns the main settings in one line.
    pub fn headline(&self) -> String {
        let recipe = &self.recipe;
        let mut text = format!("{}: {}", self.potential, recipe.system);
        let numbers = [
            ("alpha", recipe.alpha.map(f64::from)),
            ("beta", recipe.beta.map(f64::from)),
            ("gamma", recipe.gamma.map(f64::from)),
        ];
        for (name, value) in numbers.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)))
        {
            text += &format!(", {name} {value}");
        }
        text += &format!("; {}, step {}", recipe.integrator.name(), recipe.step.get());
        if let (Some(power), Some(half_life)) = (recipe.step_power, recipe.half_life) {
            text += &format!(" (1 + k/{half_life})^-{power}");
        }
        text
    }
}
