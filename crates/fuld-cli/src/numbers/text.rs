//! Reading of text in columns: CSV or numbers separated by white space, with or without a header
//! line.

use super::{Column, NumberTable, NumbersError, column_indices};
use std::borrow::Cow;
use std::path::Path;

/// A column while it is read.
#[derive(Default)]
struct Cells {
    values: Vec<f64>,
    /// The line and the text of the first cell that is not a number.
    foreign: Option<(usize, String)>,
}

/// Parses a text. Commas, semicolons, tabs or white space separate cells; the first line determines
/// which. Lines that start with `#` are comments. If the second line has one cell, white space in
/// the header is part of the name.
pub(super) fn parse(
    path: &Path,
    bytes: &[u8],
    wanted: &[String],
) -> Result<NumberTable, NumbersError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
        NumbersError::unusable(
            path,
            format!(
                "line {line} is not UTF-8 text; supported are .npy, .parquet and text in columns"
            ),
        )
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .peekable();
    let &(_, first) =
        lines.peek().ok_or_else(|| NumbersError::unusable(path, "it contains no numbers"))?;
    let separator = [',', ';', '\t'].into_iter().find(|&separator| first.contains(separator));
    let split = |(line, text): (usize, &'_ str)| {
        let cells: Option<Vec<String>> =
            split(text, separator).map(|cells| cells.into_iter().map(Cow::into_owned).collect());
        cells.ok_or_else(|| {
            NumbersError::unusable(path, format!("line {line}: a quote is not closed"))
        })
    };
    let mut head = split((0, first))?;
    let named = head.iter().any(|cell| number(cell).is_none());
    if named && separator.is_none() && head.len() > 1 {
        let second = lines.clone().nth(1).map(split).transpose()?;
        if second.is_some_and(|cells| cells.len() == 1) {
            head = vec![head.join(" ")];
        }
    }
    let names: Vec<String> = match named {
        true => head,
        false => (1..=head.len()).map(|number| number.to_string()).collect(),
    };
    if named {
        lines.next();
    }
    let mut columns: Vec<Cells> = names.iter().map(|_| Cells::default()).collect();
    for (line, text) in lines {
        let cells = split((line, text))?;
        if cells.len() != names.len() {
            let why =
                format!("line {line} has {} cells, but the first has {}", cells.len(), names.len());
            return Err(NumbersError::unusable(path, why));
        }
        for (column, cell) in columns.iter_mut().zip(cells) {
            let number = number(&cell);
            column.values.push(number.unwrap_or(f64::NAN));
            if number.is_none() && column.foreign.is_none() {
                column.foreign = Some((line, cell));
            }
        }
    }
    table(path, names, columns, wanted, !named)
}

fn table(
    path: &Path,
    names: Vec<String>,
    columns: Vec<Cells>,
    wanted: &[String],
    unnamed: bool,
) -> Result<NumberTable, NumbersError> {
    let foreign = |(line, cell): &(usize, String)| format!("line {line}: {cell:?} is not a number");
    let numeric = |&place: &usize| columns[place].foreign.is_none();
    let places = match wanted {
        [] => (0..names.len()).filter(numeric).collect(),
        wanted => column_indices(path, &names, wanted)?,
    };
    let refused = if places.is_empty() {
        Some(0)
    } else {
        places.iter().copied().find(|place| !numeric(place))
    };
    if let Some(place) = refused {
        let why = columns[place].foreign.as_ref().map(foreign).unwrap_or_default();
        return Err(NumbersError::unusable(path, format!("column {:?}, {why}", names[place])));
    }
    let left_out = match wanted {
        [] => names
            .iter()
            .zip(&columns)
            .filter_map(|(n, c)| Some((n.clone(), foreign(c.foreign.as_ref()?))))
            .collect(),
        _ => Vec::new(),
    };
    let column = |&place: &usize| Column {
        name: names[place].clone(),
        values: columns[place].values.clone(),
    };
    Ok(NumberTable { columns: places.iter().map(column).collect(), unnamed, left_out })
}

/// Parses a cell as a number. Missing numbers are NaN.
fn number(cell: &str) -> Option<f64> {
    match cell {
        "" | "NA" | "N/A" | "null" | "None" => Some(f64::NAN),
        _ => cell.parse().ok(),
    }
}

/// Returns the cells of a line, or `None` if a quote is not closed.
fn split(line: &str, separator: Option<char>) -> Option<Vec<Cow<'_, str>>> {
    if !line.contains('"') {
        return Some(match separator {
            Some(separator) => line.split(separator).map(str::trim).map(Cow::Borrowed).collect(),
            None => line.split_whitespace().map(Cow::Borrowed).collect(),
        });
    }
    let parts =
        |letter: char| separator.map_or(letter.is_whitespace(), |separator| letter == separator);
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    // Several spaces separate like one; between two commas there is an empty cell.
    let mut begun = separator.is_some();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            letter if parts(letter) && !quoted => {
                cells.extend(begun.then(|| std::mem::take(&mut cell)));
                begun = separator.is_some();
            }
            letter => {
                begun = true;
                if letter == '"' {
                    quoted = !quoted;
                } else {
                    cell.push(letter);
                }
            }
        }
    }
    cells.extend(begun.then_some(cell));
    (!quoted).then(|| cells.into_iter().map(|cell| Cow::Owned(cell.trim().to_owned())).collect())
}
