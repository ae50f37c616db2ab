//! Folders that cannot be written, and a full disk.

use super::{WELL, assert_same_run, scratch};
use crate::program::{fuld, places};
use std::path::Path;
use std::process::Command;

#[test]
fn a_file_instead_of_the_folder_is_an_error() {
    places::assert_file_is_refused(WELL, &["--out"]);
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_an_error() {
    places::assert_read_only_folder_is_refused(WELL, &["run", "--out"]);
}

/// A small disk, which is unmounted when the value is dropped.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    fn mount(at: &'a Path, size: &str) -> Option<Self> {
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", size, "fuld-test"]).arg(at).output();
        mounted.is_ok_and(|ended| ended.status.success()).then_some(Self(at))
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_run_continues_after_a_full_disk() {
    const LARGE: &str = "sample x^4/4-x^2/2 --chains 64 --draws 10000 --thin 2 --checkpoint-every 0.02 --seed 0 --out run";
    let folder = scratch();
    let run = folder.path().join("run");
    std::fs::create_dir(&run).unwrap();
    let Some(disk) = Disk::mount(&run, "size=2m") else {
        println!("skipped: this user may not mount a small disk");
        return;
    };
    // Five megabytes of draws on a disk of two.
    fuld(folder.path(), LARGE)
        .with(1, &["No space left", "fuld sample --resume --out run continues"]);
    let grown = Command::new("mount").args(["-o", "remount,size=64m"]).arg(&run).status();
    assert!(grown.unwrap().success());
    fuld(folder.path(), "sample --resume --out run").with(0, &[]);
    let unbroken = scratch();
    fuld(unbroken.path(), LARGE).with(0, &[]);
    assert_same_run(&run, &unbroken.path().join("run"));
    drop(disk);
}
