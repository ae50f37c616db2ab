//! The modules of the crates form no cycle: their imports point one way.
//!
//! Two graphs are checked: the modules of a crate's root, and inside each folder its files.
//! `mod.rs` only declares and re-exports, or holds the type that its files extend, so an import
//! through it counts as one of the file that it re-exports. Unit tests may import anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The names that each module imports.
type Graph = BTreeMap<String, BTreeSet<String>>;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let inner = folders.iter().flat_map(|folder| self::files(folder));
    files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .chain(inner)
        .collect()
}

/// Returns the code of a file without comments and unit tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    without_tests(text.lines().map(|line| line.split("//").next().unwrap()))
}

/// Removes each item after `#[cfg(test)]`: up to the first line of the same indentation that ends
/// it.
fn without_tests<'a>(mut lines: impl Iterator<Item = &'a str>) -> String {
    let mut kept = Vec::new();
    while let Some(line) = lines.next() {
        let Some(indent) =
            line.strip_suffix("#[cfg(test)]").filter(|indent| indent.trim().is_empty())
        else {
            kept.push(line);
            continue;
        };
        let ends = |line: &str| {
            let item = line.strip_prefix(indent).filter(|item| !item.starts_with([' ', '#']));
            item.is_some_and(|item| item.trim_end().ends_with([';', '}']))
        };
        lines.by_ref().find(|line| ends(line)).expect("an item after #[cfg(test)]");
    }
    kept.join("\n")
}

/// Returns the module of a file: `a/b.rs` and `a/b/mod.rs` are both a::b, `lib.rs` is the root.
fn module(root: &Path, path: &Path) -> Vec<String> {
    let path = path.strip_prefix(root).unwrap().with_extension("");
    let mut parts: Vec<String> =
        path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod" || last == "lib") {
        parts.pop();
    }
    parts
}

/// Reads a tree of imports such as `a::{b, c::d}` from the start of `text`: all its leaves, and the
/// rest.
fn leaves(text: &str) -> (Vec<Vec<String>>, &str) {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        let mut all = Vec::new();
        while !rest.trim_start().starts_with('}') {
            let (inner, after) = leaves(rest);
            all.extend(inner);
            // Past `as name`, to the next item.
            rest = &after[after.find([',', '}']).expect("a closed list")..];
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        return (all, &rest.trim_start()[1..]);
    }
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    match rest.strip_prefix("::") {
        Some(rest) => {
            let (inner, rest) = leaves(rest);
            let prefixed = inner.into_iter().map(|leaf| [vec![name.to_owned()], leaf].concat());
            (prefixed.collect(), rest)
        }
        None => (vec![vec![name.to_owned()]], rest),
    }
}

/// Returns all paths in a file that begin with `crate` or `super`, as paths from the root.
fn imports(code: &str, module: &[String]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (at, _) in code.match_indices("crate::").chain(code.match_indices("super::")) {
        let before = code[..at].chars().next_back().unwrap_or(' ');
        // `super::super::a` is read from its first `super`.
        if before.is_alphanumeric() || before == '_' || before == ':' {
            continue;
        }
        for leaf in leaves(&code[at..]).0 {
            let mut path = if leaf[0] == "crate" { Vec::new() } else { module.to_vec() };
            for name in leaf.into_iter().skip_while(|name| name == "crate") {
                if name == "super" {
                    path.pop();
                } else {
                    path.push(name);
                }
            }
            all.push(path);
        }
    }
    all
}

/// Returns, for each module with re-exports, the file that each re-exported name comes from.
fn exports(sources: &[(Vec<String>, String)]) -> BTreeMap<Vec<String>, BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for (module, code) in sources {
        let mut names = BTreeMap::new();
        for statement in code.split("pub").filter_map(|part| part.split_once("use ")) {
            let (visibility, after) = statement;
            if !(visibility.trim().is_empty() || visibility.trim().starts_with('(')) {
                continue;
            }
            for leaf in leaves(after).0.into_iter().filter(|leaf| leaf.len() > 1) {
                names.insert(leaf.last().unwrap().clone(), leaf[0].clone());
            }
        }
        all.insert(module.clone(), names);
    }
    all
}

/// Returns a cycle of the graph, if there is one.
fn cycle(graph: &Graph) -> Option<Vec<String>> {
    fn visit(graph: &Graph, path: &mut Vec<String>, done: &mut BTreeSet<String>) -> bool {
        let here = path.last().unwrap().clone();
        for next in graph.get(&here).into_iter().flatten() {
            if done.contains(next) {
                continue;
            }
            let seen = path.contains(next);
            path.push(next.clone());
            if seen || visit(graph, path, done) {
                return true;
            }
            path.pop();
        }
        done.insert(here);
        false
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|start| {
        let mut path = vec![start.clone()];
        (!done.contains(start) && visit(graph, &mut path, &mut done)).then_some(path)
    })
}

/// Returns the graph of the modules inside `parent`: the next name on both ends of every import.
fn graph(sources: &[(Vec<String>, String)], parent: &[String]) -> Graph {
    let exports = exports(sources);
    let mut graph = Graph::new();
    for (module, code) in sources.iter().filter(|(module, _)| module.len() > parent.len()) {
        let Some(from) = module.strip_prefix(parent).and_then(|rest| rest.first()) else {
            continue;
        };
        let edges = graph.entry(from.clone()).or_default();
        for path in imports(code, module) {
            let Some(to) = path.strip_prefix(parent).and_then(|rest| rest.first()) else {
                continue;
            };
            let to = exports.get(parent).and_then(|names| names.get(to)).unwrap_or(to);
            let known = sources.iter().any(|(other, _)| {
                other.strip_prefix(parent).is_some_and(|rest| rest.first() == Some(to))
            });
            if known && to != from {
                edges.insert(to.clone());
            }
        }
    }
    graph
}

/// All cycles of a crate's modules, one per folder at most.
fn cycles_of_crate(root: &Path) -> Vec<String> {
    let sources: Vec<_> = files(root).iter().map(|path| (module(root, path), code(path))).collect();
    let folders: BTreeSet<Vec<String>> = sources
        .iter()
        .flat_map(|(module, _)| (0..module.len()).map(|end| module[..end].to_vec()))
        .collect();
    let found =
        folders.iter().filter_map(|folder| Some((folder, cycle(&graph(&sources, folder))?)));
    found.map(|(folder, cycle)| format!("{}::{}", folder.join("::"), cycle.join(" -> "))).collect()
}

/// The folders of all crates of the workspace.
fn crates() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let crates: Vec<_> =
        std::fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(crates.len() >= 9, "{crates:?}");
    crates
}

#[test]
fn modules_form_no_cycle() {
    for folder in crates() {
        let cycles = cycles_of_crate(&folder.join("src"));
        assert!(cycles.is_empty(), "{}: {cycles:#?}", folder.display());
    }
}

/// Integration tests are one binary per crate: a file that `tests/main.rs` does not name would not
/// run.
#[test]
fn every_test_file_is_named() {
    for tests in crates().iter().map(|folder| folder.join("tests")) {
        let Ok(main) = std::fs::read_to_string(tests.join("main.rs")) else { continue };
        for entry in std::fs::read_dir(&tests).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.file_stem().unwrap().to_str().unwrap();
            let is_module =
                entry.extension().is_some_and(|end| end == "rs") || entry.join("mod.rs").exists();
            let is_named =
                name == "main" || main.lines().any(|line| line == format!("mod {name};"));
            assert!(is_named || !is_module, "{} is not in main.rs", entry.display());
        }
    }
}

/// The graph of this crate has edges that are known to exist: an empty graph has no cycles either.
#[test]
fn imports_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources: Vec<_> =
        files(&root).iter().map(|path| (module(&root, path), code(path))).collect();
    let top = graph(&sources, &[]);
    assert!(
        top.len() > 10
            && top["chains"].contains("potential")
            && top["integrator"].contains("system")
    );
    let chains = graph(&sources, &["chains".to_owned()]);
    assert!(chains["execution"].contains("checkpoint"), "{chains:?}");
}

#[test]
fn only_tests_are_left_out() {
    let code = "use crate::a;\n#[cfg(test)]\nmod fixtures;\nuse crate::b;\n#[cfg(test)]\n#[path = \"t.rs\"]\nmod tests {\n    \
        use super::c;\n    fn f() {\n    }\n}\nfn g() {\n    #[cfg(test)]\n    use crate::d;\n    crate::e();\n}";
    let expected = "use crate::a;\nuse crate::b;\nfn g() {\n    crate::e();\n}";
    assert_eq!(without_tests(code.lines()), expected);
}

#[test]
fn cycles_are_found() {
    let source = |module: &[&str], code: &str| {
        (module.iter().map(|&name| name.to_owned()).collect::<Vec<_>>(), code.to_owned())
    };
    let mut sources = vec![
        source(&[], "mod a;\nmod b;\npub use a::{Fast, Slow as Lazy};"),
        source(&["a"], "mod inner;\nuse crate::b::{self, c::D};\n"),
        source(&["a", "inner"], "use super::super::b::E;"),
        source(&["b"], "use std::fmt;"),
    ];
    assert_eq!(cycle(&graph(&sources, &[])), None);
    sources[3].1 = "use crate::{Fast, c};".to_owned();
    assert_eq!(cycle(&graph(&sources, &[])).unwrap(), ["a", "b", "a"]);
}
