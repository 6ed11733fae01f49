//! TLS as clients see it: the certificate, the next one, and a bad one in between.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use scalewatch::app::tls::{Certificates, Looked};
use scalewatch::config::Tls;
use scalewatch::db::Pool;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::support::processes::{ServiceProcess, eventually};
use crate::support::smtp::certificate;

/// A certificate and its key in a folder, as the settings name them.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Files {
        let files = Files { folder: tempfile::tempdir().unwrap() };
        files.replace();
        files
    }

    /// Another certificate with another key.
    fn replace(&self) -> CertificateDer<'static> {
        certificate(self.folder.path());
        self.certificate()
    }

    fn certificate(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_file(self.tls().certificate).unwrap()
    }

    fn tls(&self) -> Tls {
        let file = |name: &str| self.folder.path().join(name);
        Tls { certificate: file("certificate.pem"), key: file("key.pem") }
    }

    fn settings(&self) -> [(&'static str, String); 2] {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let tls = self.tls();
        [
            ("SCALEWATCH_TLS_CERTIFICATE", text(&tls.certificate)),
            ("SCALEWATCH_TLS_KEY", text(&tls.key)),
        ]
    }
}

/// What a client that trusts this certificate alone gets at `path`; none where it is shown another one.
fn get(address: &str, path: &str, trusted: &CertificateDer<'static>) -> Option<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = tokio_rustls::rustls::crypto::ring::default_provider();
    let config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(client, TcpStream::connect(address).unwrap());
    let asked = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

#[sqlx::test(migrator = "scalewatch::MIGRATOR")]
async fn new_connections_get_the_new_certificate_and_a_bad_one_is_refused(pool: Pool) {
    let (files, data) = (Files::new(), tempfile::tempdir().unwrap());
    let settings = files.settings();
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let log = data.path().join("log");
    let service = ServiceProcess::start_logged(&pool, data.path(), &settings, &log);
    let first = files.certificate();
    let page = get(&service.address, "/login", &first).expect("the client trusts it");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("; Secure"), "{page}");
    let plain = service.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(!plain.starts_with(b"HTTP/1.1 200"), "nothing is said without TLS");

    let second = files.replace();
    service.signal("HUP");
    eventually("the new certificate", async || get(&service.address, "/health", &second)).await;
    assert_eq!(get(&service.address, "/health", &first), None);

    // A key that is another's, and then a file that is nothing: the second one stays.
    let key = fs::read(files.tls().key).unwrap();
    let third = files.replace();
    let said = async |what: &str| {
        service.signal("HUP");
        eventually("a refusal in the log", async || {
            fs::read_to_string(&log).unwrap().contains(what).then_some(())
        })
        .await;
    };
    fs::write(files.tls().key, key).unwrap();
    said("do not fit").await;
    fs::write(files.tls().certificate, "nothing").unwrap();
    said("holds no certificate").await;
    assert!(get(&service.address, "/health", &second).is_some());
    assert_eq!(get(&service.address, "/health", &third), None);
    assert!(service.stop("TERM").success());
}

#[test]
fn certificates_are_looked_at_whole_and_kept_until_better_ones_are_there() {
    let files = Files::new();
    let certificates = Certificates::load(&files.tls()).unwrap();
    assert!(matches!(certificates.look(), Looked::Same));
    let key = fs::read(files.tls().key).unwrap();
    files.replace();
    assert!(matches!(certificates.look(), Looked::Replaced));
    let refused = || match certificates.look() {
        Looked::Refused(error) => format!("{error:#}"),
        other => panic!("{other:?}"),
    };
    let whole = fs::read(files.tls().key).unwrap();
    fs::write(files.tls().key, key).unwrap();
    assert!(refused().contains("do not fit"));
    assert!(matches!(certificates.look(), Looked::Same), "said once");
    fs::write(files.tls().key, "").unwrap();
    assert!(refused().contains("key.pem holds no key"));
    fs::write(files.tls().certificate, "").unwrap();
    assert!(refused().contains("certificate.pem holds no certificate"));
    fs::remove_file(files.tls().certificate).unwrap();
    assert!(refused().contains("reading"));
    fs::write(files.tls().key, whole).unwrap();
    files.replace();
    assert!(matches!(certificates.look(), Looked::Replaced));
    for (name, what) in [("certificate.pem", "reading"), ("key.pem", "reading")] {
        let other = Files::new();
        fs::remove_file(other.folder.path().join(name)).unwrap();
        let error = format!("{:#}", Certificates::load(&other.tls()).unwrap_err());
        assert!(error.contains(what) && error.contains(name), "{error}");
    }
}
