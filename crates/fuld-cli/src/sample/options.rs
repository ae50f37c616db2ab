//! The options of `fuld sample` that make up a request.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use fuld::{Integrator, SystemKind};
use fuld_sample::{Named, SampleRequest, StartingPoint, by_name};
use std::ffi::OsStr;

/// The target and its settings. Every option that is left out has a default.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SampleOptions {
    /// A formula like "x^4/4 - x^2/2", or the name of a potential (--help lists them)
    #[arg(allow_hyphen_values = true)]
    potential: Option<String>,
    /// Dimension [default: the number of variables of the formula]
    #[arg(long, value_name = "D", help_heading = "Target")]
    dim: Option<usize>,
    /// Inverse temperature: the target is exp(-beta f) [default: 1]
    #[arg(long, allow_negative_numbers = true, help_heading = "Target")]
    beta: Option<f64>,
    /// The dynamics (--help lists them) [default: fuld]
    #[arg(
        long,
        help_heading = "Dynamics",
        value_parser = NameParser { summary: SystemKind::summary },
        hide_possible_values = true,
        value_name = "NAME"
    )]
    system: Option<SystemKind>,
    /// Integrator: exact, baoab, aboba, euler, tamed-euler [default: exact for fuld, fuld-gaussian
    /// and underdamped-langevin; else baoab, or tamed-euler for systems without velocity]
    #[arg(
        long,
        help_heading = "Dynamics",
        value_parser = NameParser { summary: Integrator::summary },
        hide_possible_values = true,
        value_name = "NAME"
    )]
    integrator: Option<Integrator>,
    /// Tail index of the noise, above 0 and at most 2, which is Gaussian [default: 1.8]
    #[arg(long, allow_negative_numbers = true, help_heading = "Dynamics")]
    alpha: Option<f64>,
    /// Friction [default: 2; exact draws new velocities in each iteration]
    #[arg(long, allow_negative_numbers = true, help_heading = "Dynamics")]
    gamma: Option<f64>,
    /// Keep step, scales and path of exact sampling as given, instead of adapting them during the
    /// warmup
    #[arg(long, help_heading = "Dynamics")]
    no_adapt: bool,
    /// Mean time of an iteration of exact sampling, at first if it is adapted [default: 1]
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = "Dynamics")]
    path: Option<f64>,
    /// Number of temperatures of parallel tempering, for densities with many modes: 8 is a good
    /// first choice [default: 1, none]
    #[arg(long, value_name = "N", help_heading = "Dynamics")]
    temper: Option<usize>,
    /// Step size eta, at first if it is adapted [default: 0.1 for exact, else 0.002 to 0.05,
    /// depending on the system]
    #[arg(
        long,
        visible_alias = "eta",
        value_name = "ETA",
        allow_negative_numbers = true,
        help_heading = "Dynamics"
    )]
    step: Option<f64>,
    /// Decrease the step as eta (1 + k/K)^-P, where k is the iteration [default: 0, constant]
    #[arg(long, value_name = "P", allow_negative_numbers = true, help_heading = "Dynamics")]
    step_power: Option<f64>,
    /// The K of --step-power [default: 1000]
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = "Dynamics")]
    half_life: Option<f64>,
    /// Scale of SaS noise in every coordinate of stochastic gradients, taken for a part of the
    /// driving noise [default: 0, unknown]
    #[arg(long, value_name = "SIGMA", allow_negative_numbers = true, help_heading = "Dynamics")]
    noise_scale: Option<f64>,
    /// Number of chains [default: 64]
    #[arg(long, value_name = "N", help_heading = "Amount")]
    chains: Option<usize>,
    /// Draws per chain [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Amount")]
    draws: Option<u64>,
    /// Iterations before the first draw [default: 500 for exact, else 100 times --thin]
    #[arg(long, value_name = "N", help_heading = "Amount")]
    warmup: Option<u64>,
    /// Iterations per draw [default: 1 for exact, else time 1 divided by the step; time 0.5 for
    /// systems without velocity]
    #[arg(long, value_name = "N", help_heading = "Amount")]
    thin: Option<u64>,
    /// Starting points: normal:SD for random ones, coordinates as in 1,-0.5, or those of each chain
    /// as in 1,-0.5;2,0 [default: normal:1]
    #[arg(long, value_name = "START", allow_hyphen_values = true, help_heading = "Amount")]
    start: Option<StartingPoint>,
    /// Also store velocities
    #[arg(long, help_heading = "Amount")]
    velocities: bool,
    /// Seed of all random numbers [default: that of the run in the folder, or a random one]
    #[arg(long, help_heading = "Amount")]
    seed: Option<u64>,
    /// Parameter of a named potential, as in a=2; may be repeated
    #[arg(long = "param", value_name = "NAME=NUMBER", value_parser = parameter, help_heading = "Target")]
    parameters: Vec<(String, f64)>,
}

impl SampleOptions {
    /// Returns the request that the options make.
    pub(super) fn request(&self) -> SampleRequest {
        let options = self.clone();
        SampleRequest {
            potential: options.potential,
            dim: options.dim,
            beta: options.beta,
            system: options.system,
            integrator: options.integrator,
            alpha: options.alpha,
            gamma: options.gamma,
            adapt: options.no_adapt.then_some(false),
            path: options.path,
            temper: options.temper,
            step: options.step,
            step_power: options.step_power,
            half_life: options.half_life,
            noise_scale: options.noise_scale,
            chains: options.chains,
            draws: options.draws,
            warmup: options.warmup,
            thin: options.thin,
            start: options.start,
            velocities: options.velocities,
            seed: options.seed,
            param: options.parameters.into_iter().collect(),
        }
    }
}

/// Parses a name like [`by_name`], so that the command line accepts the same spellings as a
/// configuration; completions list all names.
#[derive(Clone, Copy)]
struct NameParser<T> {
    summary: fn(T) -> &'static str,
}

impl<T: Named + Send + Sync> TypedValueParser for NameParser<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        StringValueParser::new().try_map(|name| by_name(&name)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let described =
            |&value: &T| PossibleValue::new(value.name_of()).help((self.summary)(value));
        Some(Box::new(T::all().iter().map(described)))
    }
}

fn parameter(text: &str) -> Result<(String, f64), String> {
    let wrong = || format!("expected NAME=NUMBER as in a=2, got {text:?}");
    let (name, number) = text.split_once('=').ok_or_else(wrong)?;
    Ok((name.trim().into(), number.trim().parse().map_err(|_| wrong())?))
}
