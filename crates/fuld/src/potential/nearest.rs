//! The name a user may have meant.

/// The candidate with the smallest edit distance to `name`, if few enough letters differ for it to be a slip.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer than any name: nobody meant one of ours, and the distance would take its time.
    const LONGEST: usize = 40;
    let name: Vec<char> = name.chars().take(LONGEST + 1).flat_map(char::to_lowercase).collect();
    let close = |candidate: &str| 1 + candidate.len().min(name.len()) / 3;
    candidates
        .into_iter()
        .map(|candidate| (distance(&name, candidate), candidate))
        .filter(|&(d, candidate)| name.len() <= LONGEST && d <= close(candidate) && d < candidate.len())
        .min_by_key(|&(d, _)| d)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance: insertions, deletions and substitutions, row by row.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_nothing_else() {
        let names = ["harmonic", "cauchy", "funnel", "log"];
        assert_eq!(nearest("harmonc", names), Some("harmonic"));
        assert_eq!(nearest("Cauchi", names), Some("cauchy"));
        assert_eq!(nearest("lgo", names), Some("log"));
        assert_eq!(nearest("zebra", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"harmonic".repeat(1000), names), None);
    }
}
