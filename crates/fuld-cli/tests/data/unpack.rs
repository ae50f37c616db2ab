//! Extraction of files from archives.

use super::loopback::{Fault, Server};
use super::published_files::{gz, hasty, noise, sum};
use fuld_train::data::{
    Archive, ArchiveContents, ArchiveMember, DataSource, FetchError, FetchOutcome, fetch,
};
use std::fs;
use tar::{EntryType, Header};
use tempfile::TempDir;

fn first() -> Vec<u8> {
    // Different from the start of the second file.
    noise(5000).into_iter().rev().collect()
}

fn second() -> Vec<u8> {
    noise(70_000)
}

/// Returns an entry with any path, even one that a valid archive does not have.
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

fn valid() -> Vec<u8> {
    archive(&[
        entry("set/readme.html", EntryType::Regular, b"hello"),
        entry("set/a.bin", EntryType::Regular, &first()),
        entry("set/b.bin", EntryType::Regular, &second()),
    ])
}

/// Returns the source of an archive with `a.bin` and `b.bin`.
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

fn fetch_into(
    directory: &TempDir,
    bytes: &[u8],
    server: &Server,
) -> Result<FetchOutcome, FetchError> {
    fetch(&source(bytes, server), directory.path(), hasty(), &mut |_| {})
        .map(|(_, fetched)| fetched)
}

/// Asserts that both files are present and that there are no others.
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
fn the_members_are_extracted_and_the_archive_is_removed() {
    let (directory, server) = (TempDir::new().unwrap(), Server::start(valid(), &[]));
    assert_eq!(fetch_into(&directory, &valid(), &server).unwrap(), FetchOutcome::Archives(1));
    assert_unpacked(&directory);
    assert_eq!(fetch_into(&directory, &valid(), &server).unwrap(), FetchOutcome::AlreadyPresent);
    assert_eq!(server.ranges(), [None]);
}

#[test]
fn a_missing_member_causes_another_fetch() {
    let (directory, server) = (TempDir::new().unwrap(), Server::start(valid(), &[]));
    fetch_into(&directory, &valid(), &server).unwrap();
    fs::remove_file(directory.path().join("deep/set/b.bin")).unwrap();
    // A kill during the extraction leaves such a file.
    fs::write(directory.path().join("deep/set/b.bin.part"), b"half of i").unwrap();
    assert_eq!(fetch_into(&directory, &valid(), &server).unwrap(), FetchOutcome::Archives(1));
    assert_unpacked(&directory);
}

/// A file with the name of a member and other contents may be the user's.
#[test]
fn a_file_with_the_name_of_a_member_is_not_replaced() {
    let (directory, server) = (TempDir::new().unwrap(), Server::start(valid(), &[]));
    let file = directory.path().join("deep/set/b.bin");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, b"mine").unwrap();
    let error = fetch_into(&directory, &valid(), &server).unwrap_err();
    assert!(matches!(&error, FetchError::Occupied(path) if *path == file), "{error}");
    assert!(fs::read(&file).unwrap() == b"mine" && server.ranges().is_empty());
    fs::remove_file(&file).unwrap();
    fetch_into(&directory, &valid(), &server).unwrap();
    assert_unpacked(&directory);
}

#[test]
fn an_archive_that_is_present_is_used_and_kept() {
    let (directory, server) =
        (TempDir::new().unwrap(), Server::start(Vec::new(), &[Fault::Status(404)]));
    let archive = directory.path().join("deep/set/set.tar.gz");
    fs::create_dir_all(archive.parent().unwrap()).unwrap();
    fs::write(&archive, valid()).unwrap();
    fetch_into(&directory, &valid(), &server).unwrap();
    assert_eq!(fs::read(&archive).unwrap(), valid());
    fs::remove_file(&archive).unwrap();
    assert_unpacked(&directory);
}

/// A file with the name of the archive and other contents is neither used nor replaced.
#[test]
fn another_archive_of_the_same_name_stays() {
    let (directory, server) = (TempDir::new().unwrap(), Server::start(valid(), &[]));
    let archive = directory.path().join("deep/set/set.tar.gz");
    fs::create_dir_all(archive.parent().unwrap()).unwrap();
    fs::write(&archive, b"mine").unwrap();
    fetch_into(&directory, &valid(), &server).unwrap();
    assert_eq!(fs::read(&archive).unwrap(), b"mine");
    fs::remove_file(&archive).unwrap();
    assert_unpacked(&directory);
}

/// A kill after the download leaves the complete partial file.
#[test]
fn a_complete_partial_archive_is_unpacked_and_removed() {
    let (directory, server) =
        (TempDir::new().unwrap(), Server::start(Vec::new(), &[Fault::Status(404)]));
    let part = directory.path().join("deep/set/set.tar.gz.part");
    fs::create_dir_all(part.parent().unwrap()).unwrap();
    fs::write(&part, valid()).unwrap();
    fetch_into(&directory, &valid(), &server).unwrap();
    assert_unpacked(&directory);
}

#[test]
fn paths_and_links_in_the_archive_are_ignored() {
    let malicious = archive(&[
        entry("set/a.bin", EntryType::Symlink, b""),
        entry("../../escaped.bin", EntryType::Regular, b"escaped"),
        entry("../../a.bin", EntryType::Regular, &first()),
        entry("/b.bin", EntryType::Regular, &second()),
    ]);
    let (directory, server) = (TempDir::new().unwrap(), Server::start(malicious.clone(), &[]));
    fetch_into(&directory, &malicious, &server).unwrap();
    assert_unpacked(&directory);
}

#[test]
fn errors_name_wrong_and_missing_members() {
    let wrong = archive(&[entry("a.bin", EntryType::Regular, &second())]);
    let missing = archive(&[entry("b.bin", EntryType::Regular, &second())]);
    for bytes in [wrong, missing] {
        let (directory, server) = (TempDir::new().unwrap(), Server::start(bytes.clone(), &[]));
        let error = fetch_into(&directory, &bytes, &server).unwrap_err();
        assert!(
            matches!(&error, FetchError::Member { member, .. } if member == "a.bin"),
            "{error}"
        );
        let set = directory.path().join("deep/set");
        assert!(
            ["a.bin", "a.bin.part", "set.tar.gz", "set.tar.gz.part"]
                .iter()
                .all(|name| !set.join(name).exists())
        );
    }
}
