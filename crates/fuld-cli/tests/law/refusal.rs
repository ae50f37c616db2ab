//! Invalid options are errors that name the option, and nothing is printed.

use super::law;

#[test]
fn errors_name_the_invalid_option() {
    let refused = |arguments: &str, says: &[&str]| {
        let ended = law(arguments, "");
        assert!(ended.stdout.is_empty(), "{}", ended.stdout);
        ended.refused(2, says);
    };
    refused("pdf 1 --alpha 0", &["alpha", "0 < alpha <= 2", "got 0"]);
    refused("pdf 1 --alpha 2.5", &["got 2.5"]);
    refused("pdf 1 --alpha -1", &["got -1"]);
    refused("pdf 1 --alpha nan", &["got NaN"]);
    refused("pdf 1 --alpha 1.5,x", &["--alpha", "x"]);
    refused("pdf 1 --alpha 1.5,1.5", &["1.5 twice"]);
    refused("pdf 1", &["--alpha"]);
    refused("pdf 1 --alpha 1.5 --scale 0", &["scale", "got 0"]);
    refused("pdf 1 --alpha 1.5 --scale -2", &["scale", "got -2"]);
    refused("pdf 1 --alpha 1.5 --scale inf", &["scale", "inf"]);
    refused("grad-g 1 --alpha 1.5 --scale 2", &["grad-g", "scale"]);
    refused("quantile 0.5 1.5 --alpha 1.5", &["quantile", "from 0 to 1", "1.5"]);
    refused("isf -0.1 --alpha 1.5", &["isf", "from 0 to 1", "-0.1"]);
    refused("quantile -1..1 --alpha 1.5", &["quantile", "from 0 to 1", "-1"]);
    refused("pdf nan --alpha 1.5", &["NaN"]);
    refused("pdf two --alpha 1.5", &["two", "-5..5/101"]);
    refused("pdf 0..5/1 --alpha 1.5", &["2 to", "points"]);
    refused("pdf -5..5/log9 --alpha 1.5", &["logarithmic", "positive"]);
    refused("cdf -3..3/log3 --alpha 1.5", &["'-3..3/log3'"]);
    refused("density 1 --alpha 1.5", &["density", "pdf"]);
    refused("pdf 1 --alhpa 1.5", &["--alhpa", "--alpha"]);
    refused("pdf - - --alpha 1.5", &["standard input", "once"]);
    refused("pdf 1 --alpha 1.5 --seed 3", &["--seed", "sample"]);
    refused("sample 1 --alpha 1.5", &["sample", "--count"]);
    refused("pdf 1 --alpha 1.5 --plot picture.pdf", &["picture.pdf", ".svg", ".png"]);
    refused("pdf - --alpha 1.5 --plot picture.svg", &["--plot", "-5..5"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    use std::fs::File;
    for arguments in ["pdf 0..9/10000 --alpha 1.5", "sample --count 10000 --alpha 1.5 --json"] {
        let folder = tempfile::TempDir::new().unwrap();
        let mut command = super::fed::command(folder.path(), ["law"]);
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command.args(arguments.split(' ')).stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("No space left") && !stderr.contains("panicked"), "{stderr}");
    }
}
