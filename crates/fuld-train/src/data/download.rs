//! Downloads of one file from one server: the missing bytes are requested and appended to those present.

use super::fetch::{DownloadError, FetchError};
use super::partial_file::PartialFile;
use super::progress::{FetchEvent, FetchWatch};
use super::root_certificates;
use super::sources::Archive;
use std::io::Read;
use std::time::Duration;
use ureq::http::header::{CONTENT_LENGTH, CONTENT_RANGE, RANGE};
use ureq::http::{Response, StatusCode, Uri};
use ureq::tls::TlsConfig;
use ureq::{Agent, Body};

/// How long to wait for a server, and how often to try again.
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

/// Why an attempt failed.
pub(super) enum Failure {
    /// The connection failed; the server may be tried again.
    Broken(DownloadError),
    /// This server does not deliver the file.
    Refused(DownloadError),
    /// This machine failed.
    Here(FetchError),
}

impl From<FetchError> for Failure {
    fn from(error: FetchError) -> Self {
        Self::Here(error)
    }
}

/// A client that downloads files.
pub(super) struct Client {
    agent: Agent,
    retries: RetryPolicy,
}

impl Client {
    pub(super) fn new(retries: RetryPolicy) -> Self {
        let stall = Some(retries.stall);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .tls_config(TlsConfig::builder().root_certs(root_certificates::roots()).build())
            // Sums and lengths are those of the file, so it must come as it is.
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
    ) -> Result<(), Failure> {
        // What is there may be of another file: only if all came from here is this server to blame for a wrong sum.
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
                    Some(wrong) if !inherited => return Err(Failure::Refused(wrong)),
                    Some(wrong) => (inherited, last) = (false, wrong),
                },
                Err(Failure::Broken(reason)) if part.len() == before => return Err(Failure::Refused(reason)),
                Err(Failure::Broken(reason)) => last = reason,
                Err(other) => return Err(other),
            }
        }
        Err(Failure::Refused(last))
    }

    /// Returns what is wrong with the checksum of a complete file; if anything is, empties it.
    fn verify(&self, archive: &Archive, part: &mut PartialFile) -> Result<Option<DownloadError>, Failure> {
        let found = part.sha256()?;
        if found == archive.sha256 {
            return Ok(None);
        }
        part.restart()?;
        Ok(Some(DownloadError::Sum { found, expected: archive.sha256.clone() }))
    }

    fn attempt(
        &self,
        url: &str,
        archive: &Archive,
        part: &mut PartialFile,
        watch: &mut FetchWatch<'_>,
    ) -> Result<(), Failure> {
        if part.len() > archive.size {
            part.restart()?;
        }
        if part.len() == archive.size {
            return Ok(());
        }
        let mut response = self.ask(url, part.len())?;
        if part.len() > 0 && response.status() == StatusCode::RANGE_NOT_SATISFIABLE {
            // It may yet have the whole file; the part is thrown away only when it does.
            response = self.ask(url, 0)?;
        }
        place(&response, archive.size, part)?;
        watch(FetchEvent::Received(part.len()));
        receive(response, archive.size, part, watch)
    }

    /// Asks for a file from a byte on.
    fn ask(&self, url: &str, from: u64) -> Result<Response<Body>, Failure> {
        let mut request = self.agent.get(url);
        if is_local(url) {
            // A proxy elsewhere does not see this machine's own servers.
            request = request.config().proxy(None).build();
        }
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        request.call().map_err(|e| Failure::Broken(DownloadError::of(e)))
    }
}

fn is_local(url: &str) -> bool {
    url.parse::<Uri>().ok().and_then(|uri| uri.host().map(|host| host == "127.0.0.1" || host == "localhost"))
        == Some(true)
}

/// Makes sure that the answer goes on where the part ends, or empties the part if it begins at the beginning.
fn place(response: &Response<Body>, size: u64, part: &mut PartialFile) -> Result<(), Failure> {
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    let refused = |reason| Err(Failure::Refused(reason));
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
            // A file of another length is no reason to throw away what another server gave.
            if total.is_none_or(|total| total == size) {
                part.restart()?;
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

/// Start and total of `bytes 5-9/10`; the total may be unknown, `*`.
fn parse_range(value: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = value.strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    Some((start.parse().ok()?, total))
}

/// Appends what comes until the file is whole.
fn receive(
    response: Response<Body>,
    size: u64,
    part: &mut PartialFile,
    watch: &mut FetchWatch<'_>,
) -> Result<(), Failure> {
    let mut body = response.into_body().into_reader();
    let mut buffer = vec![0; 1 << 16];
    while part.len() < size {
        match body.read(&mut buffer) {
            Ok(0) => return Err(Failure::Broken(DownloadError::Truncated { at: part.len(), size })),
            Ok(read) => {
                let wanted = usize::try_from(size - part.len()).map_or(read, |left| left.min(read));
                part.append(&buffer[..wanted])?;
                watch(FetchEvent::Received(part.len()));
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Failure::Broken(DownloadError::while_reading(e, part.len(), size))),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!(parse_range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(parse_range("bytes 5-9/*"), Some((5, None)));
        for bad in ["", "bytes", "bytes */10", "5-9/10", "bytes 5/10", "bytes a-9/10", "bytes 5-9/x"] {
            assert_eq!(parse_range(bad), None, "{bad}");
        }
    }
}
