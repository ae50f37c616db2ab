//! Failed runs are rows of the table and do not affect other runs.

use super::table::SweepTable;
use super::{SWEEP, runs, swept, with_grid};
use crate::program::fuld;

const SMALL: &str = "width = 8\ndepth = 2\nbatch = 20\niterations = 20\nmeasure_every = 10\nseed = '0..5'\nalpha = 1.6\n";

#[test]
fn failed_runs_are_rows_and_are_tried_again() {
    let whole = swept(SMALL);
    let folder = with_grid(SMALL);
    let places: Vec<_> = runs(&whole)
        .iter()
        .map(|run| folder.path().join("swept/runs").join(run.file_name().unwrap()))
        .collect();
    // A damaged checkpoint, a file where the folder should be, and a damaged result.
    for place in [&places[0], &places[2]] {
        std::fs::create_dir_all(place).unwrap();
        std::fs::write(place.join(".fuld"), "This folder was made by fuld sweep (one run)\n")
            .unwrap();
    }
    std::fs::write(folder.path().join("swept/.fuld"), "This folder was made by fuld sweep\n")
        .unwrap();
    let result = std::fs::read(runs(&whole)[2].join("result.toml")).unwrap();
    let damaged = [
        (
            places[0].join("checkpoint.bin"),
            &b"FULDNET2 and no more"[..],
            "checkpoint.bin is damaged",
        ),
        (places[1].clone(), b"in the way", "is a file"),
        (places[2].join("result.toml"), &result[..result.len() / 2], "result.toml cannot be read"),
    ];
    for (path, bytes, _) in &damaged {
        std::fs::write(path, bytes).unwrap();
    }
    for _ in 0..2 {
        let ended = fuld(folder.path(), SWEEP).with(1, &["failed: "]);
        assert!(ended.stdout.contains("3 failed (see the column error)"), "{}", ended.stdout);
        let table = SweepTable::of(&folder);
        assert_eq!((table.count("finished"), table.count("failed"), table.rows.len()), (2, 3, 5));
        for (seed, ((path, bytes, says), place)) in damaged.iter().zip(&places).enumerate() {
            let row = table.row(place);
            assert!(row["error"].contains(says), "{row:?}");
            assert_eq!((row["seed"].clone(), row["test_loss"].as_str()), (seed.to_string(), ""));
            assert!(std::fs::read(path).unwrap() == *bytes, "{} was changed", path.display());
        }
    }
    for (path, ..) in &damaged {
        std::fs::remove_file(path).unwrap();
    }
    let ended = fuld(folder.path(), SWEEP).with(0, &[]);
    assert!(
        ended.stdout.contains("3 runs in") && ended.stdout.contains("2 already done"),
        "{}",
        ended.stdout
    );
    assert_eq!(SweepTable::of(&folder).timeless(), SweepTable::of(&whole).timeless());
    assert_eq!(std::fs::read_dir(folder.path().join("swept/failures")).unwrap().count(), 0);
}

/// A shard does not know the settings of a damaged run of another shard. A run that is not in the
/// grid is not listed.
#[test]
fn a_damaged_result_of_another_shard_is_a_row() {
    let folder = swept(SMALL);
    let damaged = runs(&folder)[4].clone();
    std::fs::write(damaged.join("result.toml"), "status = ").unwrap();
    // Other files and folders are ignored.
    std::fs::write(folder.path().join("swept/runs/.hidden"), "").unwrap();
    std::fs::create_dir(folder.path().join("swept/runs/empty")).unwrap();
    fuld(folder.path(), &format!("{SWEEP} --shard 1/5")).with(0, &[]);
    let table = SweepTable::of(&folder);
    assert_eq!((table.count("finished"), table.count("failed")), (4, 1));
    let row = table.row(&damaged);
    assert!(
        row["error"].contains("result.toml cannot be read") && row["seed"].is_empty(),
        "{row:?}"
    );
    std::fs::write(folder.path().join("grid.toml"), SMALL.replace("'0..5'", "'0..4'")).unwrap();
    fuld(folder.path(), SWEEP).with(0, &[]);
    let table = SweepTable::of(&folder);
    assert_eq!((table.count("finished"), table.count("failed")), (4, 0));
}

#[test]
fn a_diverged_run_is_a_row_without_means() {
    let grid = SMALL.replace("'0..5'", "0");
    let grid = format!("{grid}[[grid]]\n[[grid]]\noptimizer = 'sgdm'\nlr = 1e20\n");
    let folder = with_grid(&grid);
    fuld(folder.path(), SWEEP).with(0, &["diverged: the loss was"]);
    let table = SweepTable::of(&folder);
    assert_eq!(
        (table.count("finished"), table.count("failed"), table.count("diverged")),
        (1, 0, 1)
    );
    let row = |status: &str| table.rows.iter().find(|row| row["status"] == status).unwrap();
    assert!(row("finished")["reached"] == "20" && !row("finished")["test_loss"].is_empty());
    assert!(
        row("diverged")["error"].is_empty()
            && row("diverged")["reached"].parse::<u64>().unwrap() < 20
    );
    assert!(row("diverged")["test_loss"].is_empty());
}
