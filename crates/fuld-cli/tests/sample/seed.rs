//! Runs without a seed: it is random, printed and stored, and the run in the folder keeps it.

use super::{files, scratch};
use crate::program::fuld;
use std::path::Path;

const FEW: &str = "sample x^2 --chains 2 --draws 20";

fn stored(run: &Path) -> i64 {
    let settings: toml::Table =
        std::fs::read_to_string(run.join("config.toml")).unwrap().parse().unwrap();
    settings["seed"].as_integer().unwrap()
}

/// Two random seeds are equal with a chance of 2⁻³².
#[test]
fn seeds_are_random_and_reported() {
    let folder = scratch();
    for out in ["one", "two"] {
        let ended = fuld(folder.path(), &format!("{FEW} --out {out}")).with(0, &[]);
        let seed = stored(&folder.path().join(out));
        assert!(ended.stdout.contains(&format!("; seed {seed}\n")), "{}", ended.stdout);
    }
    let [one, two] = ["one", "two"].map(|out| stored(&folder.path().join(out)));
    assert_ne!(one, two);
    fuld(folder.path(), &format!("{FEW} --out three --seed {one}")).with(0, &[]);
    super::assert_same_run(&folder.path().join("one"), &folder.path().join("three"));
    fuld(folder.path(), &format!("{FEW} --out one --fresh")).with(0, &[]);
    assert_ne!(stored(&folder.path().join("one")), one);
}

#[test]
fn the_same_command_takes_the_seed_of_its_folder() {
    let folder = scratch();
    for out in ["--out run", ""] {
        let command = format!("{FEW} {out}");
        fuld(folder.path(), &command).with(0, &[]);
        let before = files(folder.path());
        fuld(folder.path(), &command).with(0, &[]);
        assert!(
            files(folder.path()) == before,
            "the finished run was changed, or there is another"
        );
    }
    // A run that was killed before its settings were stored.
    let run = folder.path().join("run");
    let seed = stored(&run);
    std::fs::remove_file(run.join("config.toml")).unwrap();
    fuld(folder.path(), &format!("{FEW} --out run")).with(0, &[]);
    assert_eq!(stored(&run), seed);
}

#[test]
fn saved_settings_have_a_seed_only_if_it_was_given() {
    let folder = scratch();
    fuld(folder.path(), &format!("{FEW} --save-config a.toml")).with(0, &[]);
    let text = std::fs::read_to_string(folder.path().join("a.toml")).unwrap();
    assert!(text.contains("chains = 2") && !text.contains("seed"), "{text}");
}

/// Chains without noise stay where they start if the step is short.
#[test]
fn each_chain_may_have_its_own_start() {
    let folder = scratch();
    let still = "sample x^2+y^2 --system momentum --step 1e-9 --warmup 0 --thin 1 --draws 4 --chains 3 --velocities";
    fuld(folder.path(), &format!("{still} --start 1,2;3,4;-5,6 --out run")).with(0, &[]);
    let draws = fuld::ZarrDraws::open(folder.path().join("run/draws.zarr")).unwrap();
    let starts: Vec<f64> =
        draws.coordinates(0..2).unwrap().iter().flatten().map(|chain| chain[0].round()).collect();
    assert_eq!(starts, [1.0, 3.0, -5.0, 2.0, 4.0, 6.0]);
    std::fs::write(
        folder.path().join("a.toml"),
        "potential = 'x^2+y^2'\nchains = 2\nstart = [[1, 2.5], [3, 4]]",
    )
    .unwrap();
    fuld(folder.path(), "sample --config a.toml --save-config b.toml").with(0, &[]);
    let saved = std::fs::read_to_string(folder.path().join("b.toml")).unwrap();
    assert!(saved.contains("start = \"1,2.5;3,4\""), "{saved}");
}
