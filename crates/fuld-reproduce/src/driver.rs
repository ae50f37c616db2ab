//! The driver: makes the chosen exhibits in a folder, uses those again that are there already, and
//! keeps the report current.
//!
//! Every exhibit has a folder with its tables, figures and `settings.toml`. An exhibit whose
//! specification is unchanged is read from there; one whose specification differs is made again,
//! with a note that says what changed. The page is written after every exhibit, so an interrupted
//! reproduction leaves a report of the finished exhibits.

use crate::context::{Context, Interrupted, cores};
use crate::exhibit::{Entry, Presentation};
use crate::pace::Pace;
use crate::report::{Report, page};
use crate::request::{REQUEST, Reproduction, ReproductionError};
use crate::specification::{self, ExhibitSpec, Record};
use crate::study::{ImageSet, SWEEP, TRAINING};
use crate::table::Tables;
use anyhow::Context as _;
use fuld::StopFlag;
use fuld::durable::replace;
use fuld::folder::OwnedFolder;
use fuld_train::data::DataSet;
use fuld_train::run_stored::stored_files;
use fuld_train::spec::Device;
use fuld_train::train::is_checkpoint;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An event that the driver reports.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A note for the user.
    Note(&'a str),
    /// An exhibit is being made, with a description of what it shows.
    Started(&'a str),
    /// The finished share of all work, from 0 to 1, and the time left; `None` until the training has
    /// been timed.
    Progress(f64, Option<Duration>),
    /// An exhibit is finished, with the seconds it took; `None` if it was there already.
    Finished(&'a Presentation, Option<f64>),
}

/// An exhibit to be made, with its data set and the text that named it.
struct Task<'a> {
    id: String,
    title: String,
    exhibit: Entry,
    data: Option<&'a (String, DataSet)>,
    /// What it shows, once it is made.
    made: Option<Presentation>,
}

impl<'a> Task<'a> {
    /// Lists an exhibit, once per data set if it trains.
    fn list(exhibit: Entry, data: &'a [(String, DataSet)]) -> Vec<Self> {
        let Entry { id, title, .. } = exhibit;
        if !exhibit.trains {
            return vec![Self {
                id: id.into(),
                title: title.into(),
                exhibit,
                data: None,
                made: None,
            }];
        }
        let task = |data: &'a (String, DataSet)| {
            let name = data.1.name;
            let title = format!("{title} on {}", ImageSet::named(name).title());
            Self { id: format!("{id}-{name}"), title, exhibit, data: Some(data), made: None }
        };
        data.iter().map(task).collect()
    }
}

impl Reproduction {
    /// Makes the exhibits that are missing in the folder `out` and writes the report. `fresh`
    /// deletes the chosen exhibits first. Stops when `stop` is requested; the report then says so,
    /// and the same call continues.
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
        let tasks: Vec<Task<'_>> =
            chosen.into_iter().flat_map(|exhibit| Task::list(exhibit, &data)).collect();
        let folder = OwnedFolder::open(out, "reproduce")?;
        self.check_seed(out, fresh, &tasks)?;
        // A choice of exhibits has a page of its own, beside the whole report.
        let page = match &self.only[..] {
            [] => "report.html".into(),
            only => format!("report-{}.html", only.join("-")),
        };
        let earlier = Self::stored(out).ok().filter(|earlier| earlier.seed == self.seed);
        if fresh {
            for task in tasks.iter().map(|task| out.join(&task.id)).filter(|folder| folder.exists())
            {
                let folder = OwnedFolder::open(&task, "reproduce")?;
                delete(&folder)?;
                delete_training(&folder)?;
            }
            folder.remove([page.as_str()])?;
        }
        let merged = match earlier {
            Some(earlier) if !(fresh && self.only.is_empty()) => earlier.merged(self),
            _ => self.clone(),
        };
        replace(&out.join(REQUEST), toml::to_string(&merged)?.as_bytes())
            .with_context(|| format!("writing {}", out.join(REQUEST).display()))?;
        let work =
            Work { request: self, out, page: out.join(page), threads, stop, observer, start };
        work.all(tasks)
    }

    /// Refuses a folder that would mix the exhibits of two seeds.
    fn check_seed(&self, out: &Path, fresh: bool, tasks: &[Task<'_>]) -> anyhow::Result<()> {
        let entries =
            std::fs::read_dir(out).with_context(|| format!("reading {}", out.display()))?;
        let mut folders: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        folders.sort();
        for record in folders.iter().filter_map(|folder| Record::read(folder)) {
            let ExhibitSpec { exhibit, seed: there, .. } = record.specification;
            let is_deleted = fresh && tasks.iter().any(|task| task.id == exhibit);
            if there != self.seed && !is_deleted {
                let (folder, here) = (out.to_path_buf(), self.seed);
                return Err(ReproductionError::OtherSeed { folder, exhibit, there, here }.into());
            }
        }
        Ok(())
    }
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
}

impl Work<'_> {
    /// Makes all exhibits that are not kept.
    fn all(&self, mut tasks: Vec<Task<'_>>) -> anyhow::Result<Report> {
        for task in &mut tasks {
            match self.kept(task).with_context(|| format!("reading {}", task.id))? {
                Ok(presentation) => {
                    (self.observer)(Event::Finished(&presentation, None));
                    task.made = Some(presentation);
                }
                Err(Some(difference)) => {
                    (self.observer)(Event::Note(&format!(
                        "{} is made again: {difference}",
                        task.id
                    )));
                }
                Err(None) => {}
            }
        }
        // Quick ones first: there is something to read early.
        let mut missing: Vec<usize> =
            (0..tasks.len()).filter(|&i| tasks[i].made.is_none()).collect();
        missing.sort_by(|&i, &j| tasks[i].exhibit.seconds.total_cmp(&tasks[j].exhibit.seconds));
        let pace = Pace::new(missing.iter().map(|&i| self.expected(&tasks[i])));
        let show = || {
            let (share, left) = pace.now();
            (self.observer)(Event::Progress(share, left));
        };
        show();
        for (place, i) in missing.into_iter().enumerate() {
            let (task, began) = (&mut tasks[i], Instant::now());
            (self.observer)(Event::Started(task.exhibit.shows));
            let reach = |share: f64| {
                pace.reach(place, share);
                show();
            };
            let context = Context {
                on_progress: Box::new(reach),
                on_expected: Box::new(|seconds| pace.expect(place, seconds)),
                ..self.context(task)
            };
            match self.make(task, context) {
                Ok(presentation) => {
                    let seconds = Some(began.elapsed().as_secs_f64());
                    (self.observer)(Event::Finished(&presentation, seconds));
                    task.made = Some(presentation);
                }
                Err(error) if error.is::<Interrupted>() => return Ok(self.report(&tasks, true)),
                Err(error) => return Err(error.context(format!("making {}", task.id))),
            }
            reach(1.0);
            self.write_page(&tasks)?;
        }
        self.write_page(&tasks)
    }

    /// Returns the seconds that an exhibit is expected to take, and whether they are unknown because
    /// it trains on more than the digits.
    fn expected(&self, task: &Task<'_>) -> (f64, bool) {
        let on_digits = !self.request.full && task.data.is_none_or(|(_, set)| set.name == "digits");
        let threads = cores(self.threads);
        (task.exhibit.seconds * 2.0 / threads as f64, task.exhibit.trains && !on_digits)
    }

    fn context<'c>(&'c self, task: &Task<'c>) -> Context<'c> {
        Context {
            threads: self.threads,
            full: self.request.full,
            device: self.request.device,
            data: task.data.map(|(_, set)| set),
            stop: self.stop.clone(),
            on_note: Box::new(|note| (self.observer)(Event::Note(note))),
            ..Context::new(self.request.seed, self.out.join(&task.id))
        }
    }

    /// Reads the exhibit from its folder. If it has to be made, the error says why; `None` if the
    /// folder contains no exhibit.
    fn kept(&self, task: &Task<'_>) -> anyhow::Result<Result<Presentation, Option<String>>> {
        let folder = self.out.join(&task.id);
        let Some(record) = Record::read(&folder) else {
            let damaged = folder.join(specification::FILE).exists();
            let damage = "is damaged or was changed since it was written";
            return Ok(Err(damaged.then(|| format!("its {} {damage}", specification::FILE))));
        };
        let specification = task.exhibit.specification(&task.id, &self.context(task))?;
        if let Some(difference) = specification.difference(&record.specification) {
            return Ok(Err(Some(difference)));
        }
        let damaged =
            |error: &dyn std::fmt::Display| Some(format!("its tables are damaged: {error}"));
        let tables = match Tables::read(&folder, &record.files) {
            Ok(tables) if tables.checksum() == record.tables => tables,
            Ok(_) => return Ok(Err(damaged(&"they were changed since they were made"))),
            Err(error) => return Ok(Err(damaged(&error))),
        };
        let mut presentation = match (task.exhibit.present)(task.title.clone(), &tables, record) {
            Ok(presentation) => presentation,
            Err(error) => return Ok(Err(damaged(&error))),
        };
        if write_figures(&OwnedFolder::open(&folder, "reproduce")?, &mut presentation)? {
            presentation.record.write(&folder)?;
        }
        Ok(Ok(presentation))
    }

    /// Runs the experiment and writes its folder, `settings.toml` last.
    fn make(&self, task: &Task<'_>, context: Context<'_>) -> anyhow::Result<Presentation> {
        let Task { id, title, exhibit, data, .. } = task;
        let folder = self.out.join(id);
        let owned = OwnedFolder::open(&folder, "reproduce")?;
        // Training runs have identities of their own and stay.
        delete(&owned)?;
        let specification = exhibit.specification(id, &context)?;
        // An exhibit without any result leaves no folder.
        let tables = (exhibit.experiment)(&context).inspect_err(|_| {
            if std::fs::read_dir(&folder).is_ok_and(|entries| entries.count() == 1) {
                let _ = std::fs::remove_dir_all(&folder);
            }
        })?;
        let request = Reproduction {
            only: vec![exhibit.id.into()],
            data: data.iter().map(|(given, _)| given.clone()).collect(),
            full: self.request.full && exhibit.trains,
            device: if exhibit.trains { self.request.device } else { Device::Cpu },
            seed: self.request.seed,
        };
        let record = Record::new(request.command(), &tables, specification);
        let mut presentation = (exhibit.present)(title.clone(), &tables, record)?;
        let write = |presentation: &mut Presentation| -> anyhow::Result<()> {
            tables.write(&folder)?;
            presentation.record.files.extend(context.write_runs(&folder)?);
            presentation.record.files.extend(exhibit.trains.then(|| SWEEP.into()));
            write_figures(&owned, presentation)?;
            Ok(presentation.record.write(&folder)?)
        };
        write(&mut presentation).with_context(|| format!("writing {}", folder.display()))?;
        Ok(presentation)
    }

    fn report(&self, tasks: &[Task<'_>], interrupted: bool) -> Report {
        Report {
            interrupted,
            page: self.page.clone(),
            command: self.request.command(),
            seed: self.request.seed,
            seconds: self.start.elapsed().as_secs_f64(),
            exhibits: tasks.iter().filter_map(|task| task.made.clone()).collect(),
            missing: tasks
                .iter()
                .filter(|task| task.made.is_none())
                .map(|task| task.title.clone())
                .collect(),
        }
    }

    fn write_page(&self, tasks: &[Task<'_>]) -> anyhow::Result<Report> {
        let report = self.report(tasks, false);
        replace(&self.page, page(&report).as_bytes())
            .with_context(|| format!("writing {}", self.page.display()))?;
        Ok(report)
    }
}

/// Deletes the files of an exhibit that its record lists. `settings.toml` goes first, so that a
/// half-deleted folder is not taken for a finished one. Other files in the folder stay.
fn delete(folder: &OwnedFolder) -> anyhow::Result<()> {
    if let Some(record) = Record::read(folder.path()) {
        let (files, runs) = record.files_by_folder();
        folder.remove([specification::FILE].into_iter().chain(files))?;
        if !runs.is_empty() {
            folder.remove_in("runs", runs)?;
        }
    }
    Ok(())
}

/// Deletes the results and checkpoints of an exhibit's training runs. They are recognised by their
/// contents, because an interrupted exhibit has no record. Other files in the folder stay.
fn delete_training(folder: &OwnedFolder) -> anyhow::Result<()> {
    let Some(training) = folder.subfolder(TRAINING)? else { return Ok(()) };
    let files = stored_files(&training, is_checkpoint)
        .with_context(|| format!("reading {}", training.display()))?;
    if !files.is_empty() {
        folder.remove_in(TRAINING, files.iter().map(String::as_str))?;
    }
    Ok(())
}

/// Writes the figures that are missing or differ, as after a change of the drawing, and lists them
/// in the record instead of earlier ones. Returns whether the record changed.
fn write_figures(folder: &OwnedFolder, presentation: &mut Presentation) -> anyhow::Result<bool> {
    let is_figure = |file: &String| file.ends_with(".svg") || file.ends_with(".png");
    let (earlier, mut files): (Vec<_>, Vec<_>) =
        presentation.record.files.iter().cloned().partition(is_figure);
    for figure in &presentation.figures {
        for (name, bytes) in figure.figure.files()? {
            let path = folder.path().join(&name);
            if std::fs::read(&path).ok().as_ref() != Some(&bytes) {
                replace(&path, &bytes).with_context(|| format!("writing {}", path.display()))?;
            }
            files.push(name);
        }
    }
    folder.remove(earlier.iter().filter(|name| !files.contains(name)).map(String::as_str))?;
    let changed = files != presentation.record.files;
    presentation.record.files = files;
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn run(folder: &TempDir, only: &str) {
        let request = Reproduction { only: vec![only.into()], ..Reproduction::default() };
        request.run(folder.path(), 1, false, &StopFlag::default(), &|_| {}).unwrap();
    }

    #[test]
    fn figures_are_drawn_again_from_the_tables() {
        let folder = TempDir::new().unwrap();
        run(&folder, "fig2");
        let path = |name: &str| folder.path().join("fig2").join(name);
        let [svg, png, record] = ["fig2.svg", "fig2.png", "settings.toml"]
            .map(|name| std::fs::read(path(name)).unwrap());
        std::fs::remove_file(path("fig2.png")).unwrap();
        std::fs::write(path("fig2.svg"), "an older drawing").unwrap();
        run(&folder, "fig2");
        assert!(std::fs::read(path("fig2.svg")).unwrap() == svg);
        assert!(std::fs::read(path("fig2.png")).unwrap() == png);
        assert!(std::fs::read(path("settings.toml")).unwrap() == record);
    }

    #[test]
    fn the_folder_remembers_all_requests() {
        let folder = TempDir::new().unwrap();
        run(&folder, "fig2");
        run(&folder, "law");
        assert_eq!(Reproduction::stored(folder.path()).unwrap().only, ["fig2", "law"]);
    }
}
