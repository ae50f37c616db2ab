//! Taking the files of a data set out of an archive.

use super::fetch::FetchError;
use super::partial_file::PartialFile;
use super::sources::Member;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use tar::{Archive, EntryType};

/// Writes these files of an archive into a folder, each verified, and removes the archive.
///
/// Of the paths in the archive only the last name is looked at, and only to find the files that are wanted.
pub(super) fn unpack(archive: &Path, members: &[Member], folder: &Path) -> Result<(), FetchError> {
    let mut missing: Vec<&Member> = members.iter().collect();
    let unreadable = |source| FetchError::read(archive, source);
    let file = File::open(archive).map_err(unreadable)?;
    let mut tar = Archive::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, file)));
    for entry in tar.entries().map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let Some(at) = missing.iter().position(|member| is_of(&entry, member)) else { continue };
        write(entry, missing.swap_remove(at), folder, archive)?;
        if missing.is_empty() {
            break;
        }
    }
    let removed = std::fs::remove_file(archive).map_err(|source| FetchError::write(archive, source));
    match missing.first() {
        Some(member) => Err(absent(archive, member)),
        None => removed,
    }
}

fn is_of<R: Read>(entry: &tar::Entry<'_, R>, member: &Member) -> bool {
    let name = entry.path().ok().and_then(|path| path.file_name().map(PathBuf::from));
    entry.header().entry_type() == EntryType::Regular && name.as_deref() == Some(Path::new(&member.name))
}

/// Writes one file; what an archive holds beyond the right length is not read.
fn write(entry: impl Read, member: &Member, folder: &Path, archive: &Path) -> Result<(), FetchError> {
    let mut part = PartialFile::anew(&folder.join(&member.name))?;
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
        let _ = std::fs::remove_file(archive);
        Err(absent(archive, member))
    }
}

fn absent(archive: &Path, member: &Member) -> FetchError {
    FetchError::Member { archive: archive.into(), member: member.name.clone() }
}
