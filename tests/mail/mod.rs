//! What goes out, to whom, and that it goes out once.

mod content;
mod delivery;
mod thread;

use std::sync::Arc;

use scalewatch::db::Pool;

use crate::support::Service;
use crate::support::history::upload_regression;

/// A service that mails to this server, with one regression not yet judged.
async fn with_regression(pool: Pool, smtp_url: Option<String>) -> Service {
    let service = mailing(pool, smtp_url);
    let box_a = service.registered("box-a").await;
    upload_regression(&service, &box_a).await;
    service
}

/// A service that mails to this server.
fn mailing(pool: Pool, smtp_url: Option<String>) -> Service {
    let mut service = Service::on(pool);
    let mut config = (*service.app.config).clone();
    config.mail.smtp_url = smtp_url;
    config.mail.from = "scalewatch@lab.example.org".into();
    config.mail.to = vec!["ada@example.org".into(), "lab@example.org".into()];
    service.app.config = Arc::new(config);
    service
}
