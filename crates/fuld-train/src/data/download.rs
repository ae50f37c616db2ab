//! Downloads of one file from one server: the missing bytes are requested and appended to those
//! present.

use super::fetch_error::{DownloadError, FetchError};
use super::fetch_event::{FetchEvent, FetchWatch};
use super::partial_file::PartialFile;
use super::root_certificates;
use super::sources::Archive;
use std::io::Read;
use std::time::Duration;
use ureq::http::header::{CONTENT_LENGTH, CONTENT_RANGE, RANGE};
use ureq::http::{Response, StatusCode, Uri};
use ureq::tls::TlsConfig;
use ureq::{Agent, Body};

/// Time limits and number of attempts of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The longest time without a byte.
    pub stall: Duration,
    /// Attempts per server and file.
    pub attempts: u32,
    /// Time between two attempts.
    pub pause: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { stall: Duration::from_secs(30), attempts: 5, pause: Duration::from_secs(1) }
    }
}

/// An error of one attempt to download a file.
pub(super) enum AttemptError {
    /// The connection failed. Another attempt with the same server may succeed.
    Connection(DownloadError),
    /// The server does not deliver the file. Only another server can.
    Server(DownloadError),
    /// The file cannot be written or read on this machine. No server can help.
    Local(FetchError),
}

impl From<FetchError> for AttemptError {
    fn from(error: FetchError) -> Self {
        Self::Local(error)
    }
}

/// An HTTP client that downloads files and continues partial ones.
pub(super) struct Downloader {
    agent: Agent,
    retries: RetryPolicy,
}

impl Downloader {
    pub(super) fn new(retries: RetryPolicy) -> Self {
        let stall = Some(retries.stall);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .tls_config(TlsConfig::builder().root_certs(root_certificates::roots()).build())
            // Checksums and lengths are those of the file, so the server must not compress it.
            .accept_encoding("identity")
            .user_agent(concat!("fuld/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(stall)
            .timeout_connect(stall)
            .timeout_recv_response(stall)
            .timeout_per_read(stall)
            .timeout_per_write(stall);
        Self { agent: config.build().new_agent(), retries }
    }

    /// Downloads a file into its partial file, and verifies it.
    pub(super) fn get(
        &self,
        url: &str,
        archive: &Archive,
        part: &mut PartialFile,
        watch: &mut FetchWatch<'_>,
    ) -> Result<(), AttemptError> {
        // Bytes of an earlier run may belong to another file. A wrong checksum counts against this
        // server only if all bytes came from it.
        let mut inherited = part.len() > 0;
        let mut last = DownloadError::Attempts;
        for attempt in 0..self.retries.attempts.max(1) {
            if attempt > 0 {
                std::thread::sleep(self.retries.pause);
            }
            let before = part.len();
            match self.attempt(url, archive, part, watch) {
                Ok(()) => match self.verify(archive, part)? {
                    None => return Ok(()),
                    Some(wrong) if !inherited => return Err(AttemptError::Server(wrong)),
                    Some(wrong) => (inherited, last) = (false, wrong),
                },
                Err(AttemptError::Connection(reason)) if part.len() == before => {
                    return Err(AttemptError::Server(reason));
                }
                Err(AttemptError::Connection(reason)) => last = reason,
                Err(other) => return Err(other),
            }
        }
        Err(AttemptError::Server(last))
    }

    /// Compares the checksum of a complete file with the published one. If they differ, empties the
    /// file and returns the error.
    fn verify(
        &self,
        archive: &Archive,
        part: &mut PartialFile,
    ) -> Result<Option<DownloadError>, AttemptError> {
        let found = part.sha256()?;
        if found == archive.sha256 {
            return Ok(None);
        }
        part.truncate()?;
        Ok(Some(DownloadError::Checksum { found, expected: archive.sha256.clone() }))
    }

    /// Requests the missing bytes and appends them.
    fn attempt(
        &self,
        url: &str,
        archive: &Archive,
        part: &mut PartialFile,
        watch: &mut FetchWatch<'_>,
    ) -> Result<(), AttemptError> {
        if part.len() > archive.size {
            part.truncate()?;
        }
        if part.len() == archive.size {
            return Ok(());
        }
        let mut response = self.request(url, part.len())?;
        if part.len() > 0 && response.status() == StatusCode::RANGE_NOT_SATISFIABLE {
            // The server may still deliver the whole file. The partial file is emptied only if it
            // does.
            response = self.request(url, 0)?;
        }
        check_start(&response, archive.size, part)?;
        watch(FetchEvent::Received(part.len()));
        receive(response, archive.size, part, watch)
    }

    /// Requests a file, without its first `from` bytes.
    fn request(&self, url: &str, from: u64) -> Result<Response<Body>, AttemptError> {
        let mut request = self.agent.get(url);
        if is_local(url) {
            // A proxy on another machine cannot reach the servers of this one.
            request = request.config().proxy(None).build();
        }
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        request.call().map_err(|e| AttemptError::Connection(DownloadError::from_request(e)))
    }
}

fn is_local(url: &str) -> bool {
    url.parse::<Uri>()
        .ok()
        .and_then(|uri| uri.host().map(|host| host == "127.0.0.1" || host == "localhost"))
        == Some(true)
}

/// Returns an error unless the response starts where the partial file ends. Empties the partial
/// file if the response is the whole file.
fn check_start(
    response: &Response<Body>,
    size: u64,
    part: &mut PartialFile,
) -> Result<(), AttemptError> {
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    let refused = |reason| Err(AttemptError::Server(reason));
    let total = match response.status() {
        StatusCode::PARTIAL_CONTENT => {
            let Some((start, total)) = header(CONTENT_RANGE).and_then(parse_range) else {
                return refused(DownloadError::Range);
            };
            if start != part.len() {
                return refused(DownloadError::Range);
            }
            total
        }
        StatusCode::OK => {
            let total = header(CONTENT_LENGTH).and_then(|length| length.parse().ok());
            // A file of another length is refused below. The bytes of another server are kept then.
            if total.is_none_or(|total| total == size) {
                part.truncate()?;
            }
            total
        }
        status => return refused(DownloadError::Status(status.as_u16())),
    };
    match total {
        Some(found) if found != size => refused(DownloadError::Size { found, expected: size }),
        _ => Ok(()),
    }
}

/// Returns start and total length of a range such as `bytes 5-9/10`. The total is `None` if the
/// server does not know it (`*`).
fn parse_range(value: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = value.strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    Some((start.parse().ok()?, total))
}

/// Appends the body of a response until the file is complete.
fn receive(
    response: Response<Body>,
    size: u64,
    part: &mut PartialFile,
    watch: &mut FetchWatch<'_>,
) -> Result<(), AttemptError> {
    let mut body = response.into_body().into_reader();
    let mut buffer = vec![0; 1 << 16];
    while part.len() < size {
        match body.read(&mut buffer) {
            Ok(0) => {
                return Err(AttemptError::Connection(DownloadError::Truncated {
                    received: part.len(),
                    size,
                }));
            }
            Ok(read) => {
                let wanted = usize::try_from(size - part.len()).map_or(read, |left| left.min(read));
                part.append(&buffer[..wanted])?;
                watch(FetchEvent::Received(part.len()));
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => {
                return Err(AttemptError::Connection(DownloadError::from_read(
                    e,
                    part.len(),
                    size,
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges_are_parsed() {
        assert_eq!(parse_range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(parse_range("bytes 5-9/*"), Some((5, None)));
        for bad in
            ["", "bytes", "bytes */10", "5-9/10", "bytes 5/10", "bytes a-9/10", "bytes 5-9/x"]
        {
            assert_eq!(parse_range(bad), None, "{bad}");
        }
    }
}
