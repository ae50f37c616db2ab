//! Files that are replaced whole or not at all, even if the program is killed while it writes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Returns the FNV-1a checksum of bytes, which detects truncated or changed files. It does not
/// identify contents: use SHA-256 for that.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, &b| (sum ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns the path of a file while it is being written: NAME.part, in the same directory.
pub fn part(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Writes a file beside its place, makes it durable and renames it into place: whenever the program
/// is killed, either the old or the new file is there, whole.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = part(path);
    let written = std::fs::File::create(&part).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| std::fs::rename(&part, path)).inspect_err(|_| {
        // The partial file is useless and occupies space, perhaps on a full disk.
        let _ = std::fs::remove_file(&part);
    })?;
    // The directory entry is made durable too, where the system supports it.
    if let Ok(folder) =
        std::fs::File::open(path.parent().filter(|p| *p != Path::new("")).unwrap_or(Path::new(".")))
    {
        let _ = folder.sync_all();
    }
    Ok(())
}
