//! Lines of comma-separated values.

/// Cells as a line, with quotes where there must be.
pub fn line(cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let quoted = |cell: &str| {
        let plain = !cell.contains([',', '"', '\n', '\r']);
        if plain { cell.to_owned() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
    };
    cells.into_iter().map(|cell| quoted(cell.as_ref())).collect::<Vec<_>>().join(",") + "\n"
}
