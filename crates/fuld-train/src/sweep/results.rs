//! The files `results.csv` and `results.parquet` of a sweep.

use super::parquet;
use super::table::{SweepRow, lock, sweep_rows};
use fuld::durable::replace;
use std::collections::HashSet;
use std::io;
use std::path::Path;

/// Writes `results.csv` and `results.parquet` of those runs of the grid that have ended, and
/// returns their rows. `grid` contains the names of the runs; the folder may also contain the runs
/// of other grids. Only one process writes at a time.
pub fn write_table(out: &Path, grid: &HashSet<String>) -> io::Result<Vec<SweepRow>> {
    let _lock = lock(out)?;
    let rows = sweep_rows(out, grid)?;
    replace(&out.join("results.csv"), &csv_bytes(&rows).map_err(io::Error::other)?)?;
    replace(&out.join("results.parquet"), &parquet::bytes(&rows).map_err(io::Error::other)?)?;
    Ok(rows)
}

fn csv_bytes(rows: &[SweepRow]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(SweepRow::empty().cells.iter().map(|(column, _)| column))?;
    for row in rows {
        writer.write_record(row.cells.iter().map(|(_, cell)| cell.to_string()))?;
    }
    writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}
