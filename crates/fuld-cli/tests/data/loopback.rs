//! An HTTP server on this machine that offers one file and simulates faults.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The fault of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// The connection is closed after this many bytes of the body.
    Truncate(usize),
    /// The server stops sending after this many bytes.
    Stall(usize),
    /// One bit of the body is wrong.
    Corrupt,
    /// The server sends the whole file instead of the requested range.
    IgnoreRange,
    /// The server sends another range.
    WrongRange,
    /// The file is one byte longer.
    Longer,
    /// The server answers with an error.
    Status(u16),
    /// No fault.
    None,
}

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Requests>>,
}

/// A record of all requests.
#[derive(Default)]
struct Requests {
    ranges: Vec<Option<String>>,
    sent: usize,
}

impl Server {
    /// Gives this file under any name; the n-th request meets the n-th fault, those beyond meet the
    /// last.
    pub(crate) fn start(file: Vec<u8>, faults: &[Fault]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Requests::default()));
        let (file, faults, log) = (Arc::new(file), faults.to_vec(), Arc::clone(&requests));
        // Ends with the test's process.
        std::thread::spawn(move || {
            for (n, stream) in listener.incoming().enumerate() {
                let fault = faults.get(n).or(faults.last()).copied().unwrap_or(Fault::None);
                let (file, log) = (Arc::clone(&file), Arc::clone(&log));
                std::thread::spawn(move || answer(stream.unwrap(), &file, fault, &log));
            }
        });
        Self { url, requests }
    }

    /// What was asked for, request by request: a range or all.
    pub(crate) fn ranges(&self) -> Vec<Option<String>> {
        self.requests.lock().unwrap().ranges.clone()
    }

    /// How many bytes of files were sent.
    pub(crate) fn sent(&self) -> usize {
        self.requests.lock().unwrap().sent
    }
}

fn answer(mut stream: TcpStream, file: &[u8], fault: Fault, requests: &Mutex<Requests>) {
    let range = range_of(&stream);
    requests.lock().unwrap().ranges.push(range.clone());
    let asked = range
        .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let (head, body) = reply(file, asked, fault);
    stream.write_all(head.as_bytes()).unwrap();
    let sent = match fault {
        Fault::Truncate(count) | Fault::Stall(count) => count.min(body.len()),
        _ => body.len(),
    };
    // The other end may have had enough.
    if stream.write_all(&body[..sent]).is_ok() {
        requests.lock().unwrap().sent += sent;
    }
    if let Fault::Stall(_) = fault {
        std::thread::sleep(Duration::from_secs(60));
    }
}

/// Reads a request; of its headers only one matters.
fn range_of(stream: &TcpStream) -> Option<String> {
    let lines =
        BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let headers: Vec<_> = lines.map(|line| line.to_ascii_lowercase()).collect();
    headers.iter().find_map(|line| line.strip_prefix("range: ").map(Into::into))
}

fn reply(file: &[u8], asked: Option<usize>, fault: Fault) -> (String, Vec<u8>) {
    let mut body = file.to_vec();
    let mut status = "200 OK".to_owned();
    let mut more = String::new();
    match (asked, fault) {
        (_, Fault::Status(416)) if asked.is_none() => {}
        (_, Fault::Status(code)) => (status, body) = (format!("{code} Sorry"), b"sorry".to_vec()),
        (_, Fault::Longer) => body.push(0),
        (Some(from), _) if !matches!(fault, Fault::IgnoreRange) => {
            let from = if matches!(fault, Fault::WrongRange) { from / 2 } else { from };
            status = "206 Partial Content".into();
            more = format!("Content-Range: bytes {from}-{}/{}\r\n", file.len() - 1, file.len());
            body = file[from..].to_vec();
        }
        _ => {}
    }
    if matches!(fault, Fault::Corrupt) {
        let middle = body.len() / 2;
        body[middle] ^= 1;
    }
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{more}Connection: close\r\n\r\n",
        body.len()
    );
    (head, body)
}
