//! A run that diverges has a result and its own exit code.

use super::{TINY, file, result, scratch};
use crate::program::fuld;

const WILD: &str = "--optimizer sgdm --lr 1e4 --momentum 0.9";

#[test]
fn a_loss_that_is_not_finite_ends_the_run_and_is_recorded() {
    let folder = scratch();
    let command = format!("{TINY} {WILD}");
    let first = fuld(folder.path(), &command).with(3, &["diverged: the loss was", "at iteration"]);
    let (found, bytes) = (result(folder.path()), file(&folder, "result.toml"));
    let (iteration, loss) =
        (found["iteration"].as_integer().unwrap(), found["loss"].as_float().unwrap());
    assert_eq!(found["status"].as_str(), Some("diverged"));
    assert!((1..100).contains(&iteration) && !loss.is_finite(), "{iteration} {loss}");
    assert!(
        first.stderr.contains(&format!("the loss was {loss} at iteration {iteration};")),
        "{}",
        first.stderr
    );
    // Only measurements before the divergence are stored.
    let metrics = String::from_utf8(file(&folder, "metrics.csv")).unwrap();
    assert!(
        metrics.lines().count() >= 2 && !metrics.contains("NaN") && !metrics.contains("inf"),
        "{metrics}"
    );
    let again =
        fuld(folder.path(), &command).with(3, &["this run is finished", "diverged: the loss was"]);
    assert!(again.stderr.contains(&format!("at iteration {iteration};")), "{}", again.stderr);
    // As bytes: the loss may be NaN, which is not equal to itself.
    assert!(file(&folder, "result.toml") == bytes);
}

/// No later step could notice the divergence.
#[test]
fn divergence_in_the_last_step_is_noticed() {
    let folder = scratch();
    let one = TINY.replace("--iterations 100", "--iterations 1");
    fuld(folder.path(), &format!("{one} --optimizer sgdm --lr 1e30 --momentum 0.9"))
        .with(3, &["at iteration 1;"]);
    assert_eq!(result(folder.path())["status"].as_str(), Some("diverged"));
}

/// Without finite gradients there is no tail index, but still a result.
#[test]
fn tail_indices_of_a_diverged_run_are_nan() {
    let folder = scratch();
    let few =
        TINY.replace("--iterations 100 --measure-every 20", "--iterations 10 --measure-every 10");
    // After the first step the weights are not finite, which the second step notices.
    fuld(
        folder.path(),
        &format!("{few} --tail-index every=1 --optimizer sgdm --lr 1e30 --momentum 0.9"),
    )
    .with(3, &["diverged", "at iteration 2;"]);
    let tails = String::from_utf8(file(&folder, "tail-index.csv")).unwrap();
    assert!(tails.contains("\n1,1,NaN,NaN,NaN,NaN,"), "{tails}");
}
