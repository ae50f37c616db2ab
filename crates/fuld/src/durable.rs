//! Files that survive whatever happens while they are written.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// FNV-1a: enough to notice a cut or a changed byte, or that two texts differ.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &b| (sum ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// Where a file is while it is not whole yet: NAME.part, beside its place.
pub fn part(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Writes a file beside its place, makes it durable and renames it into place: whenever the program is killed, the old file or the new
/// one is there, whole.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = part(path);
    let written = std::fs::File::create(&part).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| std::fs::rename(&part, path)).inspect_err(|_| {
        // Of no use to anyone, and perhaps in the way of a full disk.
        let _ = std::fs::remove_file(&part);
    })?;
    // The name too, where the system lets one.
    if let Ok(folder) =
        std::fs::File::open(path.parent().filter(|p| *p != Path::new("")).unwrap_or(Path::new(".")))
    {
        let _ = folder.sync_all();
    }
    Ok(())
}
