//! All that determines the draws, with nothing left open.

use crate::recipe::CompleteRecipe;
use crate::request::Request;
use crate::start::StartingPoint;
use fuld::durable::fingerprint;
use std::collections::BTreeMap;

/// The settings of a run: what [`Request`] leaves open is settled.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// A formula, or the name of a potential.
    pub potential: String,
    /// Its dimension.
    pub dim: usize,
    /// Parameters of a potential with a name.
    pub param: BTreeMap<String, f64>,
    /// All the rest.
    pub recipe: CompleteRecipe,
}

impl Settings {
    /// As a request that leaves nothing open, which is how `config.toml` keeps them.
    pub fn written(&self) -> Request {
        let recipe = self.recipe.clone();
        Request {
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

    /// The first setting that is not the same elsewhere: as it is there, and as it is here.
    pub fn difference(&self, there: &Request) -> Option<(String, String)> {
        let (theirs, ours) = (there.text(), self.text());
        let only = |text: &str, other: &str| {
            let line = text.lines().find(|line| !other.lines().any(|known| known == *line));
            line.map(ToOwned::to_owned)
        };
        let (there, here) = (only(&theirs, &ours), only(&ours, &theirs));
        // A setting that is on one side only is named on the other as well.
        let missing = |line: &Option<String>| {
            line.as_ref().map(|line| format!("no {}", line.split(" =").next().unwrap_or(line)))
        };
        match (there.clone().or_else(|| missing(&here)), here.or_else(|| missing(&there))) {
            (Some(there), Some(here)) => Some((there, here)),
            _ => None,
        }
    }

    /// As TOML, in which it also is kept.
    pub fn text(&self) -> String {
        self.written().text()
    }

    /// A name for the folder: what one would tell runs apart by, and a hash of the rest.
    pub fn name(&self) -> String {
        let known = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let short: String = self.potential.chars().map(|c| if known(c) { c } else { '_' }).collect();
        let wordy = self.potential.chars().all(known) && short.len() > 2;
        let potential = if wordy { short } else { "formula".into() };
        let alpha = self.recipe.alpha.map(|alpha| format!("-alpha{}", alpha.get())).unwrap_or_default();
        let hash = fingerprint(self.text().as_bytes()) as u32;
        format!("{potential}-{}{alpha}-seed{}-{hash:08x}", self.recipe.system, self.recipe.seed)
    }

    /// In one line, for people.
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
