//! `fuld reproduce`: every figure of the paper, and what becomes of its claims.

use super::bar::style;
use super::output::Output;
use super::{INTERRUPTED, Usage};
use crate::interrupt;
use anyhow::Context;
use fuld::StopFlag;
use fuld::durable::replace;
use fuld_reproduce::{
    Claim, Exhibit, Facts, Interrupted, Lab, Make, News, Part, Training, Verdict, parts, report,
};
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Networks take this seed and some that follow.
const LARGEST_SEED: u64 = u64::MAX - 1_000;

/// Draw every figure of the paper from our own runs, and check its claims.
///
/// Writes a folder with each figure as SVG and PNG, its data as CSV and its settings as TOML, and one page, report.html, which
/// opens from disk: figure, what the paper says, what was measured, verdict. Verdicts are computed from the runs.
///
/// Needs no download: networks are trained on the built-in digits unless there is --data. Runs that are done are kept in the folder; from
/// them the report is made anew in a moment.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fuld reproduce                          everything that needs no download, some minutes
  fuld reproduce --only fig3              one figure
  fuld reproduce --only fig1,fig2,law     some of them
  fuld reproduce --data ~/data            the networks on MNIST and CIFAR-10 too, as far as they are there; some hours
  fuld reproduce --only calibration --data ~/data     one of the parts that train networks
  fuld reproduce --data ~/data --full     the paper's whole grid, five seeds: says how long, and goes on after a kill

Parts:
  fig1         stable densities and Lévy paths
  systems      every dynamics the paper names, on the double well
  fig2         the drift c and the field ∇G
  averages     Corollary 1: averages along decreasing steps
  fig3         invariant measures for the quartic potential
  fig4         the iterates, and which step is too large
  overdamped   the footnote on much friction
  networks     figures 5 to 8 and the supplement's networks, with controls
  calibration  beyond the paper: α and scale from the gradients themselves
  conformal    the supplement's conformal Hamiltonian fields
  temperature  beyond the paper: every temperature
  orders       beyond the paper: integrators and their orders
  gaussian     beyond the paper: the Gaussian kinetic energy, working
  text         beyond the paper: text with a power-law vocabulary
  law          beyond the paper: error and speed of the law")]
pub(super) struct Reproduce {
    /// Folder for figures, data and report
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,
    /// Only these parts, separated by commas
    #[arg(long, value_name = "PART", value_delimiter = ',', value_hint = clap::ValueHint::Other)]
    only: Vec<String>,
    /// Folder of MNIST, CIFAR-10 or both, as fuld data fetch leaves it, to train the networks on
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The paper's whole grid of networks: widths 32 to 512, depths 2 to 10, five seeds, on every data set there is; its 10,000 iterations
    /// for calibration too
    #[arg(long)]
    full: bool,
    /// Of all randomness
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=LARGEST_SEED))]
    seed: u64,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1024))]
    threads: Option<usize>,
}

impl Reproduce {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<ExitCode> {
        let chosen = self.chosen()?;
        self.check_data(&chosen)?;
        std::fs::create_dir_all(&self.out).with_context(|| format!("making {}", self.out.display()))?;
        let stop = interrupt::listen()?;
        let mut made = Made {
            exhibits: Vec::new(),
            page: self.page(),
            command: self.command(),
            seed: self.seed,
            threads: self.threads(),
            start: Instant::now(),
        };
        let whole = self.quick(&chosen, &mut made, output, &stop)?
            && self.trained(&chosen, &mut made, output, &stop)?;
        if !whole {
            let report = made.page.display().to_string();
            output.result(|| json!({ "status": "interrupted", "report": report }), || {})?;
            output.note(|| {
                "interrupted; what was finished is kept, and the same command trains no network twice".into()
            });
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let (exhibits, seconds) = (made.in_order(), made.seconds());
        output
            .result(|| Told::of(&exhibits, &made.page, seconds), || tell(&exhibits, &made.page, seconds))?;
        Ok(ExitCode::SUCCESS)
    }

    fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(all)
    }

    fn chosen(&self) -> anyhow::Result<Vec<Part>> {
        let all = parts();
        for id in &self.only {
            Usage::unless(all.iter().any(|part| part.id == id), || {
                let known: Vec<&str> = all.iter().map(|part| part.id).collect();
                format!("there is no part {id:?} to reproduce; --only takes {}", known.join(", "))
            })?;
        }
        Ok(all
            .into_iter()
            .filter(|part| self.only.is_empty() || self.only.iter().any(|id| part.id == id))
            .collect())
    }

    /// Says at once what would otherwise be noticed after minutes.
    fn check_data(&self, chosen: &[Part]) -> anyhow::Result<()> {
        let trained = |part: &Part| matches!(part.make, Make::Trained(_));
        for (given, option) in [(self.data.is_some(), "--data"), (self.full, "--full")] {
            Usage::unless(!given || chosen.iter().any(trained), || {
                let parts = parts();
                let those: Vec<&str> =
                    parts.iter().filter(|&part| trained(part)).map(|part| part.id).collect();
                format!(
                    "{option} is for the parts that train networks, which --only {} leaves out: add {}",
                    self.only.join(","),
                    those.join(" or ")
                )
            })?;
        }
        if let Some(folder) = &self.data {
            Training::find(folder)?;
        }
        Ok(())
    }

    /// Parts that were asked for alone have a page of their own: the whole report stays.
    fn page(&self) -> PathBuf {
        let name = if self.only.is_empty() {
            "report.html".into()
        } else {
            format!("report-{}.html", self.only.join("-"))
        };
        self.out.join(name)
    }

    fn command(&self) -> String {
        let mut command = "fuld reproduce".to_owned();
        if !self.only.is_empty() {
            command += &format!(" --only {}", self.only.join(","));
        }
        if let Some(data) = &self.data {
            command += &format!(" --data {}", data.display());
        }
        if self.full {
            command += " --full";
        }
        if self.seed != 0 {
            command += &format!(" --seed {}", self.seed);
        }
        command
    }

    /// Makes all that trains no networks; says whether it came to the end.
    fn quick(
        &self,
        chosen: &[Part],
        made: &mut Made,
        output: &Output,
        stop: &StopFlag,
    ) -> anyhow::Result<bool> {
        let quick = || {
            chosen.iter().enumerate().filter_map(|(place, part)| match part.make {
                Make::Exhibit(make) => Some((place, part, make)),
                Make::Trained(_) => None,
            })
        };
        let weight = |part: &Part| (10.0 * part.seconds) as u64;
        let bar = output.bar(ProgressBar::new(quick().map(|(_, part, _)| weight(part)).sum()));
        bar.set_style(style("{bar:30} {percent} %, {elapsed} so far, ETA {eta}  {wide_msg}"));
        bar.enable_steady_tick(Duration::from_millis(200));
        for (place, part, make) in quick() {
            bar.set_message(part.shows);
            let (start, before, weight) = (Instant::now(), bar.position(), weight(part));
            let moved = bar.clone();
            let lab = Lab::new(self.seed, self.threads())
                .stopped_by(stop.clone())
                .heard_by(move |share| moved.set_position(before + (share * weight as f64) as u64));
            let exhibit = match lab.make(make) {
                Ok(exhibit) => exhibit,
                Err(error) if error.is::<Interrupted>() => return Ok(false),
                Err(error) => return Err(error.context(format!("making {}", part.id))),
            };
            bar.suspend(|| output.note(|| line(&exhibit, start)));
            bar.set_position(before + weight);
            made.keep(place, exhibit, &self.out)?;
        }
        bar.finish_and_clear();
        Ok(true)
    }

    /// Makes what trains networks; says whether it came to the end.
    fn trained(
        &self,
        chosen: &[Part],
        made: &mut Made,
        output: &Output,
        stop: &StopFlag,
    ) -> anyhow::Result<bool> {
        let training =
            Training { data: self.data.clone(), full: self.full, seed: self.seed, threads: self.threads() };
        for (place, part) in chosen.iter().enumerate() {
            let Make::Trained(make) = part.make else { continue };
            let bar = output.bar(ProgressBar::new(1000));
            bar.set_style(style("{bar:30} {percent} % of the training, {elapsed} so far, ETA {eta}"));
            let start = Instant::now();
            let hear = |news: News<'_>| {
                match news {
                    News::Plan(plan) => bar.suspend(|| output.note(|| plan.into())),
                    News::Done(share) => bar.set_position((1000.0 * share) as u64),
                }
                stop.control()
            };
            let Some(exhibits) = make(&training, &self.out, &hear)? else { return Ok(false) };
            bar.finish_and_clear();
            for exhibit in exhibits {
                output.note(|| line(&exhibit, start));
                made.keep(place, exhibit, &self.out)?;
            }
        }
        Ok(true)
    }
}

/// What has been made so far.
struct Made {
    /// Each with its place in the report.
    exhibits: Vec<(usize, Exhibit)>,
    page: PathBuf,
    command: String,
    seed: u64,
    threads: usize,
    start: Instant,
}

impl Made {
    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn in_order(&self) -> Vec<&Exhibit> {
        let mut all: Vec<_> = self.exhibits.iter().collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, exhibit)| exhibit).collect()
    }

    /// Writes an exhibit, and the report anew: whatever happens next, there is one.
    fn keep(&mut self, place: usize, exhibit: Exhibit, out: &Path) -> anyhow::Result<()> {
        exhibit.keep(out).with_context(|| format!("writing {}", out.join(exhibit.id).display()))?;
        self.exhibits.push((place, exhibit));
        let facts = Facts {
            seed: self.seed,
            command: self.command.clone(),
            seconds: self.seconds(),
            threads: self.threads,
        };
        replace(&self.page, report(&self.in_order(), &facts).as_bytes())
            .with_context(|| format!("writing {}", self.page.display()))
    }
}

fn line(exhibit: &Exhibit, start: Instant) -> String {
    let (id, marks, seconds) = (exhibit.id, marks(&exhibit.claims), start.elapsed().as_secs_f64());
    format!("{id:16} {marks:26} {seconds:>6.1} s  {}", exhibit.title)
}

fn marks(claims: &[Claim]) -> String {
    let count = |verdict: Verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let texts = [Verdict::Holds, Verdict::InPart, Verdict::Fails].map(|verdict| (count(verdict), verdict));
    let texts: Vec<String> = texts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, verdict)| format!("{count} {}", short(verdict)))
        .collect();
    texts.join(", ")
}

fn short(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "hold",
        Verdict::InPart => "in part",
        Verdict::Fails => "do not",
    }
}

fn tell(exhibits: &[&Exhibit], page: &Path, seconds: f64) {
    for exhibit in exhibits {
        println!("\n{}", exhibit.title);
        for claim in &exhibit.claims {
            println!("  {:13}  {}", claim.verdict, claim.says);
            println!("  {:13}  {}", "", claim.measured);
        }
    }
    let count =
        |verdict: Verdict| exhibits.iter().flat_map(|e| &e.claims).filter(|c| c.verdict == verdict).count();
    println!(
        "\n{} claims hold, {} in part, {} do not; {seconds:.0} s",
        count(Verdict::Holds),
        count(Verdict::InPart),
        count(Verdict::Fails)
    );
    println!("report: {}", page.display());
}

/// What machines are told.
#[derive(Serialize)]
struct Told<'a> {
    status: &'a str,
    report: String,
    seconds: f64,
    exhibits: Vec<ToldExhibit<'a>>,
}

#[derive(Serialize)]
struct ToldExhibit<'a> {
    id: &'a str,
    title: &'a str,
    claims: &'a [Claim],
}

impl<'a> Told<'a> {
    fn of(exhibits: &[&'a Exhibit], report: &'a Path, seconds: f64) -> Self {
        let told = |exhibit: &&'a Exhibit| ToldExhibit {
            id: exhibit.id,
            title: &exhibit.title,
            claims: &exhibit.claims,
        };
        Self {
            status: "finished",
            report: report.display().to_string(),
            seconds,
            exhibits: exhibits.iter().map(told).collect(),
        }
    }
}
