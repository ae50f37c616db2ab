//! The memory of a streamed run does not depend on its length.

use crate::wells::{run, wells};
use fuld::chains::{Control, ZarrSink};
use fuld::{Integrator, Run};
use std::path::Path;
use std::process::Command;

/// Streams this many draws of 64 chains and prints the largest memory the process had, in kB.
fn child(draws: u64) {
    let store = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("memory-{draws}.zarr"));
    let _ = std::fs::remove_dir_all(&store);
    let run = Run { chains: 64, draws, thin: 1, ..run(Integrator::Euler) };
    run.stream(&wells(1), &mut ZarrSink::new(&store), &mut |_| Control::Continue).unwrap();
    std::fs::remove_dir_all(&store).unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    println!("peak {}", peak.split_whitespace().nth(1).unwrap());
}

#[test]
fn memory_does_not_depend_on_the_length_of_a_run() {
    if let Ok(draws) = std::env::var("FULD_MEMORY") {
        return child(draws.parse().unwrap());
    }
    if !Path::new("/proc/self/status").exists() {
        println!("skipped: no /proc to read the memory from");
        return;
    }
    let peak = |draws: u64| -> f64 {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "memory::memory_does_not_depend_on_the_length_of_a_run",
                "--nocapture",
            ])
            .env("FULD_MEMORY", draws.to_string())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|line| line.split("peak ").nth(1)).unwrap();
        line.trim().parse().unwrap()
    };
    let (short, long) = (peak(40_000), peak(400_000));
    println!("{short} kB for 40,000 draws, {long} kB for 400,000");
    // The long run's draws take 205 MB.
    assert!(long < 1.2 * short, "{short} kB and {long} kB");
}
