//! The printed table of a sweep: one line for all runs that differ only in their seed.

use fuld_sample::aligned;
use fuld_train::sweep::SweepRow;

/// Returns a table of means and standard deviations over seeds.
pub(super) fn sweep_summary(rows: &[SweepRow]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let key: Vec<&str> = first.setting_columns().filter(|column| *column != "seed").collect();
    // Groups are ordered by their first rows.
    let mut groups: Vec<(Vec<String>, Vec<&SweepRow>)> = Vec::new();
    for row in rows {
        let settings: Vec<String> = key.iter().map(|column| row.text(column)).collect();
        match groups.iter_mut().find(|(same, _)| *same == settings) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((settings, vec![row])),
        }
    }
    // Columns with a single value are left out, except these.
    let varies = |column: usize| {
        ["data", "width", "depth", "optimizer", "alpha"].contains(&key[column])
            || groups.iter().any(|(settings, _)| settings[column] != groups[0].0[column])
    };
    let columns: Vec<usize> = (0..key.len()).filter(|&column| varies(column)).collect();
    let mut table: Vec<Vec<String>> = vec![
        columns
            .iter()
            .map(|&column| key[column].to_string())
            .chain(["runs", "train loss", "test loss", "test accuracy", ""].map(String::from))
            .collect(),
    ];
    for (settings, rows) in &groups {
        let ended: Vec<&&SweepRow> =
            rows.iter().filter(|row| row.text("status") == "finished").collect();
        let values =
            |column: &str| ended.iter().filter_map(|row| row.number(column)).collect::<Vec<f64>>();
        let percent: Vec<f64> =
            values("test_accuracy").iter().map(|accuracy| 100.0 * accuracy).collect();
        let count = |status: &str| rows.iter().filter(|row| row.text("status") == status).count();
        let notes: Vec<String> = ["diverged", "failed"]
            .iter()
            .map(|status| (count(status), status))
            .filter(|(count, _)| *count > 0)
            .map(|(count, status)| format!("{count} {status}"))
            .collect();
        let mut line: Vec<String> =
            columns.iter().map(|&column| settings[column].clone()).collect();
        line.extend([
            rows.len().to_string(),
            spread(&values("train_loss"), 4),
            spread(&values("test_loss"), 4),
            spread(&percent, 2) + if percent.is_empty() { "" } else { " %" },
            notes.join(", "),
        ]);
        table.push(line);
    }
    aligned(&table)
}

/// Returns mean ± standard deviation.
fn spread(values: &[f64], digits: usize) -> String {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    match values.len() {
        0 => "–".into(),
        1 => format!("{mean:.digits$}"),
        _ => format!("{mean:.digits$} ± {:.digits$}", variance.sqrt()),
    }
}
