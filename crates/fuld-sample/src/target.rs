//! The target of a run: a formula, a named potential, or any other potential.

use crate::potentials::{entry, potential_by_name};
use crate::target_error::{Outside, TargetError};
use fuld::potential::Formula;
use fuld::{Integrator, Potential, Run, Start};
use std::fmt;

/// A potential with the names of its coordinates.
///
/// ```
/// use fuld_sample::Target;
/// let well = Target::new("double_well", Some(3), &[("b", 2.0)]).unwrap();
/// assert_eq!((well.potential().dim(), well.name(2)), (3, "x3"));
/// let curved = Target::new("(1 - x)^2 + 5*(y - x^2)^2", None, &[]).unwrap();
/// assert_eq!((curved.potential().dim(), curved.name(1)), (2, "y"));
/// ```
pub struct Target {
    potential: Box<dyn Potential>,
    /// f of one coordinate, where f(x) is its sum over all of them.
    one: Option<Box<dyn Potential>>,
    /// Names of the coordinates.
    names: Vec<String>,
    /// A coordinate on which a formula does not depend.
    flat: Option<usize>,
}

impl Target {
    /// Reads a formula, or the name of a potential with its parameters.
    ///
    /// Without `dim`, the dimension is the number of variables of the formula, or the default of
    /// the named potential.
    pub fn new(
        text: &str,
        dim: Option<usize>,
        params: &[(&str, f64)],
    ) -> Result<Self, TargetError> {
        // Words, rather than variables with a minus between them, are a misspelt name and not a
        // formula.
        let mut words = text.split(['_', '-', ' ']);
        let wordy = words.clone().all(|word| word.chars().all(|c| c.is_ascii_alphabetic()))
            && words.any(|word| word.len() > 2);
        match entry(text) {
            Ok(entry) => {
                let potential = potential_by_name(entry.name, dim.unwrap_or(entry.dim), params)?;
                let one = if entry.separable {
                    Some(potential_by_name(entry.name, 1, params)?)
                } else {
                    None
                };
                Ok(Self { one, ..Self::from_potential(potential) })
            }
            Err(unknown) if wordy => Err(unknown.into()),
            Err(_) => Self::from_formula(text, dim, params),
        }
    }

    fn from_formula(
        text: &str,
        dim: Option<usize>,
        params: &[(&str, f64)],
    ) -> Result<Self, TargetError> {
        if let Some((name, _)) = params.first() {
            return Err(TargetError::FormulaParameter((*name).to_owned()));
        }
        let formula = match dim {
            Some(dim) => Formula::with_dim(text, dim)?,
            None => Formula::parse(text)?,
        };
        // There are four letters; more coordinates are numbered.
        let names: Option<Vec<String>> =
            (formula.dim() <= 4).then(|| (0..formula.dim()).map(|i| formula.variable(i)).collect());
        let flat = (0..formula.dim()).find(|&i| !formula.depends_on(i));
        let target = Self::from_potential(Box::new(formula));
        Ok(Self { names: names.unwrap_or(target.names), flat, ..target })
    }

    /// Creates a target from any potential. Its coordinates are called x, or x1, x2, … if there are
    /// several.
    pub fn from_potential(potential: Box<dyn Potential>) -> Self {
        let dim = potential.dim();
        let name = |i: usize| if dim == 1 { "x".into() } else { format!("x{}", i + 1) };
        Self { names: (0..dim).map(name).collect(), potential, one: None, flat: None }
    }

    /// Returns the potential f.
    pub fn potential(&self) -> &dyn Potential {
        &*self.potential
    }

    /// Returns the dimension.
    pub fn dim(&self) -> usize {
        self.names.len()
    }

    /// Returns the function of one coordinate whose sum over all coordinates is f, if f is known to
    /// be such a sum.
    pub fn one_coordinate(&self) -> Option<&dyn Potential> {
        if self.dim() == 1 { Some(&*self.potential) } else { self.one.as_deref() }
    }

    /// Returns the name of a coordinate, as in the formula.
    pub fn name(&self, coordinate: usize) -> &str {
        &self.names[coordinate]
    }

    /// Returns the name of a coordinate on which f does not depend, so that exp(−βf) cannot be
    /// normalised. It is known for formulas only.
    pub fn flat_coordinate(&self) -> Option<&str> {
        self.flat.map(|i| self.name(i))
    }

    /// Returns the names of all coordinates.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Checks that f is finite where every chain of a run starts. A gradient may exist even where
    /// it is not.
    pub fn check_starts(&self, run: &Run) -> Result<(), Outside> {
        // Exact sampling draws random starts again.
        if run.integrator == Integrator::Exact && matches!(run.start, Start::Gaussian(_)) {
            return Ok(());
        }
        // All chains start at one point.
        let differ = if matches!(run.start, Start::Point(_)) { 1 } else { run.chains };
        let starts = (0..differ).map(|chain| run.start_of_chain(chain, self.dim()));
        let mut outside = starts.filter(|start| !self.potential.value(start).is_finite());
        let Some(first) = outside.next() else { return Ok(()) };
        let bad = if differ == 1 { run.chains } else { 1 + outside.count() };
        let at: Vec<String> = first.iter().map(|x| format!("{x:.4}")).collect();
        Err(Outside { bad, chains: run.chains, at: at.join(",") })
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a potential of {}", self.names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuld::potential::{FromFn1, Harmonic};
    use fuld::{Beta, Friction, Schedule, System, UnderdampedGaussian};

    #[test]
    fn names_and_formulas() {
        let read = |text: &str| Target::new(text, None, &[]);
        let well = Target::new("double_well", Some(3), &[]).unwrap();
        assert_eq!((well.dim(), well.name(2)), (3, "x3"));
        assert_eq!(well.one_coordinate().unwrap().dim(), 1);
        let plane = read("x^2 + y^2").unwrap();
        assert_eq!((plane.name(1), plane.one_coordinate().is_none()), ("y", true));
        assert_eq!(read("x").unwrap().names(), ["x"]);
        let second = read("x2^2").unwrap();
        assert_eq!(
            (second.names(), second.flat_coordinate()),
            (&["x1".into(), "x2".into()][..], Some("x1"))
        );
        assert_eq!(plane.flat_coordinate(), None);
        assert_eq!(read("x - y").unwrap().names(), ["x", "y"]);
        assert_eq!((read("funnel").unwrap().dim(), read("logistic").unwrap().dim()), (2, 31));
        for (misspelt, meant) in
            [("doublewell", "double_well"), ("Double-Wel", "double_well"), ("funel", "funnel")]
        {
            let error = read(misspelt).unwrap_err().to_string();
            assert!(error.contains(&format!("did you mean `{meant}`?")), "{error}");
        }
        for (formula, suggestion) in [("x + sine(x)", "sin"), ("x + lgo(x)", "log")] {
            let error = read(formula).unwrap_err().to_string();
            let (first, rest) = error.split_once('\n').unwrap();
            assert!(first.ends_with(&format!(": did you mean {suggestion}?")), "{error}");
            assert_eq!(rest, format!("  {formula}\n      ^"));
        }
        let error = read("x^2 +").unwrap_err().to_string();
        assert!(error.starts_with("this formula cannot be read: "), "{error}");
    }

    #[test]
    fn parameters_are_for_names() {
        let deeper = Target::new("Double-Well", None, &[("b", 2.0)]).unwrap();
        assert_eq!(deeper.potential().value(&[1.0]), 0.25 - 1.0);
        let error = Target::new("x^2", None, &[("b", 2.0)]).unwrap_err().to_string();
        assert_eq!(
            error,
            "parameters like `b` are for potentials with names; in a formula write the number itself"
        );
    }

    #[test]
    fn any_potential_will_do() {
        let line = Target::from_potential(Box::new(FromFn1::new(|x: f64| x * x, |x: f64| 2.0 * x)));
        assert_eq!((line.names(), line.one_coordinate().is_some()), (&["x".to_owned()][..], true));
        let plane = Target::from_potential(Box::new(Harmonic::isotropic(2, 1.0).unwrap()));
        assert_eq!((plane.name(1), plane.one_coordinate().is_none()), ("x2", true));
    }

    #[test]
    fn starts_outside_are_counted() {
        let half_line = Target::new("x - log(x)", None, &[]).unwrap();
        let parameters =
            UnderdampedGaussian { gamma: Friction::new(1.0).unwrap(), beta: Beta::ONE };
        let system = System::underdamped_langevin(parameters).unwrap();
        let run = Run {
            chains: 64,
            ..Run::new(system, Integrator::Baoab, Schedule::constant(0.1).unwrap())
        };
        let at = |start| half_line.check_starts(&Run { start, ..run.clone() });
        assert!(at(Start::Point(vec![1.0])).is_ok());
        let error = at(Start::Point(vec![-1.0])).unwrap_err();
        assert_eq!((error.bad, error.chains, error.at.as_str()), (64, 64, "-1.0000"));
        // Each is on either side with equal chance: all on one has a chance of 2⁻⁶³.
        assert!((1..64).contains(&at(Start::Gaussian(1.0)).unwrap_err().bad));
    }
}
