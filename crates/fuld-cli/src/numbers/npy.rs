//! Reads one array in NumPy's .npy format: the magic bytes, the version, the length of the header,
//! the header (a dictionary in Python's notation), and the numbers.

use super::{Column, NumberTable, NumbersError, column_indices};
use std::path::Path;

/// The first bytes of every .npy file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Converts the bytes of numbers; `true` if the first byte of a number counts most.
type Convert = fn(&[u8], bool) -> Vec<f64>;

/// Reads an array of one or two dimensions as columns, named by their numbers.
pub(super) fn parse(
    path: &Path,
    bytes: &[u8],
    wanted: &[String],
) -> Result<NumberTable, NumbersError> {
    let (header, data) = split(bytes).map_err(|why| NumbersError::damaged(path, why))?;
    let Header { descr, fortran, shape } =
        Header::parse(&header).map_err(|why| NumbersError::damaged(path, why))?;
    let Some(descr) = descr else {
        let why = "the array contains records; save one field of it: np.save(name, x['field'])";
        return Err(NumbersError::unusable(path, why));
    };
    let (rows, columns) = match shape[..] {
        // A single row or column is a list of numbers too.
        [n] | [1, n] | [n, 1] => (n, 1),
        [rows, columns] if rows > 0 && columns > 0 => (rows, columns),
        [..] => {
            let why = format!(
                "the array has shape {shape:?}, expected one or two dimensions that are not 0; use x.reshape(len(x), -1)"
            );
            return Err(NumbersError::unusable(path, why));
        }
    };
    /// Returns the number of bytes of a type, and the function that converts its numbers.
    macro_rules! numbers_of {
        ($number:ty) => {
            (size_of::<$number>(), |data, big| {
                let number = |bytes: &[u8; size_of::<$number>()]| match big {
                    true => <$number>::from_be_bytes(*bytes) as f64,
                    false => <$number>::from_le_bytes(*bytes) as f64,
                };
                data.as_chunks().0.iter().map(number).collect()
            })
        };
    }
    let (width, convert): (usize, Convert) = match descr.strip_prefix(['<', '>', '|']) {
        Some("f4") => numbers_of!(f32),
        Some("f8") => numbers_of!(f64),
        Some("i1") => numbers_of!(i8),
        Some("i2") => numbers_of!(i16),
        Some("i4") => numbers_of!(i32),
        Some("i8") => numbers_of!(i64),
        Some("u1") => numbers_of!(u8),
        Some("u2") => numbers_of!(u16),
        Some("u4") => numbers_of!(u32),
        Some("u8") => numbers_of!(u64),
        _ => return Err(not_numbers(path, &descr)),
    };
    if rows.checked_mul(columns).and_then(|count| count.checked_mul(width)) != Some(data.len()) {
        let why = format!(
            "its header describes {rows} x {columns} numbers of {width} bytes, but {} bytes follow",
            data.len()
        );
        return Err(NumbersError::damaged(path, why));
    }
    let numbers = convert(data, descr.starts_with('>'));
    let names: Vec<String> = (1..=columns).map(|number| number.to_string()).collect();
    let places = if wanted.is_empty() {
        (0..columns).collect()
    } else {
        column_indices(path, &names, wanted)?
    };
    let index = |row: usize, column: usize| {
        if fortran { column * rows + row } else { row * columns + column }
    };
    let column = |place: usize| Column {
        name: names[place].clone(),
        values: (0..rows).map(|row| numbers[index(row, place)]).collect(),
    };
    Ok(NumberTable {
        columns: places.into_iter().map(column).collect(),
        unnamed: true,
        left_out: Vec::new(),
    })
}

fn not_numbers(path: &Path, descr: &str) -> NumbersError {
    let why = format!(
        "the array has type {descr:?}, expected numbers; use np.save(name, x.astype(float))"
    );
    NumbersError::unusable(path, why)
}

/// Returns the header and the bytes of the numbers. Letters that are not UTF-8 are replaced: only
/// names of fields can have them.
fn split(bytes: &[u8]) -> Result<(String, &[u8]), String> {
    let cut_off = || format!("it ends after {} bytes, within its header", bytes.len());
    let (version, rest) = bytes[MAGIC.len()..].split_first_chunk().ok_or_else(cut_off)?;
    let (length, rest) = match version {
        [1, _] => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut_off)?;
            (u16::from_le_bytes(*length) as usize, rest)
        }
        [2 | 3, _] => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut_off)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        [major, minor] => {
            return Err(format!("the format has version {major}.{minor}, supported are 1 to 3"));
        }
    };
    let (header, data) = rest.split_at_checked(length).ok_or_else(cut_off)?;
    Ok((String::from_utf8_lossy(header).into_owned(), data))
}

/// What a header says.
#[derive(Debug, PartialEq)]
struct Header {
    /// The type, such as `<f8`; `None` for records.
    descr: Option<String>,
    /// Whether the numbers of a column are neighbours.
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    fn parse(text: &str) -> Result<Self, String> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        let mut rest = after("{", text)?;
        loop {
            if let Ok(end) = after("}", rest) {
                if !end.trim().is_empty() {
                    return Err(format!("its header continues after its end: {:?}", excerpt(end)));
                }
                break;
            }
            let (key, value) = quoted(rest)?;
            let value = after(":", value)?;
            rest = match key {
                // The fields of records are not read, nor what follows them.
                "descr" if value.starts_with('[') => {
                    return Ok(Self { descr: None, fortran: false, shape: Vec::new() });
                }
                "descr" => {
                    let (kind, rest) = quoted(value)?;
                    if kind.is_empty() {
                        return Err("its header has an empty type".into());
                    }
                    descr = Some(kind.to_owned());
                    rest
                }
                "fortran_order" => {
                    let rest = after("True", value).or_else(|_| after("False", value))?;
                    fortran = Some(value.starts_with("True"));
                    rest
                }
                "shape" => {
                    let (sizes, rest) = after("(", value)?
                        .split_once(')')
                        .ok_or_else(|| format!("its header has no end of {:?}", excerpt(value)))?;
                    shape = Some(lengths(sizes)?);
                    rest.trim_start()
                }
                _ => return Err(format!("its header has the unknown key {:?}", excerpt(key))),
            };
            // The last comma may be missing.
            rest = after(",", rest)
                .or_else(|error| if rest.starts_with('}') { Ok(rest) } else { Err(error) })?;
        }
        let missing = |key: &str| format!("its header has no {key:?}");
        Ok(Self {
            descr: Some(descr.ok_or_else(|| missing("descr"))?),
            fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// Returns the numbers in the parentheses of a shape.
fn lengths(sizes: &str) -> Result<Vec<usize>, String> {
    let sizes = sizes.trim();
    if sizes.is_empty() {
        return Ok(Vec::new());
    }
    let size = |size: &str| {
        size.trim().parse().map_err(|_| format!("its header has the shape ({})", excerpt(sizes)))
    };
    sizes.strip_suffix(',').unwrap_or(sizes).split(',').map(size).collect()
}

/// Returns what follows an expected text, without blanks before and after it.
fn after<'a>(expected: &str, text: &'a str) -> Result<&'a str, String> {
    match text.trim_start().strip_prefix(expected) {
        Some(rest) => Ok(rest.trim_start()),
        None => Err(format!("its header has {:?} instead of {expected:?}", excerpt(text))),
    }
}

/// Returns a text in single or double quotes, and what follows it.
fn quoted(text: &str) -> Result<(&str, &str), String> {
    let (quote, rest) = match after("'", text) {
        Ok(_) => ('\'', &text[1..]),
        Err(_) => ('"', after("\"", text)?),
    };
    let (inside, rest) = rest
        .split_once(quote)
        .ok_or_else(|| format!("its header has no end of {:?}", excerpt(text)))?;
    Ok((inside, rest.trim_start()))
}

/// Returns the first letters of a text, for an error.
fn excerpt(text: &str) -> String {
    text.chars().take(24).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(bytes: &[u8]) -> Result<Vec<Vec<f64>>, String> {
        match parse(Path::new("x.npy"), bytes, &[]) {
            Ok(table) => Ok(table.columns.into_iter().map(|column| column.values).collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns a file of version 1 without numbers.
    fn file(header: &[u8]) -> Vec<u8> {
        [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header].concat()
    }

    /// Written by NumPy 2.4, which pads headers with blanks to a multiple of 64 bytes.
    #[test]
    fn files_of_numpy_are_read() {
        let read = |head: &[u8], blanks: usize, numbers: &[u8]| {
            columns(&[head, &vec![b' '; blanks], b"\n", numbers].concat()).unwrap()
        };
        let table = [[1.0, -3.0], [2.0, 4.5]];
        let head =
            b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
        let numbers = b"\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00@\
            \x00\x00\x00\x00\x00\x00\x08\xc0\x00\x00\x00\x00\x00\x00\x12@";
        assert_eq!(read(head, 58, numbers), table);
        let head = b"\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '>f4', 'fortran_order': True, 'shape': (2, 2), }";
        let numbers = b"?\x80\x00\x00\xc0@\x00\x00@\x00\x00\x00@\x90\x00\x00";
        assert_eq!(read(head, 57, numbers), table);
        let head = b"\x93NUMPY\x03\x00t\x00\x00\x00{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
        assert_eq!(read(head, 58, b"\x07\xff"), [[7.0, 255.0]]);
        let head =
            b"\x93NUMPY\x01\x00v\x00{'descr': '>i8', 'fortran_order': False, 'shape': (1,), }";
        assert_eq!(read(head, 60, b"\xff\xe0\x00\x00\x00\x00\x00\x00"), [[-9007199254740992.0]]);
    }

    #[test]
    fn headers_may_have_any_order_and_quotes() {
        let expected = Header { descr: Some("<f8".into()), fortran: true, shape: vec![3, 2] };
        for text in [
            "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }          \n",
            "{\"shape\":(3,2,),\"descr\":\"<f8\",\"fortran_order\":True}",
            " { 'fortran_order' : True , 'shape' : ( 3 , 2 ) , 'descr' : '<f8' } ",
        ] {
            assert_eq!(Header::parse(text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn damaged_headers_are_errors_that_name_the_value() {
        let refused = |header: &str, says: &str| {
            let error = columns(&file(header.as_bytes())).unwrap_err();
            assert!(error.contains(says), "{header}: {error}");
        };
        let with = |descr: &str, order: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}")
        };
        refused("", "\"\" instead of \"{\"");
        refused("{}", "no \"descr\"");
        refused("{'descr': '<f8', 'shape': (2,)}", "no \"fortran_order\"");
        refused("{'descr': '<f8', 'fortran_order': False}", "no \"shape\"");
        refused("{'descr': '<f8", "no end of \"'<f8\"");
        refused("{'descr': '<f8' 'shape': (2,)}", "\"'shape': (2,)}\" instead of \",\"");
        refused("{'color': 'red'}", "unknown key \"color\"");
        refused("{'é': 1}", "unknown key \"é\"");
        refused("{{'descr': '<f8'}}", "\"{'descr': '<f8'}}\" instead of");
        refused("{,}", "\",}\" instead of");
        refused(&with("''", "False", "(2,)"), "empty type");
        refused(&with("'<f8'", "0", "(2,)"), "\"0, 'shape': (2,), }\" instead of \"False\"");
        refused(&with("'<f8'", "False", "2"), "\"2, }\" instead of \"(\"");
        refused(&with("'<f8'", "False", "(2"), "no end of \"(2, }\"");
        refused(&with("'<f8'", "False", "((2,), 3)"), "the shape ((2,)");
        refused(&with("'<f8'", "False", "(-3,)"), "the shape (-3,)");
        refused(&with("'<f8'", "False", "(2,, 3)"), "the shape (2,, 3)");
        refused(&with("'<f8'", "False", "(99999999999999999999,)"), "(99999999999999999999,)");
        refused(&with("'<f8'", "False", "(99999999999, 99999999999)"), "0 bytes follow");
        refused(&with("'<f8'", "False", "(0, 100000000000)"), "[0, 100000000000]");
        refused(&(with("'<f8'", "False", "(0,)") + "{}"), "after its end: \"{}\"");
        refused(&with("'<f2'", "False", "(0,)"), "\"<f2\"");
        refused(&with("'<<f8 é'", "False", "(0,)"), "\"<<f8 é\"");
        refused(&with("[('é', '<f8')]", "False", "(0,)"), "records");
        let error = columns(&[MAGIC, &[1, 0, 2, 0, 0xff, 0xfe]].concat()).unwrap_err();
        assert!(error.contains("\u{fffd}"), "{error}");
        let error = columns(&[MAGIC, &[7, 1, 0, 0]].concat()).unwrap_err();
        assert!(error.contains("version 7.1"), "{error}");
        let error = columns(&[MAGIC, &[2, 0, 0xff, 0xff, 0xff, 0xff, b'{']].concat()).unwrap_err();
        assert!(error.contains("13 bytes"), "{error}");
    }
}
