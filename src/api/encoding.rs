//! Content-Encoding of a request's body: plain, gzip or zstd, read as it streams.

use std::io::{self, BufRead, Read};

use axum::http::{HeaderMap, header};
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use crate::error::{Error, Result};

/// Largest window of a zstd frame: what a decoder must hold, whatever the body's size.
const ZSTD_WINDOW: u64 = 32 << 20;

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Identity,
    Gzip,
    Zstd,
}

impl Encoding {
    /// As the request's head says; refuses what is not read.
    pub fn of(headers: &HeaderMap) -> Result<Encoding> {
        let value = headers.get(header::CONTENT_ENCODING);
        let word = value.map(|value| value.to_str().unwrap_or_default().trim().to_lowercase());
        match word.as_deref() {
            None | Some("identity") => Ok(Encoding::Identity),
            Some("gzip" | "x-gzip") => Ok(Encoding::Gzip),
            Some("zstd") => Ok(Encoding::Zstd),
            Some(other) => Err(Error::UnsupportedMedia(format!(
                "Content-Encoding is `{other}`, neither gzip nor zstd nor identity"
            ))),
        }
    }

    /// The content behind a body.
    pub fn reader<'a>(self, body: impl BufRead + 'a) -> Box<dyn Read + 'a> {
        match self {
            Encoding::Identity => Box::new(body),
            Encoding::Gzip => Box::new(MultiGzDecoder::new(body)),
            Encoding::Zstd => Box::new(Frames::Between(body)),
        }
    }

    /// A body that is not what its head says.
    pub fn malformed(self, error: &io::Error) -> Error {
        let (code, word) = match self {
            Encoding::Identity => ("body_incomplete", "complete"),
            Encoding::Gzip => ("malformed_gzip", "gzip as Content-Encoding says"),
            Encoding::Zstd => ("malformed_zstd", "zstd as Content-Encoding says"),
        };
        Error::Malformed { code, detail: format!("the body is not {word}: {error}") }
    }
}

/// One zstd frame after the other, as programs append them.
enum Frames<R: BufRead> {
    Between(R),
    Inside(Box<StreamingDecoder<R, FrameDecoder>>),
    Broken,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(self, Frames::Broken) {
                Frames::Broken => return Err(io::ErrorKind::InvalidData.into()),
                Frames::Between(mut body) => {
                    if body.fill_buf()?.is_empty() || out.is_empty() {
                        *self = Frames::Between(body);
                        return Ok(0);
                    }
                    let frame = StreamingDecoder::new_with_max_window_size(body, ZSTD_WINDOW);
                    *self = Frames::Inside(Box::new(frame.map_err(io::Error::other)?));
                }
                Frames::Inside(mut frame) => match frame.read(out)? {
                    0 => *self = Frames::Between(frame.into_inner()),
                    n => {
                        *self = Frames::Inside(frame);
                        return Ok(n);
                    }
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn read(encoding: Encoding, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        encoding.reader(bytes).read_to_end(&mut content).map(|_| content)
    }

    #[test]
    fn zstd_frames_one_after_the_other_are_one_content() {
        let frame = |text: &str| compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
        let bytes = [frame("one "), frame("two")].concat();
        assert_eq!(read(Encoding::Zstd, &bytes).unwrap(), b"one two");
        assert_eq!(read(Encoding::Zstd, b"").unwrap(), b"");
    }

    #[test]
    fn a_frame_that_breaks_off_is_an_error() {
        let frame = compress_to_vec([7; 1000].as_slice(), CompressionLevel::Fastest);
        assert!(read(Encoding::Zstd, &frame[..frame.len() - 6]).is_err());
        assert!(read(Encoding::Zstd, b"no frame at all").is_err());
    }
}
