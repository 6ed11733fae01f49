//! A body of JSON lines, read while it arrives: one line after the other, each of bounded size, so
//! that a long body takes no more memory than a few of its lines.

use std::io::{self, BufRead, BufReader, Read};

use axum::extract::Request;
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio_util::io::{StreamReader, SyncIoBridge};

use super::body;
use super::encoding::Encoding;
use crate::error::{Error, Result};

/// Lines that were read and wait to be taken.
const AHEAD: usize = 2;

/// A line's number, from 1, and what it holds.
pub type Line<R> = (usize, Result<R>);

/// Limits of a body of lines.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Most bytes of a line.
    pub line_bytes: usize,
    /// Most lines that are not empty.
    pub lines: usize,
}

/// Starts to read the lines of a body; each is parsed and handed to `digest` off the threads that
/// serve requests. The last may be an error of the body itself.
///
/// # Errors
/// A media type or an encoding that is not read.
pub fn read<T, R>(
    request: Request,
    limits: Limits,
    digest: impl Fn(T) -> Result<R> + Send + 'static,
) -> Result<mpsc::Receiver<Line<R>>>
where
    T: DeserializeOwned,
    R: Send + 'static,
{
    body::check_type(request.headers(), &["application/x-ndjson", "application/jsonl"])?;
    let encoding = Encoding::of(request.headers())?;
    let body = request.into_body().map_err(io::Error::other).into_data_stream();
    let body = SyncIoBridge::new(StreamReader::new(body));
    let (send, receive) = mpsc::channel(AHEAD);
    tokio::task::spawn_blocking(move || {
        let content = encoding.reader(BufReader::with_capacity(1 << 16, body));
        let mut lines = Lines { content: BufReader::new(content), encoding, limits, taken: 0 };
        let mut number = 0;
        while let Some(bytes) = lines.next() {
            number += 1;
            let over = matches!(&bytes, Err(error) if !matches!(error, Error::TooLarge { .. }));
            let line = bytes.and_then(|bytes| digest(body::parse(&bytes)?));
            // The taker is gone when the client is.
            if send.blocking_send((number, line)).is_err() || over {
                return;
            }
        }
    });
    Ok(receive)
}

struct Lines<R: BufRead> {
    content: R,
    encoding: Encoding,
    limits: Limits,
    taken: usize,
}

impl<R: BufRead> Lines<R> {
    /// The next line that is not empty. One that is too long is passed over and said so; any other
    /// error is the body's end.
    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        loop {
            let line = match self.line() {
                Ok(line) => line,
                Err(error) => return Some(Err(self.encoding.malformed(&error))),
            };
            match line {
                None => return None,
                Some(line) if line.trim_ascii().is_empty() => {}
                Some(_) if self.taken == self.limits.lines => {
                    let detail = format!("the body has more than {} lines", self.limits.lines);
                    return Some(Err(Error::Malformed { code: "too_many_lines", detail }));
                }
                Some(line) => {
                    self.taken += 1;
                    if line.len() > self.limits.line_bytes {
                        return Some(Err(Error::TooLarge { limit: self.limits.line_bytes }));
                    }
                    return Some(Ok(line));
                }
            }
        }
    }

    /// A line without its end; of one too long its beginning.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let most = self.limits.line_bytes as u64 + 1;
        let mut line = Vec::new();
        let read = self.content.by_ref().take(most).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read as u64 == most {
            self.content.skip_until(b'\n')?;
        }
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Result<Vec<u8>>> {
        let limits = Limits { line_bytes: 5, lines: 3 };
        let mut lines =
            Lines { content: text.as_bytes(), encoding: Encoding::Identity, limits, taken: 0 };
        let mut all = Vec::new();
        while let Some(line) = lines.next() {
            let end = matches!(&line, Err(error) if !matches!(error, Error::TooLarge { .. }));
            all.push(line);
            if end {
                break;
            }
        }
        all
    }

    #[test]
    fn a_line_that_is_too_long_is_said_so_and_the_next_is_read() {
        let found = lines("12345\n\n123456789\r\n6\r\n");
        assert_eq!(found[0].as_deref().unwrap(), b"12345");
        assert!(matches!(found[1], Err(Error::TooLarge { limit: 5 })));
        assert_eq!(found[2].as_deref().unwrap(), b"6\r");
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn the_line_beyond_the_most_ends_the_body() {
        let found = lines("1\n2\n3\n4\n5");
        assert_eq!(found.len(), 4);
        assert!(matches!(&found[3], Err(Error::Malformed { code: "too_many_lines", .. })));
    }
}
