//! Extraction of the files of a data set from a tar archive.

use super::fetch_error::FetchError;
use super::partial_file::PartialFile;
use super::sources::ArchiveMember;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use tar::{Archive, EntryType};

/// Extracts these files of an archive into a folder and verifies each.
///
/// Paths in the archive do not determine where a file is written: only their last component is
/// compared with the names of the members. A malicious archive therefore cannot write outside the
/// folder.
pub(super) fn unpack(
    archive: &Path,
    members: &[ArchiveMember],
    folder: &Path,
) -> Result<(), FetchError> {
    let mut missing: Vec<&ArchiveMember> = members.iter().collect();
    let unreadable = |source| FetchError::read(archive, source);
    let file = File::open(archive).map_err(unreadable)?;
    let mut tar = Archive::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, file)));
    for entry in tar.entries().map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let Some(at) = missing.iter().position(|member| is_member(&entry, member)) else {
            continue;
        };
        extract(entry, missing.swap_remove(at), folder, archive)?;
        if missing.is_empty() {
            break;
        }
    }
    missing.first().map_or(Ok(()), |member| Err(invalid(archive, member)))
}

fn is_member<R: Read>(entry: &tar::Entry<'_, R>, member: &ArchiveMember) -> bool {
    let name = entry.path().ok().and_then(|path| path.file_name().map(PathBuf::from));
    entry.header().entry_type() == EntryType::Regular
        && name.as_deref() == Some(Path::new(&member.name))
}

/// Extracts one file. Reads no more than its expected length, so that a wrong entry cannot fill the
/// disk.
fn extract(
    entry: impl Read,
    member: &ArchiveMember,
    folder: &Path,
    archive: &Path,
) -> Result<(), FetchError> {
    let mut part = PartialFile::create(&folder.join(&member.name))?;
    let mut entry = entry.take(member.size);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match entry.read(&mut buffer).map_err(|source| FetchError::read(archive, source))? {
            0 => break,
            read => part.append(&buffer[..read])?,
        }
    }
    if part.sha256()? == member.sha256 {
        part.finish()
    } else {
        part.remove();
        Err(invalid(archive, member))
    }
}

fn invalid(archive: &Path, member: &ArchiveMember) -> FetchError {
    FetchError::Member { archive: archive.into(), member: member.name.clone() }
}
