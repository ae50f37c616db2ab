//! Fetches of one file from faulty servers.

use super::loopback::{Fault, Server};
use super::published_files::{gz, hasty, noise, one_file};
use fuld_train::data::{DownloadError, FetchError, FetchOutcome, fetch};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A data directory with the set's folder in it.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        fs::create_dir(directory.path().join("made")).unwrap();
        Self { directory }
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("made/one.gz")
    }

    fn part(&self) -> PathBuf {
        self.directory.path().join("made/one.gz.part")
    }

    fn fetch(&self, servers: &[&Server]) -> Result<FetchOutcome, FetchError> {
        let urls: Vec<_> = servers.iter().map(|server| server.url.as_str()).collect();
        let (source, _) = one_file(&urls);
        fetch(&source, self.directory.path(), hasty(), &mut |_| {}).map(|(_, fetched)| fetched)
    }

    /// Asserts that a fetch succeeds and leaves only the complete file.
    fn must_fetch(&self, servers: &[&Server]) {
        assert_eq!(self.fetch(servers).unwrap(), FetchOutcome::Archives(1));
        assert_eq!(fs::read(self.file()).unwrap(), file());
        assert!(!self.part().exists());
    }

    fn reasons(&self, servers: &[&Server]) -> Vec<DownloadError> {
        match self.fetch(servers).unwrap_err() {
            FetchError::Mirrors { failures, .. } => {
                failures.into_iter().map(|f| f.reason).collect()
            }
            other => panic!("{other}"),
        }
    }
}

fn file() -> Vec<u8> {
    one_file(&[]).1
}

fn server(faults: &[Fault]) -> Server {
    Server::start(file(), faults)
}

fn from(byte: usize) -> Option<String> {
    Some(format!("bytes={byte}-"))
}

#[test]
fn a_file_is_fetched_once() {
    let (place, good) = (Place::new(), server(&[]));
    place.must_fetch(&[&good]);
    assert_eq!(place.fetch(&[&good]).unwrap(), FetchOutcome::AlreadyPresent);
    assert_eq!(good.ranges(), [None]);
}

#[test]
fn a_closed_connection_is_continued() {
    let (place, broken) =
        (Place::new(), server(&[Fault::Truncate(1000), Fault::Truncate(500), Fault::None]));
    place.must_fetch(&[&broken]);
    assert_eq!(broken.ranges(), [None, from(1000), from(1500)]);
    assert_eq!(broken.sent(), file().len());
}

#[test]
fn the_next_server_continues_a_partial_file() {
    let (place, broken, good) = (Place::new(), server(&[Fault::Truncate(100)]), server(&[]));
    place.must_fetch(&[&broken, &good]);
    assert_eq!(broken.ranges().len(), 4);
    assert_eq!(good.ranges(), [from(400)]);
}

#[test]
fn a_stalled_connection_is_continued() {
    let (place, stalling) = (Place::new(), server(&[Fault::Stall(700), Fault::None]));
    place.must_fetch(&[&stalling]);
    assert_eq!(stalling.ranges(), [None, from(700)]);
}

#[test]
fn a_server_without_data_is_abandoned_after_one_attempt() {
    let (place, stalling, good) = (Place::new(), server(&[Fault::Stall(0)]), server(&[]));
    place.must_fetch(&[&stalling, &good]);
    assert_eq!(stalling.ranges(), [None]);
    assert_eq!(place.directory.path().join("made").read_dir().unwrap().count(), 1);
}

#[test]
fn a_file_with_the_wrong_checksum_is_deleted() {
    let (place, corrupting, good) = (Place::new(), server(&[Fault::Corrupt]), server(&[]));
    assert!(matches!(place.reasons(&[&corrupting])[..], [DownloadError::Checksum { .. }]));
    assert!(!place.file().exists() && !place.part().exists());
    place.must_fetch(&[&corrupting, &good]);
    assert_eq!(good.ranges(), [None]);
}

#[test]
fn a_server_without_ranges_sends_the_whole_file() {
    let (place, simple) = (Place::new(), server(&[Fault::IgnoreRange]));
    fs::write(place.part(), &file()[..900]).unwrap();
    place.must_fetch(&[&simple]);
    assert_eq!(simple.ranges(), [from(900)]);
}

#[test]
fn a_partial_file_with_other_contents_is_replaced() {
    let (place, good) = (Place::new(), server(&[]));
    fs::write(place.part(), noise(900)).unwrap();
    place.must_fetch(&[&good]);
    assert_eq!(good.ranges(), [from(900), None]);
}

#[test]
fn a_partial_file_that_is_too_long_is_replaced() {
    let (place, good) = (Place::new(), server(&[]));
    fs::write(place.part(), noise(file().len() + 1)).unwrap();
    place.must_fetch(&[&good]);
    assert_eq!(good.ranges(), [None]);
}

#[test]
fn a_complete_partial_file_requires_no_server() {
    let (place, down) = (Place::new(), server(&[Fault::Status(500)]));
    fs::write(place.part(), file()).unwrap();
    place.must_fetch(&[&down]);
    assert!(down.ranges().is_empty());
}

#[test]
fn after_a_refused_range_the_whole_file_is_requested() {
    let (place, refusing) = (Place::new(), server(&[Fault::Status(416)]));
    fs::write(place.part(), &file()[..900]).unwrap();
    place.must_fetch(&[&refusing]);
    assert_eq!(refusing.ranges(), [from(900), None]);
}

#[test]
fn wrong_lengths_and_ranges_keep_the_partial_file() {
    let place = Place::new();
    fs::write(place.part(), &file()[..900]).unwrap();
    let (longer, wrong) = (server(&[Fault::Longer]), server(&[Fault::WrongRange]));
    let size = file().len() as u64;
    let expected = [DownloadError::Size { found: size + 1, expected: size }, DownloadError::Range];
    assert_eq!(place.reasons(&[&longer, &wrong]), expected);
    assert_eq!(fs::read(place.part()).unwrap(), &file()[..900]);
}

#[test]
fn errors_name_all_servers_that_failed() {
    let place = Place::new();
    let (missing, down, good) =
        (server(&[Fault::Status(404)]), server(&[Fault::Status(500)]), server(&[]));
    let gone = {
        // A port without a server.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let (source, _) = one_file(&[&missing.url, &down.url, &gone, "no address"]);
    let error =
        fetch(&source, place.directory.path(), hasty(), &mut |_| {}).unwrap_err().to_string();
    for part in [
        &format!("{}one.gz: the server answered 404 Not Found", missing.url),
        &format!("{}one.gz: the server answered 500 Internal Server Error", down.url),
        &format!("{gone}/one.gz: "),
        "no address/one.gz: ",
        "Try again",
        "yourself",
        place.file().parent().unwrap().to_str().unwrap(),
    ] {
        assert!(error.contains(part), "{part} in {error}");
    }
    assert!(!place.part().exists());
    place.must_fetch(&[&missing, &down, &good]);
}

#[test]
fn a_valid_file_of_any_compression_is_not_fetched() {
    for (name, bytes) in [
        ("one", noise(20_000)),
        ("one.gz", [gz(&noise(20_000)[..7]), gz(&noise(20_000)[7..])].concat()),
    ] {
        let (place, good) = (Place::new(), server(&[]));
        fs::write(place.file().with_file_name(name), bytes).unwrap();
        assert_eq!(place.fetch(&[&good]).unwrap(), FetchOutcome::AlreadyPresent);
        assert!(good.ranges().is_empty());
    }
}

/// A file with other contents may be the user's: it is not replaced.
#[test]
fn a_file_with_other_contents_is_not_replaced() {
    let mut flipped = file();
    flipped[5000] ^= 1;
    for other in [file()[..3000].to_vec(), flipped, noise(10), Vec::new()] {
        let (place, good) = (Place::new(), server(&[]));
        fs::write(place.file(), &other).unwrap();
        let error = place.fetch(&[&good]).unwrap_err();
        assert!(matches!(&error, FetchError::Occupied(path) if *path == place.file()), "{error}");
        assert!(fs::read(place.file()).unwrap() == other && !place.part().exists());
        fs::remove_file(place.file()).unwrap();
        place.must_fetch(&[&good]);
    }
}

#[test]
fn a_second_fetch_into_one_folder_is_refused() {
    let (place, good) = (Place::new(), server(&[]));
    let folder = fs::File::open(place.directory.path().join("made")).unwrap();
    folder.lock().unwrap();
    assert!(matches!(place.fetch(&[&good]).unwrap_err(), FetchError::Busy(_)));
    folder.unlock().unwrap();
    place.must_fetch(&[&good]);
}

/// `/dev/full` simulates a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let (place, good) = (Place::new(), server(&[]));
    std::os::unix::fs::symlink("/dev/full", place.part()).unwrap();
    let error = place.fetch(&[&good]).unwrap_err();
    assert!(matches!(&error, FetchError::Write { path, .. } if *path == place.part()), "{error}");
    assert!(error.to_string().contains("No space left"), "{error}");
    assert!(place.part().is_symlink() && !place.file().exists());
}
