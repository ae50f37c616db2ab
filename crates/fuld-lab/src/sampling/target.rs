//! What is sampled from: a formula, or a potential with a name.

use super::SamplingError;
use fuld::potential::{Formula, catalogue, named};
use fuld::{Potential, Run, Start};
use std::collections::BTreeMap;

/// A potential, and what is known of it.
pub struct Target {
    potential: Box<dyn Potential>,
    /// f of one coordinate, where f(x) is its sum over all of them.
    one: Option<Box<dyn Potential>>,
    /// Names of the coordinates.
    names: Vec<String>,
}

/// Potentials with names that are a sum of one function over the coordinates.
const SEPARABLE: [&str; 3] = ["double_well", "harmonic", "cauchy"];

impl Target {
    /// Reads a formula, or a name with parameters.
    pub fn new(
        text: &str,
        dim: Option<usize>,
        parameters: &BTreeMap<String, f64>,
    ) -> Result<Self, SamplingError> {
        let name = text.trim().to_lowercase().replace(['-', ' '], "_");
        let known = catalogue().iter().any(|entry| entry.name == name);
        // Words that are no variables: a name that was misspelt, not a formula.
        let wordy = name.len() > 2 && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        if known || wordy {
            let parameters: Vec<(&str, f64)> = parameters.iter().map(|(k, v)| (k.as_str(), *v)).collect();
            let dim = dim.unwrap_or(match name.as_str() {
                "rosenbrock" | "funnel" => 2,
                "logistic" => 31,
                _ => 1,
            });
            let potential = fuld::potential::named(&name, dim, &parameters)?;
            let separable = SEPARABLE.contains(&name.as_str());
            let one = if separable { Some(named(&name, 1, &parameters)?) } else { None };
            return Ok(Self::of(potential, one, None));
        }
        if let Some(parameter) = parameters.keys().next() {
            return Err(SamplingError::FormulaParameter(parameter.clone()));
        }
        let formula = match dim {
            Some(dim) => Formula::with_dim(text, dim)?,
            None => Formula::parse(text)?,
        };
        // There are four letters; more coordinates are counted.
        let names = (formula.dim() <= 4).then(|| (0..formula.dim()).map(|i| formula.variable(i)).collect());
        Ok(Self::of(Box::new(formula), None, names))
    }

    fn of(
        potential: Box<dyn Potential>,
        one: Option<Box<dyn Potential>>,
        names: Option<Vec<String>>,
    ) -> Self {
        let dim = potential.dim();
        let name = |i: usize| if dim == 1 { "x".into() } else { format!("x{}", i + 1) };
        let names = names.unwrap_or_else(|| (0..dim).map(name).collect());
        Self { names, potential, one }
    }

    /// f.
    pub fn potential(&self) -> &dyn Potential {
        &*self.potential
    }

    /// Refuses chains that would start where f has no value: their gradient may exist all the same, and lead nowhere.
    pub fn check_starts(&self, run: &Run) -> Result<(), SamplingError> {
        let dim = self.potential.dim();
        // All of them are at the same place.
        let differ = if matches!(run.start, Start::Point(_)) { 1 } else { run.chains };
        let starts = (0..differ).map(|chain| run.start_of_chain(chain, dim));
        let mut outside = starts.filter(|start| !self.potential.value(start).is_finite());
        let Some(first) = outside.next() else { return Ok(()) };
        let bad = if differ == 1 { run.chains } else { 1 + outside.count() };
        let at: Vec<String> = first.iter().map(|x| format!("{x:.4}")).collect();
        Err(SamplingError::Outside { bad, chains: run.chains, at: at.join(",") })
    }

    /// The function of one coordinate whose sum f is, if it is known to be one.
    pub fn one_coordinate(&self) -> Option<&dyn Potential> {
        if self.potential.dim() == 1 { Some(&*self.potential) } else { self.one.as_deref() }
    }

    /// The name of a coordinate, as in the formula.
    pub fn name(&self, coordinate: usize) -> &str {
        &self.names[coordinate]
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a potential of {}", self.names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_formulas() {
        let none = BTreeMap::new();
        let well = Target::new("double_well", Some(3), &none).unwrap();
        assert_eq!((well.potential().dim(), well.name(2)), (3, "x3"));
        assert_eq!(well.one_coordinate().unwrap().dim(), 1);
        let plane = Target::new("x^2 + y^2", None, &none).unwrap();
        assert_eq!((plane.name(1), plane.one_coordinate().is_none()), ("y", true));
        assert!(Target::new("x", None, &none).is_ok());
        let counted = Target::new("x2^2", None, &none).unwrap();
        assert_eq!((counted.name(0), counted.name(1)), ("x1", "x2"));
        let misspelt = Target::new("doublewell", None, &none).unwrap_err().to_string();
        assert!(misspelt.contains("did you mean `double_well`?"), "{misspelt}");
        let parameters = BTreeMap::from([("b".to_owned(), 2.0)]);
        let deeper = Target::new("Double-Well", None, &parameters).unwrap();
        assert_eq!(deeper.potential().value(&[1.0]), 0.25 - 1.0);
        assert!(Target::new("x^2", None, &parameters).unwrap_err().to_string().contains("--param b"));
    }
}
