//! The width of the terminal.

/// Returns the width of the terminal in characters, from 40 to 80; 80 if it is not known.
pub(super) fn terminal_width() -> usize {
    const LARGEST: usize = 80;
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.or_else(detected_width).unwrap_or(LARGEST).clamp(40, LARGEST)
}

#[cfg(unix)]
fn detected_width() -> Option<usize> {
    // SAFETY: the structure consists of integers, so zeros are valid, and the call fills it if
    // standard output is a terminal.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        (libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) == 0).then_some(size)
    };
    size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

#[cfg(not(unix))]
fn detected_width() -> Option<usize> {
    None
}
