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

/// A marker that is a symbolic link would be created, or locked, outside the folder.
#[cfg(unix)]
#[test]
fn a_linked_marker_is_refused() {
    let path = &scratch("linked-marker");
    let (outside, folder) = (path.join("outside"), path.join("folder"));
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(&outside, folder.join(".fuld")).unwrap();
    for text in [None, Some("This folder was made by fuld train\n"), Some("")] {
        text.iter().for_each(|text| fs::write(&outside, text).unwrap());
        let error = OwnedFolder::open(&folder, "train").unwrap_err();
        assert!(matches!(&error, FolderError::Foreign { file, .. } if file == ".fuld"), "{error}");
        assert_eq!(fs::read_to_string(&outside).ok().as_deref(), text);
        assert!(!OwnedFolder::is_made_by(&folder, "train"));
    }
}

#[test]
fn only_plain_names_are_deleted() {
    let path = &scratch("plain-names");
    let folder = OwnedFolder::open(&path.join("folder"), "train").unwrap();
    fs::create_dir(folder.path().join("runs")).unwrap();
    let outside = path.join("precious.png");
    let files = [&outside, &folder.path().join("runs/1.toml"), &folder.path().join("a.csv")];
    files.iter().for_each(|file| fs::write(file, "mine").unwrap());
    for name in [
        "../precious.png",
        outside.to_str().unwrap(),
        "runs/1.toml",
        "runs/../a.csv",
        "..",
        ".",
        "",
        "a.csv/",
    ] {
        for error in [
            folder.remove(["a.csv", name]).unwrap_err(),
            folder.remove_in("runs", ["1.toml", name]).unwrap_err(),
            folder.remove_in(name, ["1.toml"]).unwrap_err(),
        ] {
            assert!(matches!(&error, FolderError::NotPlain(refused) if refused == name), "{error}");
        }
    }
    assert!(files.iter().all(|file| file.exists()));
    folder.remove(["a.csv", "missing.csv"]).unwrap();
    folder.remove_in("runs", ["1.toml", "2.toml"]).unwrap();
    folder.remove_in("missing", ["1.toml"]).unwrap();
    assert!(
        outside.exists()
            && !folder.path().join("a.csv").exists()
            && !folder.path().join("runs").exists()
    );
}

#[cfg(unix)]
#[test]
fn nothing_behind_a_link_is_deleted() {
    let path = &scratch("links");
    let folder = OwnedFolder::open(&path.join("folder"), "train").unwrap();
    let outside = path.join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("1.toml"), "mine").unwrap();
    let link = folder.path().join("runs");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let error = folder.remove_in("runs", ["1.toml"]).unwrap_err();
    assert!(matches!(&error, FolderError::Link(refused) if *refused == link), "{error}");
    folder.remove(["runs"]).unwrap();
    assert!(outside.join("1.toml").exists() && fs::symlink_metadata(&link).is_err());
}
