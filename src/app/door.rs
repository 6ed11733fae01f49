//! Where connections come in: a bound port, and how they are spoken to.

use std::io;
use std::net::SocketAddr;

use axum::Router;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::tls::{Certificates, TlsListener};
use super::told_to_stop;

/// A bound port.
#[derive(Debug)]
pub struct Door {
    tcp: TcpListener,
    certificates: Option<Certificates>,
}

impl From<TcpListener> for Door {
    fn from(tcp: TcpListener) -> Door {
        Door { tcp, certificates: None }
    }
}

impl Door {
    /// Speaks TLS where there are certificates.
    pub fn new(tcp: TcpListener, certificates: Option<Certificates>) -> Door {
        Door { tcp, certificates }
    }

    /// Answers until told to stop, and on until no request is in flight; new connections are refused
    /// meanwhile.
    pub(super) async fn serve(self, router: Router, told: watch::Receiver<bool>) -> io::Result<()> {
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        let stop = told_to_stop(told.clone());
        let Some(certificates) = self.certificates else {
            return axum::serve(self.tcp, service).with_graceful_shutdown(stop).await;
        };
        let watching = tokio::spawn(certificates.clone().watch(told));
        // Wrapped, it tells handlers the other end's address as a plain one does.
        let tls = TlsListener::new(self.tcp, certificates).tap_io(|_| {});
        let served = axum::serve(tls, service).with_graceful_shutdown(stop).await;
        watching.abort();
        served
    }
}
