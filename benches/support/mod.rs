//! What the benchmarks share: a database of their own on the server of `DATABASE_URL`, the built
//! service on it, and HTTP over one kept connection.

// Each benchmark uses its own part.
#![allow(dead_code)]

pub mod copy;
pub mod load;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use sqlx::{Connection as _, PgConnection};

const PROGRAM: &str = env!("CARGO_BIN_EXE_scalewatch");

/// A fresh, migrated database.
pub struct Database {
    server: String,
    name: String,
}

impl Database {
    /// Creates it, and brings it to the service's schema.
    pub async fn create() -> Result<Database> {
        let server = std::env::var("DATABASE_URL")
            .context("DATABASE_URL must name a Postgres on which a database may be created")?;
        let name = format!("scalewatch_bench_{}", std::process::id());
        let database = Database { server, name };
        database.command("create database").await?;
        let migrated = database.program().arg("migrate").stdout(Stdio::null()).status()?;
        ensure!(migrated.success(), "the schema cannot be brought up");
        Ok(database)
    }

    /// Its address.
    pub fn url(&self) -> String {
        let (address, query) = self.server.split_once('?').unwrap_or((&self.server, ""));
        let scheme = address.find("://").map_or(0, |at| at + 3);
        let host = address[scheme..].split('/').next().unwrap_or_default();
        let question = if query.is_empty() { "" } else { "?" };
        format!("{}{host}/{}{question}{query}", &address[..scheme], self.name)
    }

    /// The service's program with this database in its environment.
    pub fn program(&self) -> Command {
        let mut command = Command::new(PROGRAM);
        command.env("DATABASE_URL", self.url()).env("RUST_LOG", "warn");
        command
    }

    /// Drops it.
    pub async fn drop(self) -> Result<()> {
        self.command("drop database if exists").await
    }

    async fn command(&self, what: &str) -> Result<()> {
        let mut connection = PgConnection::connect(&self.server).await?;
        let force = if what.starts_with("drop") { " with (force)" } else { "" };
        let statement = format!("{what} {}{force}", self.name);
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await?;
        Ok(connection.close().await?)
    }
}

/// The built service, serving on a port of its own; killed when dropped.
pub struct Server {
    child: Child,
    address: SocketAddr,
    _data: tempfile::TempDir,
}

impl Server {
    /// Starts it and reads the address that it listens on.
    pub fn start(database: &Database) -> Result<Server> {
        let data = tempfile::tempdir()?;
        let child = database
            .program()
            .arg("serve")
            .env("SCALEWATCH_LISTEN", "127.0.0.1:0")
            .env("SCALEWATCH_DATA", data.path())
            .stdout(Stdio::piped())
            .spawn()?;
        let unknown = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut server = Server { child, address: unknown, _data: data };
        let out = server.child.stdout.take().context("its standard output is a pipe")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let address = line.trim().rsplit_once("http://").context("the service did not start")?;
        server.address = address.1.parse()?;
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Memory it holds now (`VmRSS`), bytes.
    pub fn resident_bytes(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).context("no VmRSS")?;
        Ok(kib.parse::<u64>()? * 1024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One kept HTTP/1.1 connection.
pub struct Http {
    stream: BufReader<TcpStream>,
}

impl Http {
    /// Connects.
    pub fn connect(address: SocketAddr) -> Result<Http> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Http { stream: BufReader::new(stream) })
    }

    /// Sends a request, whose head is `head` and the length of the body, and reads the answer.
    pub fn send(&mut self, head: &str, body: &[u8]) -> Result<(u16, Vec<u8>)> {
        let head = format!("{head}Host: bench\r\nContent-Length: {}\r\n\r\n", body.len());
        self.stream.get_mut().write_all(&[head.as_bytes(), body].concat())?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).context("no status line")?.parse()?;
        let (mut length, mut chunked) = (None, false);
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.parse::<usize>()?);
            }
            chunked |= name.eq_ignore_ascii_case("transfer-encoding");
        }
        let mut answer = Vec::new();
        match length {
            Some(length) => self.read_exactly(length, &mut answer)?,
            None if chunked => self.read_chunks(&mut answer)?,
            None => bail!("an answer without its length"),
        }
        Ok((status, answer))
    }

    fn read_exactly(&mut self, length: usize, answer: &mut Vec<u8>) -> Result<()> {
        let begin = answer.len();
        answer.resize(begin + length, 0);
        Ok(self.stream.read_exact(&mut answer[begin..])?)
    }

    fn read_chunks(&mut self, answer: &mut Vec<u8>) -> Result<()> {
        let mut line = String::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim_end(), 16)?;
            self.read_exactly(length, answer)?;
            line.clear();
            self.stream.read_line(&mut line)?;
            if length == 0 {
                return Ok(());
            }
        }
    }
}

/// Seconds until every request, head and body, was acknowledged over so many connections.
pub fn upload(server: &Server, connections: usize, requests: &[(&str, Vec<u8>)]) -> Result<f64> {
    let next = AtomicUsize::new(0);
    let send_all = || -> Result<()> {
        let mut http = Http::connect(server.address())?;
        while let Some((head, body)) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (status, answer) = http.send(head, body)?;
            ensure!(status == 201, "{status}: {}", String::from_utf8_lossy(&answer));
        }
        Ok(())
    };
    let began = Instant::now();
    std::thread::scope(|scope| {
        let senders: Vec<_> = (0..connections).map(|_| scope.spawn(send_all)).collect();
        senders.into_iter().try_for_each(|sender| sender.join().expect("no sender panics"))
    })?;
    Ok(began.elapsed().as_secs_f64())
}

/// The figure below which this share of some figures lie.
pub fn quantile(figures: &mut [f64], share: f64) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[((figures.len() as f64 * share).ceil() as usize).clamp(1, figures.len()) - 1]
}

/// Middle of some figures.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let n = figures.len();
    (figures[(n - 1) / 2] + figures[n / 2]) / 2.0
}
