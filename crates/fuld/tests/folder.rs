//! Folders are taken only if this program made them.

use crate::resumption::scratch;
use fuld::folder::{FolderError, OwnedFolder};
use std::fs;

#[test]
fn only_a_marker_of_this_program_makes_a_folder_ours() {
    let path = &scratch("folder");
    let open = || OwnedFolder::open(path, "train").map(drop);
    // An empty marker is that of a process that was killed before it wrote anything else.
    for (marker, file) in [("", Some("notes.txt")), ("mine", None), ("mine", Some("notes.txt"))] {
        fs::write(path.join(".fuld"), marker).unwrap();
        file.iter().for_each(|file| fs::write(path.join(file), "mine").unwrap());
        let error = open().unwrap_err();
        assert!(matches!(error, FolderError::Foreign { .. }), "{error}");
        assert_eq!(fs::read_to_string(path.join(".fuld")).unwrap(), marker);
        let _ = fs::remove_file(path.join("notes.txt"));
    }
    fs::write(path.join(".fuld"), "").unwrap();
    open().unwrap();
    fs::write(path.join("notes.txt"), "mine").unwrap();
    open().unwrap();
    assert!(OwnedFolder::is_made_by(path, "train") && !OwnedFolder::is_made_by(path, "sweep"));
    let error = OwnedFolder::open(path, "sweep").unwrap_err().to_string();
    assert!(error.contains("was made by `fuld train`"), "{error}");
    for below in ["notes.txt", "notes.txt/run"] {
        let error = OwnedFolder::open(&path.join(below), "train").unwrap_err().to_string();
        assert!(error.contains("notes.txt is a file"), "{error}");
    }
}
