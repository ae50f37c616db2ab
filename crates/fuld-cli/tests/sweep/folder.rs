//! Foreign folders are not changed, and the folder of a sweep suffices to continue it.

use super::table::SweepTable;
use super::{SWEEP, runs, swept, with_grid};
use crate::program::fuld;
use std::path::PathBuf;

const SMALL: &str =
    "width = 8\ndepth = 2\nbatch = 20\niterations = 20\nmeasure_every = 10\nseed = '0..3'\n";

#[test]
fn a_foreign_folder_is_not_changed() {
    let folder = with_grid(SMALL);
    let out = folder.path().join("swept");
    std::fs::create_dir(&out).unwrap();
    for name in ["lock", "results.csv"] {
        std::fs::write(out.join(name), "mine").unwrap();
    }
    for options in ["", "--fresh"] {
        fuld(folder.path(), &format!("{SWEEP} {options}"))
            .with(2, &["swept", "which fuld did not write"]);
        for name in ["lock", "results.csv"] {
            assert_eq!(std::fs::read(out.join(name)).unwrap(), b"mine");
        }
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 2);
    }
    // The folder of another command is refused too.
    fuld(folder.path(), "train --width 8 --depth 2 --iterations 10 --out trained").with(0, &[]);
    fuld(folder.path(), "sweep grid.toml --out trained").with(2, &["was made by `fuld train`"]);
}

#[test]
fn fresh_deletes_only_files_of_sweeps() {
    let folder = swept(SMALL);
    let before = SweepTable::of(&folder).timeless();
    std::fs::write(folder.path().join("swept/notes.txt"), "mine").unwrap();
    std::fs::write(runs(&folder)[0].join("notes.txt"), "mine too").unwrap();
    let ended = fuld(folder.path(), &format!("{SWEEP} --fresh")).with(0, &[]);
    assert!(
        ended.stdout.contains("3 runs in") && !ended.stdout.contains("already done"),
        "{}",
        ended.stdout
    );
    assert_eq!(SweepTable::of(&folder).timeless(), before);
    assert_eq!(std::fs::read(folder.path().join("swept/notes.txt")).unwrap(), b"mine");
    assert_eq!(std::fs::read(runs(&folder)[0].join("notes.txt")).unwrap(), b"mine too");
}

/// Runs of `fuld train` are not those of a sweep, even in its folder and under the name that the
/// sweep would give them. Neither are runs behind symbolic links.
#[cfg(unix)]
#[test]
fn runs_that_no_sweep_made_are_neither_deleted_nor_listed() {
    let folder = swept(SMALL);
    let out = folder.path().join("swept");
    let train = "train --width 8 --depth 2 --batch 20 --iterations 20 --measure-every 10 --seed";
    // The default folder of `fuld train` is runs/NAME.
    fuld(&out, &format!("{train} 7")).with(0, &[]);
    fuld(folder.path(), &format!("{train} 8 --out swept/runs/mine")).with(0, &[]);
    let elsewhere = swept(SMALL);
    let linked = out.join("runs/linked");
    std::os::unix::fs::symlink(&runs(&elsewhere)[0], &linked).unwrap();
    std::fs::write(out.join(".table-lock"), "mine").unwrap();
    std::fs::create_dir_all(out.join("failures")).unwrap();
    std::fs::write(out.join("failures/mine.toml"), "mine = 1\n").unwrap();
    std::fs::write(out.join("stack-0123.bin"), "mine").unwrap();
    let others = || -> Vec<PathBuf> {
        let mut others = runs(&folder);
        others.retain(|run| {
            let marker = std::fs::read_to_string(run.join(".fuld")).unwrap();
            marker.contains("fuld train") || *run == linked
        });
        others
    };
    let before = others();
    assert_eq!(before.len(), 3);
    for options in ["", "--fresh"] {
        fuld(folder.path(), &format!("{SWEEP} {options}")).with(0, &[]);
        assert_eq!(SweepTable::of(&folder).rows.len(), 3);
        assert_eq!(others(), before);
        assert!(before.iter().all(|run| run.join("result.toml").exists()), "after {options:?}");
        for name in [".table-lock", "failures/mine.toml", "stack-0123.bin"] {
            assert!(std::fs::read_to_string(out.join(name)).unwrap().starts_with("mine"), "{name}");
        }
    }
    // A run of `fuld train` in the place of one of the sweep is not used.
    fuld(&out, &format!("{train} 3")).with(0, &[]);
    std::fs::write(folder.path().join("grid.toml"), SMALL.replace("'0..3'", "3")).unwrap();
    fuld(folder.path(), SWEEP).with(1, &["was made by `fuld train`"]);
    // A folder of runs that is a link is not cleared.
    std::fs::rename(out.join("runs"), folder.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("moved"), out.join("runs")).unwrap();
    fuld(folder.path(), &format!("{SWEEP} --fresh")).with(2, &["runs is a symbolic link"]);
    assert_eq!(runs(&folder).len(), 7);
}

#[test]
fn resume_requires_only_the_folder() {
    let folder = with_grid(SMALL);
    fuld(folder.path(), "sweep --resume --out swept")
        .with(2, &["swept contains no run to continue"]);
    assert!(!folder.path().join("swept").exists());
    fuld(folder.path(), &format!("{SWEEP} --shard 1/3")).with(0, &[]);
    // Settings beside --resume must be equal to the stored ones.
    fuld(folder.path(), "sweep --resume").with(2, &["--out"]);
    std::fs::write(folder.path().join("other.toml"), SMALL.replace("batch = 20", "batch = 30"))
        .unwrap();
    for (options, says) in [
        ("other.toml", "stored batch = 20, requested batch = 30"),
        ("--data mnist", "stored no data, requested data = mnist"),
        ("--device cuda", "stored device = cpu, requested device = cuda"),
    ] {
        fuld(folder.path(), &format!("sweep --resume --out swept {options}"))
            .with(2, &["swept contains a run with other settings", says]);
    }
    let ended = fuld(
        folder.path(),
        "sweep grid.toml --resume --out swept --shard 1/3 --device cpu --data digits",
    )
    .with(0, &[]);
    assert!(ended.stdout.contains("1 already done"), "{}", ended.stdout);
    std::fs::remove_file(folder.path().join("grid.toml")).unwrap();
    let ended = fuld(folder.path(), "sweep --resume --out swept").with(0, &[]);
    assert!(
        ended.stdout.contains("2 runs in") && ended.stdout.contains("1 already done"),
        "{}",
        ended.stdout
    );
    assert_eq!(SweepTable::of(&folder).timeless(), SweepTable::of(&swept(SMALL)).timeless());
}

/// A grid that grows keeps its finished runs; the table lists the runs of the present grid only.
#[test]
fn the_table_lists_only_the_runs_of_the_grid() {
    let folder = swept(SMALL);
    let seeds = || -> Vec<String> {
        SweepTable::of(&folder).rows.into_iter().map(|row| row["seed"].clone()).collect()
    };
    let sweep = |seeds: &str, options: &str| {
        std::fs::write(folder.path().join("grid.toml"), SMALL.replace("'0..3'", seeds)).unwrap();
        fuld(folder.path(), &format!("{SWEEP} {options}")).with(0, &[]).stdout
    };
    let ended = sweep("'1..5'", "--json");
    let ended: serde_json::Value = serde_json::from_str(&ended).unwrap();
    assert_eq!((&ended["counts"]["before"], &ended["counts"]["done"]), (&2.into(), &2.into()));
    assert_eq!(ended["rows"].as_array().unwrap().len(), 4);
    assert_eq!(seeds(), ["1", "2", "3", "4"]);
    // The table of a shard has the runs of all shards.
    sweep("'2..5'", "--shard 1/3");
    assert_eq!(seeds(), ["2", "3", "4"]);
    // The first grid again: no run is trained twice.
    assert!(sweep("'0..3'", "").contains("0 runs in"));
    assert_eq!(seeds(), ["0", "1", "2"]);
    assert_eq!(runs(&folder).len(), 5);
}

/// The result of one run, copied into the folder of another, has a valid checksum.
#[test]
fn the_result_of_another_run_is_an_error() {
    let folder = swept(SMALL);
    let places = runs(&folder);
    std::fs::copy(places[0].join("result.toml"), places[1].join("result.toml")).unwrap();
    fuld(folder.path(), SWEEP).with(1, &["contains a run with other settings"]);
    let table = SweepTable::of(&folder);
    assert_eq!((table.count("finished"), table.count("failed")), (2, 1));
    assert!(table.row(&places[1])["error"].contains("seed"), "{:?}", table.row(&places[1]));
}

#[test]
fn given_data_sets_replace_those_of_the_grid() {
    let folder = with_grid(&format!("data = 'mnist'\n{SMALL}"));
    fuld(folder.path(), &format!("{SWEEP} --data digits")).with(0, &[]);
    assert!(SweepTable::of(&folder).rows.iter().all(|row| row["data"] == "digits"));
}
