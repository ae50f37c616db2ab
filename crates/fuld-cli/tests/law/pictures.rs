//! Figures (--plot).

use crate::program::fed::fuld;
use std::fs;
use tempfile::TempDir;

#[test]
fn every_function_has_a_figure() {
    let folder = TempDir::new().unwrap();
    let functions = [
        "pdf",
        "logpdf",
        "cdf",
        "sf",
        "quantile",
        "isf",
        "score",
        "score-derivative",
        "grad-g",
        "sample",
    ];
    for function in functions {
        let arguments = format!("law {function} --alpha 1.25,1.75 --plot {function}.svg");
        let ended = fuld(folder.path(), &arguments, "");
        assert!(
            ended.stderr.contains(&format!("figure written to {function}.svg")),
            "{}",
            ended.stderr
        );
        assert_eq!(
            ended.printed().is_empty(),
            function != "sample",
            "without points, only the figure is made"
        );
        let svg = fs::read_to_string(folder.path().join(format!("{function}.svg"))).unwrap();
        for text in ["α = 1.25", "α = 1.75", "Gaussian (α = 2)"] {
            assert!(svg.contains(text), "{text} is not in {function}.svg");
        }
        assert!(
            !svg.contains("NaN") && !svg.contains("inf"),
            "{function}.svg contains positions that are not finite"
        );
    }
}

/// Quotients or differences of the ends of these ranges overflow.
#[test]
fn extreme_ranges_have_a_figure() {
    let folder = TempDir::new().unwrap();
    let ranges = ["1e-300..1e300/log10", "-1.7e308..1.7e308/9", "1e300..1.1e300/9", "0..1e-310/3"];
    for (range, function) in
        ranges.into_iter().flat_map(|range| [(range, "pdf"), (range, "score"), (range, "sf")])
    {
        fuld(folder.path(), &format!("law {function} {range} --alpha 1.5 --plot wide.svg"), "")
            .printed();
        let svg = fs::read_to_string(folder.path().join("wide.svg")).unwrap();
        assert!(
            svg.contains("α = 1.5") && !svg.contains("NaN") && !svg.contains("inf"),
            "{function} {range}"
        );
    }
}

#[test]
fn points_are_printed_and_drawn() {
    let folder = TempDir::new().unwrap();
    let ended = fuld(folder.path(), "law sf 1..1e6/log7 --alpha 1.5 --plot tail.png -q", "");
    assert_eq!(ended.stderr, "");
    assert_eq!(ended.printed().lines().count(), 8);
    assert!(fs::read(folder.path().join("tail.png")).unwrap().starts_with(b"\x89PNG"));
    // A single point has no range, and the Gaussian is not compared with itself.
    fuld(folder.path(), "law pdf 3 --alpha 2 --plot one.svg", "").printed();
    let svg = fs::read_to_string(folder.path().join("one.svg")).unwrap();
    assert!(svg.contains("α = 2") && !svg.contains("Gaussian"));
    fuld(folder.path(), "law pdf --alpha 1.5 --plot nowhere/one.svg", "")
        .refused(1, &["nowhere/one.svg"]);
}
