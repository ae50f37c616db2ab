//! Potentials by name, with their parameters and default dimensions.

use crate::names::{UnknownName, find, nearest};
use crate::target_error::TargetError;
use fuld::potential::{
    Cauchy, DoubleWell, Funnel, GaussianMixture, Harmonic, LogisticRegression, Potential,
    PotentialError, Rosenbrock,
};

type Built = Result<Box<dyn Potential>, PotentialError>;

/// A named potential.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NamedPotential {
    /// The name.
    pub name: &'static str,
    /// f, for readers.
    pub formula: &'static str,
    /// The parameters with their defaults.
    pub parameters: &'static [(&'static str, f64)],
    /// The default dimension.
    pub dim: usize,
    /// Whether f is the sum of one function over the coordinates, in any dimension.
    pub separable: bool,
    build: fn(usize, &[f64]) -> Built,
}

/// Returns all named potentials.
pub fn potentials() -> &'static [NamedPotential] {
    &POTENTIALS
}

static POTENTIALS: [NamedPotential; 7] = [
    NamedPotential {
        name: "double_well",
        formula: "sum_i a*x_i^4/4 - b*x_i^2/2",
        parameters: &[("a", 1.0), ("b", 1.0)],
        dim: 1,
        separable: true,
        build: |dim, p| boxed(DoubleWell::new(dim, p[0], p[1])),
    },
    NamedPotential {
        name: "harmonic",
        formula: "lambda*|x|^2/2",
        parameters: &[("lambda", 1.0)],
        dim: 1,
        separable: true,
        build: |dim, p| boxed(Harmonic::isotropic(dim, p[0])),
    },
    NamedPotential {
        name: "cauchy",
        formula: "sum_i log(1 + x_i^2/scale^2)",
        parameters: &[("scale", 1.0)],
        dim: 1,
        separable: true,
        build: |dim, p| boxed(Cauchy::new(dim, p[0])),
    },
    NamedPotential {
        name: "mixture",
        formula: "-log(weight*N(x; separation/2, sd) + (1 - weight)*N(x; -separation/2, sd)), apart along the first axis",
        parameters: &[("separation", 6.0), ("sd", 1.0), ("weight", 0.5)],
        dim: 1,
        separable: false,
        build: |dim, p| boxed(two_modes(dim, p[0], p[1], p[2])),
    },
    NamedPotential {
        name: "rosenbrock",
        formula: "sum_{i<d} (a - x_i)^2 + b*(x_{i+1} - x_i^2)^2",
        parameters: &[("a", 1.0), ("b", 100.0)],
        dim: 2,
        separable: false,
        build: |dim, p| boxed(Rosenbrock::new(dim, p[0], p[1])),
    },
    NamedPotential {
        name: "funnel",
        formula: "x_1^2/(2*scale^2) + (d - 1)*x_1/2 + exp(-x_1)*sum_{i>1} x_i^2/2",
        parameters: &[("scale", 3.0)],
        dim: 2,
        separable: false,
        build: |dim, p| boxed(Funnel::new(dim, p[0])),
    },
    NamedPotential {
        name: "logistic",
        formula: "sum_j log(1 + exp(-y_j*<x_j, b>)) + |b|^2/(2*prior_sd^2), d = 31; batch = 0 takes all rows",
        parameters: &[("prior_sd", 1.0), ("batch", 0.0)],
        dim: 31,
        separable: false,
        build: |dim, p| boxed(logistic(dim, p[0], p[1])),
    },
];

/// Builds the potential called `name` in `dim` dimensions, with the given parameters in place of
/// the defaults.
///
/// Case is ignored in the name, and hyphens, underscores and blanks are equivalent. The error for a
/// name or parameter that does not exist suggests the closest one and lists all.
pub(crate) fn potential_by_name(
    name: &str,
    dim: usize,
    params: &[(&str, f64)],
) -> Result<Box<dyn Potential>, TargetError> {
    let entry = entry(name)?;
    let mut values: Vec<f64> = entry.parameters.iter().map(|&(_, value)| value).collect();
    for &(name, value) in params {
        let Some(i) = entry.parameters.iter().position(|&(known, _)| known == name) else {
            let known: Vec<_> = entry.parameters.iter().map(|&(known, _)| known).collect();
            let nearest = nearest(name, known.iter().copied());
            let potential = entry.name;
            return Err(TargetError::UnknownParameter {
                potential,
                name: name.to_owned(),
                nearest,
                known,
            });
        };
        values[i] = value;
    }
    Ok((entry.build)(dim, &values)?)
}

/// Returns the entry with this name.
pub(crate) fn entry(name: &str) -> Result<&'static NamedPotential, UnknownName> {
    find("potential", name, &POTENTIALS, |entry| entry.name)
}

fn boxed<P: Potential + 'static>(potential: Result<P, PotentialError>) -> Built {
    Ok(Box::new(potential?))
}

fn two_modes(
    dim: usize,
    separation: f64,
    sd: f64,
    weight: f64,
) -> Result<GaussianMixture, PotentialError> {
    if !(weight > 0.0 && weight < 1.0) {
        let (parameter, allowed) = ("weight", "between 0 and 1");
        return Err(PotentialError::Parameter {
            potential: "mixture",
            parameter,
            allowed,
            given: weight,
        });
    }
    let mean = |at: f64| (0..dim).map(|i| if i == 0 { at } else { 0.0 }).collect();
    GaussianMixture::new(
        &[weight, 1.0 - weight],
        &[mean(0.5 * separation), mean(-0.5 * separation)],
        &[sd, sd],
    )
}

fn logistic(dim: usize, prior_sd: f64, batch: f64) -> Result<LogisticRegression, PotentialError> {
    let posterior = LogisticRegression::breast_cancer(prior_sd)?;
    if dim != posterior.dim() {
        let (potential, fixed) = ("logistic", posterior.dim());
        return Err(PotentialError::FixedDimension { potential, fixed, given: dim });
    }
    if batch == 0.0 {
        return Ok(posterior);
    }
    if batch.fract() != 0.0 || !(1.0..=posterior.len() as f64).contains(&batch) {
        let (parameter, allowed) = ("batch", "a whole number up to 569, or 0 for all rows");
        return Err(PotentialError::Parameter {
            potential: "logistic",
            parameter,
            allowed,
            given: batch,
        });
    }
    posterior.with_batch(batch as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str, dim: usize, params: &[(&str, f64)]) -> String {
        potential_by_name(name, dim, params).err().expect("an error").to_string()
    }

    #[test]
    fn every_entry_builds() {
        for entry in potentials() {
            let dim = entry.dim;
            assert_eq!(
                potential_by_name(entry.name, dim, &[]).unwrap().dim(),
                dim,
                "{}",
                entry.name
            );
            assert_eq!(potential_by_name(entry.name, dim, entry.parameters).unwrap().dim(), dim);
        }
        assert!(potential_by_name(" Double-Well", 3, &[]).is_ok());
    }

    /// f(x, y) = g(x) + g(y) for the separable potentials, and for no others.
    #[test]
    fn separable_potentials_are_sums() {
        for entry in potentials().iter().filter(|entry| entry.dim <= 2) {
            let two = potential_by_name(entry.name, 2, &[]).unwrap();
            let of = |x: f64| two.value(&[x, 0.3]) - two.value(&[x, -1.2]);
            let swapped = two.value(&[0.7, 0.3]) - two.value(&[0.3, 0.7]);
            let sum = (of(0.7) - of(-0.4)).abs() < 1e-12 && swapped.abs() < 1e-12;
            assert_eq!(sum, entry.separable, "{}", entry.name);
        }
    }

    #[test]
    fn unknown_names_have_suggestions() {
        assert_eq!(
            message("roesnbrock", 2, &[]),
            "no potential is called `roesnbrock` (did you mean `rosenbrock`?); \
             there are double_well, harmonic, cauchy, mixture, rosenbrock, funnel, logistic"
        );
        assert_eq!(
            message("mixture", 1, &[("sds", 1.0)]),
            "mixture has no parameter `sds` (did you mean `sd`?); it has separation, sd, weight"
        );
        assert!(message("quux", 1, &[]).starts_with("no potential is called `quux`; there are"));
    }

    #[test]
    fn bad_parameters_are_named() {
        assert_eq!(
            message("cauchy", 1, &[("scale", -1.0)]),
            "the parameter scale of the Cauchy potential must be positive and finite, got -1"
        );
        assert_eq!(
            message("funnel", 1, &[]),
            "the funnel requires a dimension of at least 2, got 1"
        );
        assert_eq!(
            message("logistic", 3, &[]),
            "logistic has the dimension of its data, 31, got 3"
        );
        for batch in [0.5, -1.0, 1e9, f64::NAN, f64::INFINITY] {
            assert!(message("logistic", 31, &[("batch", batch)]).contains("batch"));
        }
        for entry in potentials() {
            for &(name, _) in entry.parameters {
                assert!(
                    potential_by_name(entry.name, 31, &[(name, f64::NAN)]).is_err(),
                    "{} {name}",
                    entry.name
                );
            }
            assert!(potential_by_name(entry.name, 0, &[]).is_err());
        }
    }
}
