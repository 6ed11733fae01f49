//! What the benchmarks share: a database of their own on the server of `DATABASE_URL`, the built
//! service on it, and HTTP over one kept connection.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

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
        let mut length = None;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.parse::<usize>()?);
            }
        }
        let Some(length) = length else { bail!("an answer without its length") };
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer)?;
        Ok((status, answer))
    }
}

/// Middle of some figures.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let n = figures.len();
    (figures[(n - 1) / 2] + figures[n / 2]) / 2.0
}
