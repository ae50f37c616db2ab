//! Dry runs, invalid grids and the summary.

use super::table::SweepTable;
use super::{GRID, SWEEP, swept, with_grid};
use crate::program::fuld;

#[test]
fn a_dry_run_lists_the_runs_and_writes_nothing() {
    let folder = with_grid(GRID);
    let ended = fuld(folder.path(), &format!("{SWEEP} --dry-run")).with(0, &["12 runs", "swept"]);
    let mut names: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(names.len(), 12);
    let here: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(here, ["grid.toml"]);
    // The listed runs are those that are trained.
    let table = SweepTable::of(&swept(GRID));
    let mut runs: Vec<&str> = table.rows.iter().map(|row| row["run"].as_str()).collect();
    names.sort_unstable();
    runs.sort_unstable();
    assert_eq!(names, runs);
    let shards: usize = ["1/5", "2/5", "3/5", "4/5", "5/5"]
        .iter()
        .map(|shard| {
            fuld(folder.path(), &format!("{SWEEP} --dry-run --shard {shard}"))
                .stdout
                .lines()
                .count()
        })
        .sum();
    assert_eq!(shards, 12);
}

#[test]
fn errors_name_the_invalid_key_or_value() {
    for (grid, says) in [
        ("widht = 8", &["grid.toml", "widht", "did you mean `width`?"][..]),
        ("measure-every = 8", &["grid.toml", "`measure_every`"]),
        ("measure_every = 0", &["grid.toml", "measure_every must be at least 1, got 0"]),
        ("noise_scale = 'injected'", &["grid.toml", "requires inject_noise"]),
        ("lr = 0.1\nkappa = 1\nnoise_scale = 1", &["grid.toml", "noise_scale and kappa"]),
        ("noise_scale = 'auto'", &["grid.toml", "guard = \"default\""]),
        ("width = ", &["grid.toml", "line 1"]),
        ("width = 8\nalpha = [1.5, 2.1]", &["grid.toml", "2.1"]),
        ("width = 'wide'", &["grid.toml", "wide"]),
        ("width = []", &["grid.toml", "width is an empty list"]),
        ("eta = 0.1\nlr = 0.1", &["grid.toml", "eta and lr"]),
        ("data = 'imagenet'", &["grid.toml", "imagenet"]),
        ("seed = '5..2'", &["grid.toml", "5..2"]),
        ("batch = [20, 1443]", &["grid.toml", "1443", "at most 1442"]),
        ("\u{0}\u{1}", &["grid.toml"]),
    ] {
        let folder = with_grid(grid);
        fuld(folder.path(), SWEEP).with(2, says);
        assert!(!folder.path().join("swept").exists(), "{grid}");
    }
    let folder = with_grid(GRID);
    fuld(folder.path(), "sweep missing.toml").with(2, &["missing.toml"]);
    std::fs::write(folder.path().join("latin.toml"), b"data = '\xe9'").unwrap();
    fuld(folder.path(), "sweep latin.toml").with(2, &["latin.toml"]);
    for shard in ["0/3", "4/3", "x"] {
        fuld(folder.path(), &format!("{SWEEP} --shard {shard}")).with(2, &["--shard", shard]);
    }
    std::fs::write(folder.path().join("swept"), "mine").unwrap();
    fuld(folder.path(), SWEEP).with(2, &["swept is a file"]);
    assert_eq!(std::fs::read(folder.path().join("swept")).unwrap(), b"mine");
}

/// Runs that differ in another setting than the seed are not averaged.
#[test]
fn the_summary_averages_only_over_seeds() {
    let grid = "width = 8\ndepth = 2\niterations = 20\nmeasure_every = 10\nbatch = [20, 30]\nseed = [0, 1]\n\
        inject_noise = ['1.2,1e-3', '1.9,1e-3']\n";
    let folder = with_grid(grid);
    let summary = fuld(folder.path(), SWEEP).with(0, &[]).stdout;
    let lines: Vec<&str> = summary.lines().collect();
    assert!(
        lines[0].contains("batch")
            && lines[0].contains("injected_alpha")
            && !lines[0].contains("iterations"),
        "{summary}"
    );
    let twos =
        lines[1..5].iter().filter(|line| line.contains("digits") && line.contains(" ± ")).count();
    assert_eq!(twos, 4, "{summary}");
}

/// Runs with the two fields have different names and rows.
#[test]
fn runs_with_different_fields_are_distinct() {
    let folder = swept(
        "width = 8\ndepth = 2\niterations = 20\nmeasure_every = 10\nfield = ['paper', 'authors']\n",
    );
    let table = SweepTable::of(&folder);
    let fields: Vec<&str> = table.rows.iter().map(|row| row["field"].as_str()).collect();
    assert!(fields.len() == 2 && fields.contains(&"") && fields.contains(&"authors"), "{fields:?}");
    assert_ne!(table.rows[0]["train_loss"], table.rows[1]["train_loss"]);
}
