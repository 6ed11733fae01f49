//! The built service on a database of its own, spoken to over loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// A database that is dropped by [`Database::drop_it`].
pub struct Database {
    server: String,
    name: String,
}

impl Database {
    /// A new database on the server of `DATABASE_URL`.
    pub async fn create() -> Result<Database> {
        let server = std::env::var("DATABASE_URL")
            .context("DATABASE_URL is not set; `./dev test` starts a Postgres and sets it")?;
        let name = format!("scalewatch_browser_{}", uuid::Uuid::new_v4().simple());
        let database = Database { server, name };
        database.run(&format!("create database {}", database.name)).await?;
        Ok(database)
    }

    /// Its address.
    pub fn url(&self) -> String {
        let (address, options) = match self.server.split_once('?') {
            Some((address, options)) => (address, format!("?{options}")),
            None => (self.server.as_str(), String::new()),
        };
        let (host, _) = address.rsplit_once('/').unwrap_or((address, ""));
        format!("{host}/{}{options}", self.name)
    }

    /// Drops it, connections or not.
    pub async fn drop_it(&self) -> Result<()> {
        self.run(&format!("drop database if exists {} with (force)", self.name)).await
    }

    async fn run(&self, statement: &str) -> Result<()> {
        let mut connection = PgConnection::connect(&self.server).await?;
        sqlx::query(AssertSqlSafe(statement)).execute(&mut connection).await?;
        Ok(connection.close().await?)
    }
}

/// The running service; it ends with this value.
pub struct Service {
    child: Child,
    database_url: String,
    data: tempfile::TempDir,
    /// `127.0.0.1:port`.
    pub address: String,
}

impl Service {
    /// Starts it on any free port, its database migrated.
    pub fn start(database_url: String) -> Result<Service> {
        let data = tempfile::tempdir()?;
        let mut child = program(&database_url, data.path())
            .args(["serve", "--migrate"])
            .env("SCALEWATCH_LISTEN", "127.0.0.1:0")
            .stdout(Stdio::piped())
            .spawn()
            .context("the built service does not start")?;
        let mut line = String::new();
        let output = child.stdout.take().context("its output is piped")?;
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().rsplit_once("http://").map(|(_, address)| address.to_owned());
        let address =
            address.with_context(|| format!("it said `{line}` instead of its address"))?;
        Ok(Service { child, database_url, data, address })
    }

    /// A new token, made by the command line as people make one.
    pub fn token(&self, scope: &str) -> Result<String> {
        let made = program(&self.database_url, self.data.path())
            .args(["admin", "token", "create", "--name", "browser", "--scope", scope])
            .output()?;
        ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Ok(String::from_utf8(made.stdout)?.trim().to_owned())
    }

    /// Adds a site admin, by the command line as the first one is.
    pub fn add_admin(&self, name: &str, password: &str) -> Result<()> {
        let mut adding = program(&self.database_url, self.data.path())
            .args(["admin", "user", "add", "--admin", name])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        let mut input = adding.stdin.take().context("its input is piped")?;
        writeln!(input, "{password}")?;
        drop(input);
        ensure!(adding.wait()?.success(), "no admin was added");
        Ok(())
    }

    /// POST of a JSON body; the answer's body.
    pub fn post(&self, path: &str, token: &str, body: &impl serde::Serialize) -> Result<String> {
        let body = serde_json::to_vec(body)?;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            self.address,
            body.len()
        );
        let answer = self.exchange(head.as_bytes(), &body)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no end of the head")?;
        let status = head.split(' ').nth(1).unwrap_or_default();
        ensure!(status.starts_with('2'), "{path} answered {head}\n{body}");
        Ok(body.to_owned())
    }

    /// GET; the whole answer.
    pub fn get(&self, path: &str) -> Result<String> {
        let head =
            format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address);
        self.exchange(head.as_bytes(), &[])
    }

    fn exchange(&self, head: &[u8], body: &[u8]) -> Result<String> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.write_all(head)?;
        stream.write_all(body)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

fn program(database_url: &str, data: &std::path::Path) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_scalewatch"));
    program
        .env("DATABASE_URL", database_url)
        .env("SCALEWATCH_DATA", data)
        .env("RUST_LOG", "warn")
        .env_remove("SCALEWATCH_SMTP_URL");
    program
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
