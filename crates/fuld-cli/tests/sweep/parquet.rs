//! `results.parquet` contains the same table as `results.csv`.

use super::table::SweepTable;
use super::{SWEEP, with_grid};
use crate::program::fuld;
use parquet::basic::Type;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use tempfile::TempDir;

const GRID: &str = "\
    width = 8\n\
    depth = 2\n\
    iterations = 20\n\
    measure_every = 10\n\
    [[grid]]\n\
    batch = [20, 21]\n\
    seed = [0, 1]\n\
    [[grid]]\n\
    optimizer = ['sgdm', 'adam']\n\
    lr = [0.01, 1e30]\n\
    [[grid]]\n\
    alpha = 1.5\n\
    lr = 0.01\n\
    noise_scale = 'injected'\n\
    inject_noise = '1.5,1e-3'\n";

fn open(folder: &TempDir) -> SerializedFileReader<File> {
    SerializedFileReader::new(File::open(folder.path().join("swept/results.parquet")).unwrap())
        .unwrap()
}

#[test]
fn csv_and_parquet_are_equal() {
    let folder = with_grid(GRID);
    // Files where two runs should have their folders.
    let names = fuld(folder.path(), &format!("{SWEEP} --dry-run")).with(0, &[]).stdout;
    std::fs::create_dir_all(folder.path().join("swept/runs")).unwrap();
    std::fs::write(folder.path().join("swept/.fuld"), "This folder was made by fuld sweep\n")
        .unwrap();
    for name in names.lines().take(2) {
        std::fs::write(folder.path().join("swept/runs").join(name), "in the way").unwrap();
    }
    fuld(folder.path(), SWEEP).with(1, &["failed: "]);
    let csv = SweepTable::of(&folder);
    let file = open(&folder);
    let columns = file.metadata().file_metadata().schema_descr().columns().to_vec();
    assert_eq!(columns.iter().map(|column| column.name()).collect::<Vec<_>>(), csv.columns);
    let kind =
        |name: &str| columns.iter().find(|column| column.name() == name).unwrap().physical_type();
    let kinds = ["run", "seed", "alpha", "error", "seconds"].map(kind);
    assert_eq!(
        kinds,
        [Type::BYTE_ARRAY, Type::INT64, Type::DOUBLE, Type::BYTE_ARRAY, Type::DOUBLE]
    );
    let text = |field: &Field| match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    let cells = |row: parquet::record::Row| -> BTreeMap<String, String> {
        row.get_column_iter().map(|(name, field)| (name.clone(), text(field))).collect()
    };
    let rows: Vec<_> = file.get_row_iter(None).unwrap().map(|row| cells(row.unwrap())).collect();
    assert_eq!(rows, csv.rows);
    // Rows of every status were compared.
    let statuses = ["finished", "failed", "diverged"].map(|status| csv.count(status));
    assert!(statuses[0] >= 4 && statuses[1] == 2 && statuses[2] >= 1, "{statuses:?}");
    assert!(
        csv.rows.iter().any(|row| row["noise_scale"] == "0.001" && row["injected_alpha"] == "1.5")
    );
}

/// A sweep that is stopped before the first result has tables with all columns and no rows.
#[test]
fn an_empty_table_has_all_columns() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("swept");
    std::fs::create_dir(&out).unwrap();
    assert!(fuld_train::sweep::write_table(&out, &HashSet::new()).unwrap().is_empty());
    let csv = SweepTable::of(&folder);
    assert!(csv.rows.is_empty() && csv.columns.contains(&"test_accuracy".into()), "{csv:?}");
    let file = open(&folder);
    assert_eq!(file.metadata().file_metadata().num_rows(), 0);
    assert_eq!(file.metadata().file_metadata().schema_descr().num_columns(), csv.columns.len());
}
