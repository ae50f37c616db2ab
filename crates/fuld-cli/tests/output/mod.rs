//! The options that all commands share: --json, --quiet, --verbose and --help.

use crate::program::fed::fuld;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

const TINY: &str = "train --width 8 --depth 2 --iterations 40 --measure-every 20 --out run";
const GRID: &str = "width = 8\ndepth = 2\niterations = 20\nmeasure_every = 20\nseed = [1, 2]\n";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("grid.toml"), GRID).unwrap();
    folder
}

/// Standard output of every command with --json is one JSON value.
#[test]
fn json_output_is_one_value() {
    let folder = folder();
    let value = |arguments: &str| -> Value {
        let printed = fuld(folder.path(), &format!("{arguments} --json"), "").printed();
        serde_json::from_str(&printed)
            .unwrap_or_else(|error| panic!("{arguments}: {error}:\n{printed}"))
    };
    let run = value(TINY);
    assert_eq!(
        (&run["status"], &run["folder"], &run["spec"]["width"]),
        (&"finished".into(), &"run".into(), &8.into())
    );
    assert!(run["summary"]["test_accuracy"].as_f64().unwrap() > 0.0);
    assert_eq!(
        run["measurements"],
        value(TINY)["measurements"],
        "read from the folder the second time"
    );

    let plan = value("sweep grid.toml --dry-run");
    assert_eq!(plan["runs"].as_array().unwrap().len(), 2);
    let sweep = value("sweep grid.toml");
    assert_eq!((&sweep["counts"]["done"], &sweep["counts"]["failed"]), (&2.into(), &0.into()));
    assert_eq!(sweep["rows"][1]["seed"], 2);
    assert!(sweep["rows"][0]["train_loss"].is_f64() && sweep["rows"][0]["clip"].is_null());

    let data = value("data");
    assert_eq!(
        (&data["sets"][0]["name"], &data["sets"][0]["presence"]),
        (&"digits".into(), &"built_in".into())
    );
    assert_eq!(
        (&data["sets"][1]["train"], &data["sets"][1]["presence"]),
        (&60_000.into(), &"absent".into())
    );
    assert_eq!(value("law cdf 0 --alpha 1.5")[0]["cdf"], 0.5);
}

#[test]
fn one_layer_has_no_plural() {
    let folder = folder();
    let printed = fuld(folder.path(), &TINY.replace("--depth 2", "--depth 1"), "").printed();
    assert!(printed.starts_with("digits, 1 layer, 640 weights"), "{printed}");
}

#[test]
fn quiet_prints_only_results() {
    let folder = folder();
    for arguments in [TINY, TINY, "sweep grid.toml", "sweep grid.toml --dry-run", "data"] {
        let ended = fuld(folder.path(), &format!("{arguments} -q"), "");
        assert_eq!(ended.stderr, "", "{arguments}");
        assert!(!ended.printed().is_empty(), "{arguments}");
    }
    let ended = fuld(folder.path(), &format!("--quiet {TINY} --alpha 3"), "");
    ended.refused(2, &["alpha"]);
}

#[test]
fn verbose_prints_more() {
    let folder = folder();
    let stderr = |arguments: &str| {
        let ended = fuld(folder.path(), arguments, "");
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stderr
    };
    let (plain, more) = (stderr(&format!("{TINY} --fresh")), stderr(&format!("{TINY} --fresh -v")));
    assert!(more.len() > plain.len() && more.contains("writing to run"), "{more}");
    let ended = fuld(folder.path(), "data -q -v", "");
    ended.refused(2, &["--quiet", "--verbose"]);
}

#[test]
fn completions_contain_every_command() {
    let folder = folder();
    let help = fuld(folder.path(), "--help", "").printed();
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 5 && commands.contains(&"tail-index"), "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = fuld(folder.path(), &format!("completions {shell}"), "").printed();
        for word in commands.iter().chain(&["resamples", "no-header"]) {
            assert!(script.contains(word), "{word} is not in the completions for {shell}");
        }
    }
    fuld(folder.path(), "completions csh", "").refused(2, &["csh", "bash"]);
}

#[test]
fn every_help_text_has_examples() {
    let folder = folder();
    let help = fuld(folder.path(), "--help", "").printed();
    for text in ["First steps:", "fuld reproduce", "Exit codes:", "130", "--json"] {
        assert!(help.contains(text), "{text} is not in the help");
    }
    for command in ["law", "tail-index", "train", "sweep", "data", "completions"] {
        let help = fuld(folder.path(), &format!("{command} --help"), "").printed();
        assert!(
            help.contains("Examples:") || help.contains("Where to put the script:"),
            "{command} has no examples"
        );
    }
}

/// Every command fails with an error if standard output cannot be written.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_standard_output_is_an_error() {
    let folder = folder();
    for arguments in ["data", TINY, "sweep grid.toml", "completions bash", "law pdf 2 --alpha 1.5"]
    {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fuld"));
        let ended = command
            .args(arguments.split(' '))
            .current_dir(folder.path())
            .stdout(full)
            .output()
            .unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{arguments}: {said}");
        assert!(
            said.contains("No space left") && !said.contains("panicked"),
            "{arguments}: {said}"
        );
    }
}

/// Notes that cannot be written change neither the exit code nor the result.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_standard_error_changes_nothing() {
    let folder = folder();
    for (arguments, code) in [
        (TINY, 0),
        ("sweep grid.toml", 0),
        ("sample x^2/2 --draws 50", 0),
        ("law pdf 2 --alpha 3", 2),
        ("no", 2),
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fuld"));
        let ended = command
            .args(arguments.split(' '))
            .current_dir(folder.path())
            .stderr(full)
            .output()
            .unwrap();
        assert_eq!(ended.status.code(), Some(code), "{arguments}");
        assert_eq!(ended.stdout.is_empty(), code != 0, "{arguments}");
    }
}
