//! The exit codes and the options that are the same in every command that writes a folder.

use crate::program::{fuld, signal, start, wait, wait_until};
use tempfile::TempDir;

/// A command without `--out`, and options for it.
struct Case {
    command: &'static str,
    /// An option with an invalid value.
    bad_value: &'static str,
    /// An option that makes another run.
    other: &'static str,
    /// A run that does not end soon, and a file that appears while it runs.
    long: (&'static str, &'static str),
}

const CASES: [Case; 4] = [
    Case {
        command: "sample x^2 --chains 2 --draws 20",
        bad_value: "--alpha 3",
        other: "--seed 1",
        long: ("sample x^2 --draws 1000000 --checkpoint-every 0.02", "checkpoint.bin"),
    },
    Case {
        command: "train --width 8 --depth 2 --iterations 20",
        bad_value: "--alpha 3",
        other: "--seed 1",
        long: (
            "train --width 8 --depth 2 --iterations 1000000 --checkpoint-every 0.02",
            "checkpoint.bin",
        ),
    },
    Case {
        command: "sweep grid.toml",
        bad_value: "--data imagenet",
        // Several grids may share a folder, so only --resume compares.
        other: "--resume --data mnist",
        long: ("sweep long.toml", "grid.toml"),
    },
    Case {
        command: "reproduce --only fig2",
        bad_value: "--only fig9",
        other: "--seed 1",
        long: ("reproduce --only orders", "reproduce.toml"),
    },
];

#[test]
fn errors_of_the_request_have_code_2_and_interruptions_130() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let grid = "width = 8\ndepth = 2\nmeasure_every = 20\n";
    std::fs::write(path("grid.toml"), format!("{grid}iterations = 20\n")).unwrap();
    std::fs::write(path("long.toml"), format!("{grid}iterations = 1000000\n")).unwrap();
    for Case { command, bad_value, other, long: (long, file) } in CASES {
        let name = command.split(' ').next().unwrap();
        let run = |options: &str| fuld(folder.path(), &format!("{command} {options}"));
        run(bad_value).refused(2, &[]);
        run("--threads 0").refused(2, &["--threads"]);
        run("--resume --fresh --out made").refused(2, &["--fresh"]);
        fuld(folder.path(), &format!("{name} --resume --out {name}-none")).refused(2, &[]);
        assert!(!path(&format!("{name}-none")).exists(), "{name} made a folder");

        let foreign = format!("{name}-foreign");
        std::fs::create_dir(path(&foreign)).unwrap();
        std::fs::write(path(&foreign).join("notes.txt"), "mine").unwrap();
        run(&format!("--out {foreign}"))
            .refused(2, &["`notes.txt`, which fuld did not write", "--out"]);
        run(&format!("--out {foreign}/notes.txt")).refused(2, &["notes.txt is a file", "--out"]);

        run(&format!("--out {name}")).with(0, &[]);
        run(&format!("--out {name} {other}")).refused(2, &[]);
        // The same command and --resume find a finished run.
        run(&format!("--out {name}")).with(0, &[]);
        fuld(folder.path(), &format!("{name} --resume --out {name}")).with(0, &[]);

        let out = format!("{name}-long");
        let mut child = start(folder.path(), &format!("{long} --out {out}"));
        wait_until(&mut child, || path(&out).join(file).exists());
        signal(&mut child, "INT");
        wait(child).with(130, &[]);
    }
    // The folder of another command.
    fuld(folder.path(), "train --out sample").refused(2, &["was made by `fuld sample`"]);
}

#[test]
fn the_help_lists_the_exit_codes_and_the_shared_options() {
    let folder = TempDir::new().unwrap();
    let help = |arguments: &str| fuld(folder.path(), arguments).with(0, &[]).stdout;
    let all = help("--help");
    for code in [
        "  0    success",
        "  1    failure",
        "  2    wrong usage",
        "  3    the run",
        "  130  interrupted",
    ] {
        assert!(all.contains(code), "{all}");
    }
    // The description of an option, without line breaks.
    let option = |command: &str, name: &str| {
        let help = help(&format!("{command} --help"));
        let at = help
            .find(&format!("      {name}"))
            .unwrap_or_else(|| panic!("{command} has no {name}"));
        let rest = &help[at + 6..];
        let end = rest.find("\n\n").unwrap_or(rest.len());
        rest[..end].split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let commands = ["sample", "train", "sweep", "reproduce"];
    for name in ["--resume", "--threads"] {
        let texts: Vec<String> = commands.iter().map(|command| option(command, name)).collect();
        assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    }
    for command in &commands[1..] {
        assert!(option(command, "--data-dir").contains("the data directory"));
        assert!(
            option(command, "--data <").contains("digits (built in), mnist, cifar10, or folders")
        );
    }
}
