//! `fuld reproduce`: every figure of the paper, and what becomes of its claims.

use super::bar::style;
use super::output::Output;
use super::{INTERRUPTED, Usage};
use crate::interrupt;
use crate::reproduce::{Claim, Exhibit, Facts, Interrupted, Lab, Part, Verdict, parts, report};
use anyhow::Context;
use fuld::durable::replace;
use indicatif::ProgressBar;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Draw every figure of the paper from our own runs, and check its claims.
///
/// Writes a folder with each figure as SVG and PNG, its data as CSV and its settings as TOML, and one page, report.html, which
/// opens from disk: figure, what the paper says, what was measured, verdict. Verdicts are computed from the runs.
///
/// Needs no download: the networks are trained on the built-in digits unless there is --data.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fuld reproduce                          everything that needs no download, some minutes
  fuld reproduce --only fig3              one figure
  fuld reproduce --only fig1,fig2,law     some of them

Parts:
  fig1         stable densities and Lévy paths
  systems      every dynamics the paper names, on the double well
  fig2         the drift c and the field ∇G
  averages     Corollary 1: averages along decreasing steps
  fig3         invariant measures for the quartic potential
  fig4         the iterates, and which step is too large
  overdamped   the footnote on much friction
  conformal    the supplement's conformal Hamiltonian fields
  temperature  beyond the paper: every temperature
  orders       beyond the paper: integrators and their orders
  gaussian     beyond the paper: the Gaussian kinetic energy, working
  law          beyond the paper: error and speed of the law")]
pub(super) struct Reproduce {
    /// Folder for figures, data and report
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,
    /// Only these parts, separated by commas
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<String>,
    /// Of all randomness
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
}

impl Reproduce {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<ExitCode> {
        let chosen = self.chosen()?;
        std::fs::create_dir_all(&self.out).with_context(|| format!("making {}", self.out.display()))?;
        interrupt::listen()?;
        let start = Instant::now();
        let mut exhibits = Vec::new();
        let interrupted = self.make(&chosen, &mut exhibits, output)?;
        let page = self.page();
        let facts = Facts {
            seed: self.seed,
            command: self.command(),
            seconds: start.elapsed().as_secs_f64(),
            threads: if self.threads == 0 { available() } else { self.threads },
        };
        if !exhibits.is_empty() {
            replace(&page, report(&exhibits, &facts).as_bytes())
                .with_context(|| format!("writing {}", page.display()))?;
        }
        if interrupted {
            output.note(|| {
                format!("interrupted; {} of {} parts are in {}", exhibits.len(), chosen.len(), page.display())
            });
            return Ok(ExitCode::from(INTERRUPTED));
        }
        output
            .result(|| Told::of(&exhibits, &page, facts.seconds), || tell(&exhibits, &page, facts.seconds))?;
        Ok(ExitCode::SUCCESS)
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
        if self.seed != 0 {
            command += &format!(" --seed {}", self.seed);
        }
        command
    }

    /// Makes the exhibits and keeps each at once; says whether it was interrupted.
    fn make(&self, chosen: &[Part], exhibits: &mut Vec<Exhibit>, output: &Output) -> anyhow::Result<bool> {
        let lab = Lab { seed: self.seed, threads: self.threads };
        let weight = |part: &Part| (10.0 * part.seconds) as u64;
        let bar = output.bar(ProgressBar::new(chosen.iter().map(weight).sum()));
        bar.set_style(style("{bar:30} {percent} %, {elapsed} so far, ETA {eta}  {wide_msg}"));
        bar.enable_steady_tick(Duration::from_millis(200));
        for part in chosen {
            bar.set_message(part.shows);
            let start = Instant::now();
            let exhibit = match (part.make)(&lab) {
                Ok(exhibit) => exhibit,
                Err(error) if error.is::<Interrupted>() => return Ok(true),
                Err(error) => return Err(error.context(format!("making {}", part.id))),
            };
            exhibit
                .keep(&self.out)
                .with_context(|| format!("writing {}", self.out.join(part.id).display()))?;
            let line = format!(
                "{:12} {:30} {:>6.1} s  {}",
                part.id,
                marks(&exhibit.claims),
                start.elapsed().as_secs_f64(),
                exhibit.title
            );
            bar.suspend(|| output.note(|| line));
            bar.inc(weight(part));
            exhibits.push(exhibit);
        }
        bar.finish_and_clear();
        Ok(false)
    }
}

fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
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

fn tell(exhibits: &[Exhibit], page: &Path, seconds: f64) {
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
    report: &'a Path,
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
    fn of(exhibits: &'a [Exhibit], report: &'a Path, seconds: f64) -> Self {
        let told = |exhibit: &'a Exhibit| ToldExhibit {
            id: exhibit.id,
            title: &exhibit.title,
            claims: &exhibit.claims,
        };
        Self { report, seconds, exhibits: exhibits.iter().map(told).collect() }
    }
}
