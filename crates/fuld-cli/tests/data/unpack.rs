//! Archives: what is taken out of them, and what is not.

use crate::loopback::{Fault, Server};
use crate::made::{gz, hasty, noise, sum};
use fuld_train::data::{
    Archive, ArchiveContents, ArchiveMember, DataSource, FetchError, FetchOutcome, fetch,
};
use std::fs;
use tar::{EntryType, Header};
use tempfile::TempDir;

fn first() -> Vec<u8> {
    // Not how the second begins.
    noise(5000).into_iter().rev().collect()
}

fn second() -> Vec<u8> {
    noise(70_000)
}

/// An entry under any path, also those that no honest archive has.
fn entry(path: &str, kind: EntryType, contents: &[u8]) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(contents.len() as u64);
    if kind == EntryType::Symlink {
        header.set_link_name("../../outside").unwrap();
    }
    header.set_cksum();
    let padding = vec![0; contents.len().next_multiple_of(512) - contents.len()];
    [header.as_bytes().as_slice(), contents, &padding].concat()
}

fn archive(entries: &[Vec<u8>]) -> Vec<u8> {
    gz(&[entries.concat(), vec![0; 1024]].concat())
}

fn honest() -> Vec<u8> {
    archive(&[
        entry("set/readme.html", EntryType::Regular, b"hello"),
        entry("set/a.bin", EntryType::Regular, &first()),
        entry("set/b.bin", EntryType::Regular, &second()),
    ])
}

/// The source of an archive with `a.bin` and `b.bin`.
fn source(bytes: &[u8], server: &Server) -> DataSource {
    let member = |name: &str, contents: &[u8]| ArchiveMember {
        name: name.into(),
        size: contents.len() as u64,
        sha256: sum(contents),
    };
    let archive = Archive {
        name: "set.tar.gz".into(),
        size: bytes.len() as u64,
        sha256: sum(bytes),
        contents: ArchiveContents::Tar(vec![member("a.bin", &first()), member("b.bin", &second())]),
    };
    let mirrors = vec![server.url.clone()];
    DataSource { name: "made".into(), folder: "deep/set".into(), mirrors, archives: vec![archive] }
}

fn fetch_into(directory: &TempDir, bytes: &[u8], server: &Server) -> Result<FetchOutcome, FetchError> {
    fetch(&source(bytes, server), directory.path(), hasty(), &mut |_| {}).map(|(_, fetched)| fetched)
}

/// Both files are there, and nothing else anywhere.
fn assert_unpacked(directory: &TempDir) {
    let set = directory.path().join("deep/set");
    assert_eq!(fs::read(set.join("a.bin")).unwrap(), first());
    assert_eq!(fs::read(set.join("b.bin")).unwrap(), second());
    let count = |path| fs::read_dir(path).unwrap().count();
    assert_eq!(
        (count(set.clone()), count(directory.path().join("deep")), count(directory.path().into())),
        (2, 1, 1)
    );
}

#[test]
fn the_wanted_files_are_taken_and_the_archive_removed() {
    let (directory, server) = (TempDir::new().unwrap(), Server::start(honest(), &[]));
    assert_eq!(fetch_into(&directory, &honest(), &server).unwrap(), FetchOutcome::Archives(1));
    assert_unpacked(&directory);
    assert_eq!(fetch_into(&directory, &honest(), &server).unwrap(), FetchOutcome::AlreadyPresent);
    assert_eq!(server.ranges(), [None]);
}

#[test]
fn a_damaged_file_has_the_archive_fetched_again() {
    let (directory, server) = (TempDir::new().unwrap(), Server::start(honest(), &[]));
    fetch_into(&directory, &honest(), &server).unwrap();
    fs::write(directory.path().join("deep/set/b.bin"), b"damaged").unwrap();
    // As a kill in the middle of unpacking leaves it.
    fs::write(directory.path().join("deep/set/b.bin.part"), b"half of i").unwrap();
    assert_eq!(fetch_into(&directory, &honest(), &server).unwrap(), FetchOutcome::Archives(1));
    assert_unpacked(&directory);
}

#[test]
fn an_archive_put_there_by_hand_is_used() {
    let (directory, server) = (TempDir::new().unwrap(), Server::start(Vec::new(), &[Fault::Status(404)]));
    fs::create_dir_all(directory.path().join("deep/set")).unwrap();
    fs::write(directory.path().join("deep/set/set.tar.gz"), honest()).unwrap();
    fetch_into(&directory, &honest(), &server).unwrap();
    assert_unpacked(&directory);
}

#[test]
fn paths_and_links_in_the_archive_lead_nowhere() {
    let sly = archive(&[
        entry("set/a.bin", EntryType::Symlink, b""),
        entry("../../escaped.bin", EntryType::Regular, b"escaped"),
        entry("../../a.bin", EntryType::Regular, &first()),
        entry("/b.bin", EntryType::Regular, &second()),
    ]);
    let (directory, server) = (TempDir::new().unwrap(), Server::start(sly.clone(), &[]));
    fetch_into(&directory, &sly, &server).unwrap();
    assert_unpacked(&directory);
}

#[test]
fn wrong_and_missing_files_are_named() {
    let wrong = archive(&[entry("a.bin", EntryType::Regular, &second())]);
    let missing = archive(&[entry("b.bin", EntryType::Regular, &second())]);
    for bytes in [wrong, missing] {
        let (directory, server) = (TempDir::new().unwrap(), Server::start(bytes.clone(), &[]));
        let error = fetch_into(&directory, &bytes, &server).unwrap_err();
        assert!(matches!(&error, FetchError::Member { member, .. } if member == "a.bin"), "{error}");
        let set = directory.path().join("deep/set");
        assert!(["a.bin", "a.bin.part", "set.tar.gz"].iter().all(|name| !set.join(name).exists()));
    }
}
