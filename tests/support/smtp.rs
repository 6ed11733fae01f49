//! A real mail server on loopback (Debian's python3-aiosmtpd), gone with the value.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// A running server and the messages it took.
pub struct SmtpServer {
    pub port: u16,
    folder: tempfile::TempDir,
    child: Child,
    /// The server ends when this closes, whatever becomes of the test.
    _stdin: ChildStdin,
}

impl SmtpServer {
    /// A server that takes everything.
    pub fn start() -> SmtpServer {
        SmtpServer::start_with(&[])
    }

    /// A server with further options of `smtp_server.py`.
    pub fn start_with(options: &[&str]) -> SmtpServer {
        let folder = tempfile::tempdir().expect("a folder for messages");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/smtp_server.py");
        let mut child = Command::new("/usr/bin/python3")
            .arg(script)
            .arg(folder.path())
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("/usr/bin/python3 starts");
        let stdin = child.stdin.take().expect("it was piped");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it was piped"))
            .read_line(&mut line)
            .expect("the server writes text");
        let port = line.trim().parse().expect(
            "the mail server prints its port; `apt-get install python3-aiosmtpd` where it cannot",
        );
        SmtpServer { port, folder, child, _stdin: stdin }
    }

    /// Messages taken so far, in order.
    pub fn messages(&self) -> Vec<Mail> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder is there");
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|kind| kind == "eml"))
            .collect();
        paths.sort();
        paths.iter().map(|path| Mail::read(path)).collect()
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A certificate with its key for `localhost`, in one PEM file.
pub fn certificate(folder: &Path) -> PathBuf {
    let (key, certificate) = (folder.join("key.pem"), folder.join("certificate.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-subj", "/CN=localhost", "-config", "/dev/null"])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .expect("openssl starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut both = std::fs::read(&certificate).expect("openssl wrote it");
    both.extend(std::fs::read(&key).expect("openssl wrote it"));
    let path = folder.join("both.pem");
    std::fs::write(&path, both).expect("the folder is ours");
    path
}

/// A message as it lies on disk.
#[derive(Debug, Clone)]
pub struct Mail(pub String);

impl Mail {
    /// The message in this file.
    pub fn read(path: &Path) -> Mail {
        let bytes = std::fs::read(path).expect("the message is there");
        Mail(String::from_utf8(bytes).expect("mails are clean of anything but text"))
    }

    /// A header of the message itself, unfolded and decoded.
    pub fn header(&self, name: &str) -> Option<String> {
        let head = self.0.split("\r\n\r\n").next()?.replace("\r\n ", " ").replace("\r\n\t", " ");
        let prefix = format!("{}:", name.to_ascii_lowercase());
        let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(&prefix))?;
        Some(line[prefix.len()..].trim().to_owned())
    }

    /// The text of the first part of this media type, decoded.
    pub fn part(&self, media_type: &str) -> String {
        let start = self.0.find(&format!("Content-Type: {media_type}")).expect("such a part");
        let (head, rest) = self.0[start..].split_once("\r\n\r\n").expect("a part has a body");
        let delimiter = self.0[..start].trim_end().rsplit("\r\n").next().expect("one line");
        let body = rest.split(&format!("\r\n{delimiter}")).next().expect("split gives one");
        if head.contains("quoted-printable") { unquoted(body) } else { body.to_owned() }
    }
}

fn unquoted(text: &str) -> String {
    let joined = text.replace("=\r\n", "");
    let mut bytes = Vec::new();
    let mut rest = joined.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'=' {
            let digits: Vec<u8> = rest.by_ref().take(2).collect();
            let digits = String::from_utf8(digits).expect("hex digits");
            bytes.push(u8::from_str_radix(&digits, 16).expect("hex digits"));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).expect("parts are UTF-8")
}
