//! Numbers with thousands separators.

/// Formats a number with thousands separators, as in 60,000.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let place = |at: usize| if at > 0 && (digits.len() - at).is_multiple_of(3) { "," } else { "" };
    digits.chars().enumerate().map(|(at, digit)| format!("{}{digit}", place(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [0, 355, 1_442, 60_000, 1_234_567].map(grouped),
            ["0", "355", "1,442", "60,000", "1,234,567"]
        );
    }
}
