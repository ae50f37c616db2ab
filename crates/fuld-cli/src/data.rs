//! `fuld data`: lists and fetches data sets.

use super::fetch_bar::FetchBar;
use super::grouped::grouped;
use super::output::Output;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use fuld_train::data::{
    DataSet, DataSource, FetchOutcome, Presence, RetryPolicy, data_directory, fetch, presence,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  fuld data                                  list the data sets and where they are
  fuld data fetch mnist                      fetch MNIST into the data directory
  fuld data fetch cifar10 --data-dir /big/disk    fetch CIFAR-10 into another folder

The data directory is $FULD_DATA, else $XDG_DATA_HOME/fuld, else ~/.local/share/fuld.
`digits` is part of the program and needs no fetching.";

const FETCH_EXAMPLES: &str = "\
Examples:
  fuld data fetch mnist
  fuld data fetch cifar10 --data-dir /big/disk
  fuld data fetch mnist --mirror https://my.server/mnist/

A file is called NAME.part until its SHA-256 has been verified. Repeat the command to continue an interrupted fetch.

Without a network, copy the files into the data directory yourself: the four files of MNIST, compressed or not, into DIR/mnist, \
and the six files of CIFAR-10 into DIR/cifar-10-batches-bin. If you put the archive of CIFAR-10 there instead, \
`fuld data fetch cifar10` unpacks it.";

/// List and fetch data sets.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(super) struct Data {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum Action {
    List(List),
    Fetch(Fetch),
}

/// List the data sets, and whether they are on this machine.
#[derive(Debug, Args)]
struct List {
    /// Folder to search instead of the data directory.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

/// Fetch a data set and verify it.
#[derive(Debug, Args)]
#[command(after_help = FETCH_EXAMPLES)]
struct Fetch {
    /// The data set.
    #[arg(value_parser = PossibleValuesParser::new(DataSource::NAMES))]
    set: String,
    /// Folder to write to instead of the data directory.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Base address of the publisher's files, used instead of the known servers. May be repeated;
    /// servers are tried in order.
    #[arg(long = "mirror", value_name = "URL")]
    mirrors: Vec<String>,
    /// Seconds without data after which an attempt fails.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..), hide = true)]
    stall: u64,
}

impl Data {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<()> {
        match self.action {
            None => self.list.run(output),
            Some(Action::List(list)) => list.run(output),
            Some(Action::Fetch(fetch)) => fetch.run(output),
        }
    }
}

/// Returns the given folder, or the data directory.
fn directory(data_dir: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    Ok(data_dir.map_or_else(data_directory, Ok)?)
}

impl List {
    fn run(self, output: &Output) -> anyhow::Result<()> {
        let dir = directory(self.data_dir)?;
        let listed = |name, train, test| {
            Ok::<_, anyhow::Error>(ListedSet { name, train, test, presence: presence(name, &dir)? })
        };
        let digits =
            ListedSet { name: "digits", train: 1_442, test: 355, presence: Presence::Absent };
        let sets = [digits, listed("mnist", 60_000, 10_000)?, listed("cifar10", 50_000, 10_000)?];
        let value = || json!({ "data_dir": dir.display().to_string(), "sets": sets.iter().map(ListedSet::json).collect::<Vec<_>>() });
        output.result(value, || {
            println!("{:9} {:>8} {:>7} {:>8}  where", "name", "training", "test", "classes");
            for set in &sets {
                let (train, test) = (grouped(set.train), grouped(set.test));
                println!("{:9} {train:>8} {test:>7} {CLASSES:>8}  {}", set.name, set.location());
            }
            println!("\nThe data directory is {}.", dir.display());
        })
    }
}

/// Classes of every data set.
const CLASSES: usize = 10;

/// A line of the list.
struct ListedSet {
    name: &'static str,
    train: usize,
    test: usize,
    presence: Presence,
}

impl ListedSet {
    fn built_in(&self) -> bool {
        self.name == "digits"
    }

    fn json(&self) -> Value {
        let (place, folder, missing) = match &self.presence {
            _ if self.built_in() => ("built_in", None, &[][..]),
            Presence::Whole { folder, .. } => ("whole", Some(folder), &[][..]),
            Presence::Partial { folder, missing } => ("partial", Some(folder), &missing[..]),
            Presence::Absent => ("absent", None, &[][..]),
        };
        json!({
            "name": self.name, "train": self.train, "test": self.test, "classes": CLASSES,
            "presence": place, "folder": folder.map(|folder| folder.display().to_string()), "missing": missing,
        })
    }

    /// Returns where the set is, or how to fetch it.
    fn location(&self) -> String {
        let set = self.name;
        match &self.presence {
            _ if self.built_in() => "part of the program".into(),
            Presence::Whole { folder, .. } => folder.display().to_string(),
            Presence::Partial { folder, missing } => {
                let missing = missing.join(", ");
                format!(
                    "incomplete in {} (missing: {missing}): fuld data fetch {set}",
                    folder.display()
                )
            }
            Presence::Absent => format!("not fetched: fuld data fetch {set}"),
        }
    }
}

impl Fetch {
    fn run(self, output: &Output) -> anyhow::Result<()> {
        let dir = directory(self.data_dir)?;
        let mut source = DataSource::named(&self.set)
            .ok_or_else(|| anyhow::anyhow!("unknown data set {:?}", self.set))?;
        if !self.mirrors.is_empty() {
            source = source.with_mirrors(&self.mirrors);
        }
        if is_directly_in(&self.set, &dir)? {
            source.folder.clear();
        }
        let retries =
            RetryPolicy { stall: Duration::from_secs(self.stall), ..RetryPolicy::default() };
        let mut bar = FetchBar::new(output.quiet);
        let (folder, fetched) = fetch(&source, &dir, retries, &mut |event| bar.show(event))?;
        let set = DataSet::load(&self.set, &folder)?;
        let counts = format!(
            "{} training and {} test images",
            grouped(set.train.len()),
            grouped(set.test.len())
        );
        let already = matches!(fetched, FetchOutcome::AlreadyPresent);
        let value = || {
            json!({
                "name": self.set, "train": set.train.len(), "test": set.test.len(),
                "folder": folder.display().to_string(), "fetched": !already,
            })
        };
        output.result(value, || {
            let complete = if already { " was already complete" } else { "" };
            println!("{}{complete}: {counts} in {}", self.set, folder.display());
        })
    }
}

/// Returns whether files of a set are in this folder itself, not in the set's folder within it.
fn is_directly_in(set: &str, dir: &Path) -> anyhow::Result<bool> {
    Ok(match presence(set, dir)? {
        Presence::Whole { folder, .. } | Presence::Partial { folder, .. } => folder == dir,
        Presence::Absent => false,
    })
}
