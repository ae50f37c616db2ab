//! The driver: makes the chosen exhibits in a folder, uses those again that are there already, and keeps the report current.
//!
//! Every exhibit has a folder with its tables, figures and `settings.toml`. An exhibit whose specification is unchanged is
//! read from there; one whose specification differs is made again, with a note that says what changed. The page is written
//! after every exhibit, so an interrupted reproduction leaves a report of what is finished.

use crate::context::{Context, Interrupted};
use crate::exhibit::{Entry, Presentation};
use crate::exhibits::exhibits;
use crate::report::{Report, page};
use crate::specification::{self, Record, Specification};
use crate::study::image_set::ImageSet;
use crate::table::Tables;
use anyhow::Context as _;
use fuld::StopFlag;
use fuld::durable::replace;
use fuld::folder::OwnedFolder;
use fuld_train::data::{DataError, DataSet, Presence, data_directory, presence};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Instant;
use thiserror::Error;

/// The file in the output folder that stores the request, for `--resume`.
const REQUEST: &str = "reproduce.toml";

/// What is to be reproduced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reproduction {
    /// Ids of exhibits; all if empty.
    pub only: Vec<String>,
    /// Data sets by name, or folders that hold some; the built-in digits if empty.
    pub data: Vec<String>,
    /// Trains the paper's whole grids instead of a part of them.
    pub full: bool,
    /// The seed of all randomness.
    pub seed: u64,
}

/// A request that cannot be fulfilled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproductionError {
    /// An id that does not exist.
    #[error("there is no exhibit {id:?}; --only takes {}", known())]
    UnknownExhibit {
        /// The id.
        id: String,
    },
    /// An option for training, but no exhibit that trains.
    #[error("{option} is for the exhibits that train networks, which --only leaves out: add {}", training())]
    NothingTrains {
        /// The option.
        option: &'static str,
    },
    /// The folder holds exhibits of another seed.
    #[error("{} holds {exhibit} of seed {there}, not {here}; --fresh deletes it, --out names another folder", folder.display())]
    OtherSeed {
        /// The folder.
        folder: PathBuf,
        /// One of the exhibits.
        exhibit: String,
        /// Its seed.
        there: u64,
        /// The seed asked for.
        here: u64,
    },
    /// There is nothing to resume.
    #[error("there is no reproduction to resume in {}", .0.display())]
    NothingToResume(PathBuf),
}

fn known() -> String {
    exhibits().iter().map(|exhibit| exhibit.id).collect::<Vec<_>>().join(", ")
}

fn training() -> String {
    let all = exhibits().into_iter().filter(|exhibit| exhibit.trains);
    all.map(|exhibit| exhibit.id).collect::<Vec<_>>().join(" or ")
}

/// What the driver reports on the way.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A note for the user.
    Note(&'a str),
    /// An exhibit is being made; this is what it shows.
    Started(&'a str),
    /// The finished share of all work, from 0 to 1.
    Progress(f64),
    /// An exhibit is finished after so many seconds; `None` if it was there already.
    Finished(&'a Presentation, Option<f64>),
}

/// An exhibit to be made, with its data set.
struct Task<'a> {
    /// Its position in the report.
    position: usize,
    id: String,
    title: String,
    exhibit: Entry,
    data: Option<&'a NamedData>,
}

/// A data set, and the text that named it.
struct NamedData {
    given: String,
    set: DataSet,
}

impl Reproduction {
    /// Reads the request stored in a folder.
    pub fn stored(out: &Path) -> anyhow::Result<Self> {
        let path = out.join(REQUEST);
        if !path.exists() {
            return Err(ReproductionError::NothingToResume(out.into()).into());
        }
        let text = std::fs::read_to_string(&path).map_err(anyhow::Error::from);
        let request = text.and_then(|text| Ok(toml::from_str(&text)?));
        request.with_context(|| format!("reading {}", path.display()))
    }

    /// Returns the command that asks for this.
    pub fn command(&self) -> String {
        let mut command = "fuld reproduce".to_owned();
        if !self.only.is_empty() {
            command += &format!(" --only {}", self.only.join(","));
        }
        if !self.data.is_empty() {
            command += &format!(" --data {}", self.data.join(","));
        }
        if self.full {
            command += " --full";
        }
        if self.seed != 0 {
            command += &format!(" --seed {}", self.seed);
        }
        command
    }

    /// Returns the chosen exhibits, in the order of the report.
    fn chosen(&self) -> Result<Vec<Entry>, ReproductionError> {
        let all = exhibits();
        if let Some(id) = self.only.iter().find(|id| !all.iter().any(|exhibit| exhibit.id == **id)) {
            return Err(ReproductionError::UnknownExhibit { id: id.clone() });
        }
        let is_chosen = |exhibit: &Entry| self.only.is_empty() || self.only.iter().any(|id| id == exhibit.id);
        let chosen: Vec<Entry> = all.into_iter().filter(is_chosen).collect();
        for (given, option) in [(!self.data.is_empty(), "--data"), (self.full, "--full")] {
            if given && !chosen.iter().any(|exhibit| exhibit.trains) {
                return Err(ReproductionError::NothingTrains { option });
            }
        }
        Ok(chosen)
    }

    /// Loads the data sets: those named, and all that the named folders hold.
    fn data(&self) -> Result<Vec<NamedData>, DataError> {
        let digits = ["digits".to_owned()];
        let given = if self.data.is_empty() { &digits[..] } else { &self.data };
        let mut all: Vec<NamedData> = Vec::new();
        let mut add = |given: &str, name: &str, folder: &Path| -> Result<(), DataError> {
            let set = DataSet::load(name, folder)?;
            if !all.iter().any(|other| other.set.name == set.name) {
                all.push(NamedData { given: given.into(), set });
            }
            Ok(())
        };
        for given in given {
            match given.as_str() {
                "digits" => add(given, given, Path::new(""))?,
                "mnist" | "cifar10" => add(given, given, &data_directory()?)?,
                folder => {
                    let path = Path::new(folder);
                    let mut found = false;
                    for name in ["mnist", "cifar10"] {
                        if presence(name, path)? != Presence::Absent {
                            add(given, name, path)?;
                            found = true;
                        }
                    }
                    if !found {
                        return Err(DataError::Nothing(path.into()));
                    }
                }
            }
        }
        Ok(all)
    }

    /// Returns the page of the report. A choice of exhibits has a page of its own, beside the whole report.
    fn page(&self, out: &Path) -> PathBuf {
        out.join(match &self.only[..] {
            [] => "report.html".into(),
            only => format!("report-{}.html", only.join("-")),
        })
    }

    /// Makes what is missing in the folder `out` and writes the report. `fresh` deletes the chosen exhibits first. Stops when
    /// `stop` is requested; the report then says so, and the same call continues.
    pub fn run(
        &self,
        out: &Path,
        threads: usize,
        fresh: bool,
        stop: &StopFlag,
        observer: &(dyn Fn(Event<'_>) + Sync),
    ) -> anyhow::Result<Report> {
        let start = Instant::now();
        let chosen = self.chosen()?;
        let trains = chosen.iter().any(|exhibit| exhibit.trains);
        let data = if trains { self.data()? } else { Vec::new() };
        let tasks = tasks(&chosen, &data);
        let folder = OwnedFolder::open(out, "reproduce")?;
        self.check_seed(out, fresh, &tasks)?;
        let page = self.page(out);
        if fresh {
            folder.remove(tasks.iter().map(|task| task.id.as_str()))?;
            folder.remove(page.file_name().and_then(|name| name.to_str()))?;
        }
        replace(&out.join(REQUEST), toml::to_string(self)?.as_bytes())
            .with_context(|| format!("writing {}", out.join(REQUEST).display()))?;
        let mut work = Work { request: self, out, page, threads, stop, observer, start, made: Vec::new() };
        let finished = work.all(tasks)?;
        Ok(work.report(!finished))
    }

    /// Refuses a folder that would mix the exhibits of two seeds.
    fn check_seed(&self, out: &Path, fresh: bool, tasks: &[Task<'_>]) -> anyhow::Result<()> {
        let entries = std::fs::read_dir(out).with_context(|| format!("reading {}", out.display()))?;
        let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        folders.sort();
        for record in folders.iter().filter_map(|folder| Record::read(folder)) {
            let Specification { exhibit, seed: there, .. } = record.specification;
            let is_deleted = fresh && tasks.iter().any(|task| task.id == exhibit);
            if there != self.seed && !is_deleted {
                let (folder, here) = (out.to_path_buf(), self.seed);
                return Err(ReproductionError::OtherSeed { folder, exhibit, there, here }.into());
            }
        }
        Ok(())
    }
}

/// Lists the exhibits to be made: those that train once per data set.
fn tasks<'a>(chosen: &[Entry], data: &'a [NamedData]) -> Vec<Task<'a>> {
    let mut tasks = Vec::new();
    for exhibit in chosen {
        let position = tasks.len();
        if exhibit.trains {
            tasks.extend(data.iter().enumerate().map(|(i, data)| Task {
                position: position + i,
                id: format!("{}-{}", exhibit.id, data.set.name),
                title: format!("{} on {}", exhibit.title, ImageSet::named(data.set.name).title()),
                exhibit: *exhibit,
                data: Some(data),
            }));
        } else {
            let (id, title) = (exhibit.id.into(), exhibit.title.into());
            tasks.push(Task { position, id, title, exhibit: *exhibit, data: None });
        }
    }
    tasks
}

/// A reproduction under way.
struct Work<'a> {
    request: &'a Reproduction,
    out: &'a Path,
    page: PathBuf,
    threads: usize,
    stop: &'a StopFlag,
    observer: &'a (dyn Fn(Event<'_>) + Sync),
    start: Instant,
    /// The finished exhibits with their positions in the report.
    made: Vec<(usize, Presentation)>,
}

impl Work<'_> {
    /// Makes all exhibits; returns whether it came to the end.
    fn all(&mut self, tasks: Vec<Task<'_>>) -> anyhow::Result<bool> {
        let mut missing = Vec::new();
        for task in tasks {
            match self.kept(&task).with_context(|| format!("reading {}", task.id))? {
                Ok(presentation) => {
                    (self.observer)(Event::Finished(&presentation, None));
                    self.made.push((task.position, presentation));
                }
                Err(difference) => {
                    if let Some(difference) = difference {
                        let note = format!("{} is made again: {difference}", task.id);
                        (self.observer)(Event::Note(&note));
                    }
                    missing.push(task);
                }
            }
        }
        // Quick ones first: there is something to read early.
        missing.sort_by(|a, b| a.exhibit.seconds.total_cmp(&b.exhibit.seconds));
        let total: f64 = missing.iter().map(|task| task.exhibit.seconds).sum();
        let mut done = 0.0;
        for task in missing {
            (self.observer)(Event::Started(task.exhibit.shows));
            let began = Instant::now();
            let observer = self.observer;
            let weight = task.exhibit.seconds;
            let progress = move |share: f64| observer(Event::Progress((done + share * weight) / total));
            match self.make(&task, progress) {
                Ok(presentation) => {
                    (self.observer)(Event::Finished(&presentation, Some(began.elapsed().as_secs_f64())));
                    self.made.push((task.position, presentation));
                }
                Err(error) if error.is::<Interrupted>() => return Ok(false),
                Err(error) => return Err(error.context(format!("making {}", task.id))),
            }
            done += weight;
            (self.observer)(Event::Progress(done / total));
            self.write_page()?;
        }
        self.write_page()?;
        Ok(true)
    }

    fn context<'c>(&'c self, task: &Task<'c>) -> Context<'c> {
        Context {
            threads: self.threads,
            full: self.request.full,
            data: task.data.map(|data| &data.set),
            stop: self.stop.clone(),
            on_note: Box::new(|note| (self.observer)(Event::Note(note))),
            ..Context::new(self.request.seed, self.out.join(&task.id))
        }
    }

    /// Reads the exhibit from its folder. If it has to be made, the error says why, unless there is nothing.
    fn kept(&self, task: &Task<'_>) -> anyhow::Result<Result<Presentation, Option<String>>> {
        let folder = self.out.join(&task.id);
        let Some(record) = Record::read(&folder) else { return Ok(Err(None)) };
        let specification = task.exhibit.specification(&task.id, &self.context(task))?;
        if let Some(difference) = specification.difference(&record.specification) {
            return Ok(Err(Some(difference)));
        }
        let damaged = |error: &dyn std::fmt::Display| Some(format!("its tables are damaged: {error}"));
        let tables = match Tables::read(&folder) {
            Ok(tables) if tables.checksum() == record.tables => tables,
            Ok(_) => return Ok(Err(damaged(&"they were changed since they were made"))),
            Err(error) => return Ok(Err(damaged(&error))),
        };
        let presented = (task.exhibit.present)(task.title.clone(), &tables, record);
        Ok(presented.map_err(|error| damaged(&error)))
    }

    /// Runs the experiment and writes its folder, `settings.toml` last.
    fn make(&self, task: &Task<'_>, progress: impl Fn(f64) + Send + Sync) -> anyhow::Result<Presentation> {
        let Task { id, title, exhibit, data, .. } = task;
        let folder = self.out.join(id);
        remove_stale(&folder).with_context(|| format!("deleting stale files in {}", folder.display()))?;
        let context = Context { on_progress: Box::new(progress), ..self.context(task) };
        let specification = exhibit.specification(id, &context)?;
        let tables = (exhibit.experiment)(&context)?;
        let request = Reproduction {
            only: vec![exhibit.id.into()],
            data: data.iter().map(|data| data.given.clone()).collect(),
            full: self.request.full && exhibit.trains,
            seed: self.request.seed,
        };
        let record = Record::new(request.command(), &tables, specification);
        let presentation = (exhibit.present)(title.clone(), &tables, record)?;
        let write = || {
            std::fs::create_dir_all(&folder)?;
            tables.write(&folder)?;
            context.write_runs(&folder)?;
            for figure in &presentation.figures {
                figure
                    .figure
                    .files()?
                    .iter()
                    .try_for_each(|(name, bytes)| replace(&folder.join(name), bytes))?;
            }
            presentation.record.write(&folder)
        };
        write().with_context(|| format!("writing {}", folder.display()))?;
        Ok(presentation)
    }

    fn report(&self, interrupted: bool) -> Report {
        let mut made: Vec<&(usize, Presentation)> = self.made.iter().collect();
        made.sort_by_key(|(position, _)| *position);
        Report {
            interrupted,
            page: self.page.clone(),
            command: self.request.command(),
            seed: self.request.seed,
            seconds: self.start.elapsed().as_secs_f64(),
            exhibits: made.into_iter().map(|(_, presentation)| presentation.clone()).collect(),
        }
    }

    fn write_page(&self) -> anyhow::Result<()> {
        replace(&self.page, page(&self.report(false)).as_bytes())
            .with_context(|| format!("writing {}", self.page.display()))
    }
}

/// Deletes the files of an earlier specification. `settings.toml` goes first, so that a half-deleted folder is not taken for
/// a finished one; training runs have identities of their own and stay.
fn remove_stale(folder: &Path) -> std::io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let settings = folder.join(specification::FILE);
    if settings.exists() {
        std::fs::remove_file(settings)?;
    }
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("csv" | "svg" | "png")) {
            std::fs::remove_file(&path)?;
        } else if path.file_name().is_some_and(|name| name == "runs") {
            std::fs::remove_dir_all(&path)?;
        }
    }
    Ok(())
}
