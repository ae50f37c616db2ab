//! `fuld reproduce`: arguments, progress bar and printing. The work is done by `fuld-reproduce`.

use super::Usage;
use super::compute_args::ComputeArgs;
use super::data_args::DataArgs;
use super::folder_args::FolderArgs;
use super::output::Output;
use super::progress_style::progress_style;
use crate::exit_code::INTERRUPTED;
use crate::interrupt;
use fuld_reproduce::{
    Claim, Event, Exception, Presentation, Report, Reproduction, Source, Tally, Verdict, exhibits,
};
use indicatif::{FormattedDuration, ProgressBar, ProgressState};
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Training takes this seed and some that follow, and TOML integers end at 2⁶³ − 1.
const LARGEST_SEED: u64 = i64::MAX as u64 - 1_000;

/// Reproduce every figure of the paper from our own runs, and test its claims.
///
/// Writes a folder with one page, report.html, and for each exhibit its figures as SVG and PNG, its
/// tables as CSV and its settings as TOML. Every verdict is computed from the tables.
///
/// Needs no download: networks are trained on the built-in digits unless --data names other data
/// sets. Exhibits that are in the folder are used again if their settings and the versions of the
/// code that made them are unchanged, so the same command continues after an interruption, and
/// prints the result once everything is there.
#[derive(Debug, clap::Args)]
#[command(
    after_help = after_help(),
    mut_arg("out", |arg| arg.help("Folder for the report [default: reproduction]")),
    mut_arg("fresh", |arg| arg.help("Delete the chosen exhibits from the folder, and make them again"))
)]
pub(super) struct Reproduce {
    /// Only these exhibits, separated by commas
    #[arg(long, value_name = "ID", value_delimiter = ',', value_hint = clap::ValueHint::Other)]
    only: Vec<String>,
    /// Train the paper's whole grid of networks: widths 32 to 512, depths 2 to 10, five seeds; its
    /// 10,000 iterations and five seeds for the guard too
    #[arg(long)]
    full: bool,
    /// Seed of all randomness [default: 0]
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=LARGEST_SEED))]
    seed: Option<u64>,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    compute: ComputeArgs,
}

fn after_help() -> String {
    let mut text = "\
Examples:
  fuld reproduce                            everything that needs no download, a minute or two
  fuld reproduce --only fig3                one exhibit
  fuld reproduce --only fig1,fig2,law       some of them
  fuld reproduce --data digits,mnist        networks on MNIST too (after: fuld data fetch mnist)
  fuld reproduce --data ~/data              networks on the data sets in a folder, some hours
  fuld reproduce --data ~/data --full --device cuda
                                            the paper's whole grid, five seeds, on a GPU
  fuld reproduce --resume --out DIR         continue what was interrupted

Exhibits:
"
    .to_owned();
    for exhibit in exhibits() {
        text += &format!("  {:<12} {}\n", exhibit.id, exhibit.shows);
    }
    text.trim_end().to_owned()
}

impl Reproduce {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<ExitCode> {
        let threads = self.compute.threads.count();
        let out = self.folder.out.clone().unwrap_or_else(|| "reproduction".into());
        let request = if self.folder.resume { self.resumed(&out)? } else { self.requested()? };
        ComputeArgs::check(request.device)?;
        let stop = interrupt::listen()?;
        let bar = output.bar(ProgressBar::new(1000));
        // The time left when it was last known, which counts down until it is known again.
        let left: Arc<Mutex<Option<(Duration, Instant)>>> = Arc::default();
        let shown = Arc::clone(&left);
        let time_left = move |_: &ProgressState, text: &mut dyn Write| {
            let left = *shown.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = match left {
                Some((left, since)) => {
                    let left = left.saturating_sub(since.elapsed()).max(Duration::from_secs(1));
                    write!(text, "{} left", FormattedDuration(left))
                }
                None => write!(text, "time left not yet known"),
            };
        };
        let style = "{bar:30} {percent} %, {elapsed} so far, {left}  {wide_msg}";
        bar.set_style(progress_style(style).with_key("left", time_left));
        bar.enable_steady_tick(Duration::from_millis(200));
        let observer = |event: Event<'_>| match event {
            Event::Note(note) => bar.suspend(|| output.note(|| note.into())),
            Event::Started(shows) => bar.set_message(shows.to_owned()),
            Event::Progress(share, time) => {
                let known = time.map(|time| (time, Instant::now()));
                *left.lock().unwrap_or_else(PoisonError::into_inner) = known;
                bar.set_position((1000.0 * share) as u64);
            }
            Event::Finished(exhibit, seconds) => {
                bar.suspend(|| output.note(|| line(exhibit, seconds)))
            }
        };
        let report = request.run(&out, threads, self.folder.fresh, &stop, &observer);
        bar.finish_and_clear();
        let report = report?;
        output.result(|| Record::of(&report), || print(&report))?;
        if report.interrupted {
            output.note(|| "interrupted; finished exhibits and training runs are kept, and the same command continues".into());
            return Ok(ExitCode::from(INTERRUPTED));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Returns the reproduction that the options describe.
    fn requested(&self) -> anyhow::Result<Reproduction> {
        let data = self.data.located()?;
        Ok(Reproduction {
            only: self.only.clone(),
            data,
            full: self.full,
            device: self.compute.device()?,
            seed: self.seed.unwrap_or(0),
        })
    }

    /// Returns the reproduction in the folder. Options that are given beside --resume must be equal
    /// to those stored.
    fn resumed(&self, out: &Path) -> anyhow::Result<Reproduction> {
        let (stored, requested) = (Reproduction::stored(out)?, self.requested()?);
        let texts = |it: &Reproduction| {
            [
                it.only.join(","),
                it.data.join(","),
                it.full.to_string(),
                it.device.to_string(),
                it.seed.to_string(),
            ]
        };
        let given = [
            !requested.only.is_empty(),
            !requested.data.is_empty(),
            requested.full,
            self.compute.requested()?.is_some(),
            self.seed.is_some(),
        ];
        let options = ["only", "data", "full", "device", "seed"].into_iter().zip(given);
        for ((name, given), (stored, requested)) in
            options.zip(texts(&stored).iter().zip(texts(&requested)))
        {
            Usage::unless(!given || *stored == requested, || {
                let stored = if stored.is_empty() {
                    format!("no {name}")
                } else {
                    format!("{name} = {stored}")
                };
                format!(
                    "{} contains a reproduction with other settings: stored {stored}, requested {name} = {requested}; name \
                     another folder with --out, or leave out --{name}",
                    out.display()
                )
            })?;
        }
        Ok(stored)
    }
}

/// One line per finished exhibit.
fn line(exhibit: &Presentation, seconds: Option<f64>) -> String {
    let count = |verdict| exhibit.claims.iter().filter(|claim| claim.verdict == verdict).count();
    let counts =
        [(Verdict::Holds, "hold"), (Verdict::InPart, "in part"), (Verdict::Fails, "do not")];
    let counts = counts.map(|(verdict, text)| (count(verdict), text));
    let texts: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, text)| format!("{n} {text}")).collect();
    let seconds = seconds.map_or("kept".into(), |seconds| format!("{seconds:.1} s"));
    format!("{:18} {:26} {seconds:>8}  {}", exhibit.id, texts.join(", "), exhibit.title)
}

/// Prints all claims, the tallies of the paper's and of ours, and every claim that does not hold
/// with the reason.
fn print(report: &Report) {
    if report.interrupted {
        return;
    }
    for exhibit in &report.exhibits {
        println!("\n{}", exhibit.title);
        for claim in &exhibit.claims {
            println!("  {:13}  {}", claim.verdict, claim.says);
            println!("  {:13}  {}", "", claim.measured);
        }
    }
    for (source, title) in [(Source::Paper, "The paper's claims"), (Source::Ours, "Our own claims")]
    {
        let tally = report.tally(source);
        if tally.all() > 0 {
            println!("\n{title}: {tally}");
        }
        for Exception { exhibit, claim } in report.exceptions(source) {
            println!("  {:13}  {exhibit}: {}", claim.verdict, claim.says);
            println!("  {:13}  {}", "", claim.why.as_deref().unwrap_or_default());
        }
    }
    println!("\nreport: {}", report.page.display());
}

/// The result as JSON.
#[derive(Serialize)]
struct Record<'a> {
    status: &'a str,
    report: String,
    command: &'a str,
    seed: u64,
    seconds: f64,
    paper: Summary<'a>,
    ours: Summary<'a>,
    exhibits: Vec<serde_json::Value>,
}

/// The claims of one source.
#[derive(Serialize)]
struct Summary<'a> {
    tally: Tally,
    exceptions: Vec<Exception<'a>>,
}

impl<'a> Record<'a> {
    fn of(report: &'a Report) -> Self {
        let summary =
            |source| Summary { tally: report.tally(source), exceptions: report.exceptions(source) };
        let exhibit = |exhibit: &Presentation| {
            let claims: &[Claim] = &exhibit.claims;
            json!({
                "id": exhibit.id,
                "title": exhibit.title,
                "made_by": exhibit.record,
                "claims": claims,
            })
        };
        Self {
            status: if report.interrupted { "interrupted" } else { "finished" },
            report: report.page.display().to_string(),
            command: &report.command,
            seed: report.seed,
            seconds: report.seconds,
            paper: summary(Source::Paper),
            ours: summary(Source::Ours),
            exhibits: report.exhibits.iter().map(exhibit).collect(),
        }
    }
}
