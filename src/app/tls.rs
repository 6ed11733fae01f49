//! TLS with a certificate that may be replaced while connections go on.
//!
//! [`Certificates`] hold what new connections are offered. Files that changed are read again, on SIGHUP
//! or when they are looked at; what cannot be used is said in the log, and the old certificate stays.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

use crate::config::Tls;

/// How often the files are looked at.
const EVERY: Duration = Duration::from_secs(10);

/// Longest a client may take to agree on a connection.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Most connections that are being agreed on.
const HANDSHAKES: usize = 1024;

/// What new connections are offered; cheap to clone.
#[derive(Debug, Clone)]
pub struct Certificates {
    files: Tls,
    offered: Arc<Mutex<Offered>>,
}

#[derive(Debug)]
struct Offered {
    settings: Arc<ServerConfig>,
    /// Content of both files when they were read last, good or bad.
    read: Vec<Vec<u8>>,
}

/// What came of looking at the files.
#[derive(Debug)]
pub enum Looked {
    /// They hold what they held.
    Same,
    /// New connections are offered what they hold now.
    Replaced,
    /// They cannot be used; the old certificate stays.
    Refused(anyhow::Error),
}

impl Certificates {
    /// What the files hold.
    ///
    /// # Errors
    /// Files that cannot be read, hold no certificate or key, or do not belong together.
    pub fn load(files: &Tls) -> Result<Certificates> {
        let read = read(files)?;
        let settings = settings(files, &read)?;
        let offered = Arc::new(Mutex::new(Offered { settings, read }));
        Ok(Certificates { files: files.clone(), offered })
    }

    /// Reads the files again.
    pub fn look(&self) -> Looked {
        let read = match read(&self.files) {
            Ok(read) => read,
            Err(error) => return Looked::Refused(error),
        };
        let mut offered = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        if offered.read == read {
            return Looked::Same;
        }
        let settings = settings(&self.files, &read);
        offered.read = read;
        match settings {
            Ok(settings) => {
                offered.settings = settings;
                Looked::Replaced
            }
            Err(error) => Looked::Refused(error),
        }
    }

    /// Looks now and then, and on SIGHUP, until told to stop.
    pub(super) async fn watch(self, told: watch::Receiver<bool>) {
        let looking = async {
            let mut asked = signal(SignalKind::hangup()).ok();
            loop {
                let hangup = async {
                    match &mut asked {
                        Some(asked) => asked.recv().await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    _ = hangup => {}
                    () = tokio::time::sleep(EVERY) => {}
                }
                let files = self.files.certificate.display();
                match self.look() {
                    Looked::Same => {}
                    Looked::Replaced => {
                        tracing::info!(%files, "new connections get the new certificate")
                    }
                    Looked::Refused(error) => tracing::error!(
                        error = %format!("{error:#}"),
                        "the new certificate cannot be used; the old one stays"
                    ),
                }
            }
        };
        tokio::select! {
            () = looking => {}
            () = super::told_to_stop(told) => {}
        }
    }

    fn acceptor(&self) -> TlsAcceptor {
        let offered = self.offered.lock().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&offered.settings))
    }
}

/// Content of the certificate's file and of the key's.
fn read(files: &Tls) -> Result<Vec<Vec<u8>>> {
    let read = |path: &std::path::Path| {
        std::fs::read(path).with_context(|| format!("reading {}", path.display()))
    };
    Ok(vec![read(&files.certificate)?, read(&files.key)?])
}

fn settings(files: &Tls, read: &[Vec<u8>]) -> Result<Arc<ServerConfig>> {
    let [certificate, key] = read else { anyhow::bail!("two files were not read") };
    let path = files.certificate.display();
    let chain: Result<Vec<CertificateDer>, _> =
        CertificateDer::pem_slice_iter(certificate).collect();
    let chain = chain.with_context(|| format!("{path} is no PEM file of certificates"))?;
    ensure!(!chain.is_empty(), "{path} holds no certificate");
    let path = files.key.display();
    let key = PrivateKeyDer::from_pem_slice(key).with_context(|| format!("{path} holds no key"))?;
    let mut settings = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .context("cannot set up TLS")?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .with_context(|| format!("{} and {path} do not fit", files.certificate.display()))?;
    settings.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(settings))
}

/// Agrees on connections, many at a time, so that a slow client holds up no other.
#[derive(Debug)]
pub(super) struct TlsListener {
    tcp: TcpListener,
    certificates: Certificates,
    agreeing: JoinSet<Option<(TlsStream<TcpStream>, SocketAddr)>>,
}

impl TlsListener {
    pub(super) fn new(tcp: TcpListener, certificates: Certificates) -> TlsListener {
        TlsListener { tcp, certificates, agreeing: JoinSet::new() }
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            tokio::select! {
                (stream, peer) = Listener::accept(&mut self.tcp), if self.agreeing.len() < HANDSHAKES => {
                    let agree = self.certificates.acceptor().accept(stream);
                    self.agreeing.spawn(async move {
                        let agreed = tokio::time::timeout(HANDSHAKE, agree).await;
                        match agreed.map_err(std::io::Error::from).flatten() {
                            Ok(stream) => Some((stream, peer)),
                            Err(error) => {
                                tracing::debug!(%peer, %error, "no agreement on TLS");
                                None
                            }
                        }
                    });
                }
                Some(agreed) = self.agreeing.join_next() => {
                    if let Ok(Some(agreed)) = agreed {
                        return agreed;
                    }
                }
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.tcp.local_addr()
    }
}
