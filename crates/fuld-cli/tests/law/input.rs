//! Points from standard input, and values in CSV or JSON.

use super::{law, numbers};
use crate::program::fed;
use levy_stable::SymmetricStable;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use tempfile::TempDir;

/// The value of each point is printed before the next point arrives.
#[test]
fn values_are_printed_before_the_input_ends() {
    let folder = TempDir::new().unwrap();
    let mut child = fed::command(folder.path(), ["law", "cdf", "--alpha", "1"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(answers.next().unwrap().unwrap(), "x,cdf");
    for (question, answer) in [("1", "1,0.75"), ("0", "0,0.5"), ("-1", "-1,0.25")] {
        writeln!(stdin, "{question}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), answer);
    }
    drop(stdin);
    assert!(answers.next().is_none() && child.wait().unwrap().success());
}

/// Lines, spaces, commas, comments, and a last line without a newline.
#[test]
fn numbers_may_be_separated_in_several_ways() {
    let printed = law("pdf --alpha 1.5", "# points\n1 2\t3\r\n\n4,5 # more\n 1e1").printed();
    let points: Vec<f64> = numbers(&printed).iter().map(|row| row[0]).collect();
    assert_eq!(points, [1.0, 2.0, 3.0, 4.0, 5.0, 10.0]);
    // Standard input between two arguments.
    let printed = law("pdf 0 - 9 --alpha 1.5", "7 8").printed();
    assert_eq!(
        numbers(&printed).iter().map(|row| row[0]).collect::<Vec<f64>>(),
        [0.0, 7.0, 8.0, 9.0]
    );
    assert_eq!(law("pdf --alpha 1.5", "").printed(), "x,pdf\n");
}

#[test]
fn many_numbers_are_processed() {
    const MANY: usize = 200_000;
    let input: String = (0..MANY).map(|i| format!("{}\n", i as f64 * 1e-3)).collect();
    let printed = law("cdf --alpha 1.5", &input).printed();
    assert_eq!(printed.lines().count(), MANY + 1);
    let last =
        numbers(printed.lines().next_back().map(|line| format!("x,cdf\n{line}")).unwrap().as_str());
    assert_eq!(last[0][1], SymmetricStable::new(1.5).unwrap().cdf(last[0][0]));
}

#[test]
fn json_is_one_array_of_objects() {
    let parsed = |arguments: &str, input: &str| -> Value {
        serde_json::from_str(&law(arguments, input).printed()).unwrap()
    };
    let value = parsed("quantile 0.25 1 --alpha 1,1.5 --json", "");
    // One object per point and law.
    let places: Vec<_> =
        value.as_array().unwrap().iter().map(|one| (&one["p"], &one["alpha"])).collect();
    assert_eq!(
        serde_json::json!(places),
        serde_json::json!([[0.25, 1], [0.25, 1.5], [1, 1], [1, 1.5]])
    );
    for (place, alpha) in [1.0, 1.5].into_iter().enumerate() {
        let exact = SymmetricStable::new(alpha).unwrap().quantile(0.25);
        assert_eq!(value[place]["quantile"].as_f64(), Some(exact));
    }
    assert_eq!(value[3].get("quantile"), Some(&Value::Null), "JSON has no infinite numbers");
    assert_eq!(parsed("--json pdf --alpha 1.5", "1 2 3").as_array().unwrap().len(), 3);
    assert_eq!(parsed("pdf --alpha 1.5 --json", ""), serde_json::json!([]));
    assert_eq!(parsed("sample --alpha 1.5 --json --count 4", "").as_array().unwrap().len(), 4);
}

#[test]
fn errors_name_the_line() {
    law("pdf --alpha 1.5", "1 2\n\n3 four 5\n").refused(1, &["standard input, line 3", "\"four\""]);
    law("quantile --alpha 1.5", "0.1\n0.2\n1.5\n").refused(1, &["line 3", "from 0 to 1", "1.5"]);
    law("pdf --alpha 1.5", "0\nnan\n").refused(1, &["line 2", "NaN"]);
    let folder = TempDir::new().unwrap();
    fed::fuld(folder.path(), "law pdf --alpha 1.5", b"1\n\xff\xfe\n").refused(1, &["line 2"]);
}
