//! Several processes that share a folder.

use super::table::SweepTable;
use super::{runs, swept, with_grid};
use crate::program::{Ended, start, wait};
use tempfile::TempDir;

const GRID: &str = "width = [8, 12]\ndepth = 2\nbatch = 20\niterations = 200\nmeasure_every = 20\nseed = '0..6'\nalpha = [2, 1.6]\n";

/// Runs several sweeps concurrently.
fn at_once(folder: &TempDir, options: &[&str]) -> Vec<Ended> {
    let start = |options: &&str| {
        start(folder.path(), &format!("sweep grid.toml --out swept --threads 1 {options}"))
    };
    let children: Vec<_> = options.iter().map(start).collect();
    children.into_iter().map(|child| wait(child).with(0, &[])).collect()
}

/// Returns the number of runs that a sweep trained, from its output.
fn done(ended: &Ended) -> usize {
    let line = ended.stdout.lines().find(|line| line.contains(" runs in ")).unwrap();
    line.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn concurrent_shards_give_the_table_of_one_sweep() {
    let whole = swept(GRID);
    let folder = with_grid(GRID);
    let ended = at_once(&folder, &["--shard 1/3", "--shard 2/3", "--shard 3/3"]);
    assert_eq!(ended.iter().map(done).collect::<Vec<_>>(), [8, 8, 8]);
    assert_eq!(SweepTable::of(&folder).timeless(), SweepTable::of(&whole).timeless());
}

#[test]
fn concurrent_processes_train_each_run_once() {
    let folder = with_grid(GRID);
    let ended = at_once(&folder, &["", "", ""]);
    assert_eq!(ended.iter().map(done).sum::<usize>(), 24);
    let table = SweepTable::of(&folder);
    assert_eq!((table.rows.len(), table.count("finished"), runs(&folder).len()), (24, 24, 24));
    assert_eq!(table.timeless(), SweepTable::of(&swept(GRID)).timeless());
}
