//! How wide pictures in characters may be.

/// Of the terminal, but 80 characters at most.
pub(super) fn width() -> usize {
    const MOST: usize = 80;
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.or_else(terminal_width).unwrap_or(MOST).clamp(40, MOST)
}

#[cfg(unix)]
fn terminal_width() -> Option<usize> {
    // SAFETY: the structure is plain numbers, and the call fills it if standard output is a terminal.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        (libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) == 0).then_some(size)
    };
    size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

#[cfg(not(unix))]
fn terminal_width() -> Option<usize> {
    None
}
