//! Where mails go: an SMTP server, or a folder of `.eml` files until one is set.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use tokio::io::AsyncWriteExt as _;
use url::Url;

use crate::config::Config;

/// Longest a server may take for one command.
const COMMAND: Duration = Duration::from_secs(20);

/// Longest one message may take; well within the sender's lease.
const MESSAGE: Duration = Duration::from_secs(120);

/// Where mails go.
#[derive(Debug, Clone)]
pub enum Transport {
    /// To a server.
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    /// Into a folder.
    Folder(PathBuf),
}

impl Transport {
    /// By the settings.
    ///
    /// # Errors
    /// An address that cannot be read, or a password or certificate file that is not there.
    pub fn from_config(config: &Config) -> Result<Transport> {
        match &config.mail.smtp_url {
            None => Ok(Transport::Folder(config.data.join("mail"))),
            Some(url) => smtp(url, config.mail.smtp_password_file.as_deref())
                .context("SCALEWATCH_SMTP_URL")
                .map(Transport::Smtp),
        }
    }

    /// Hands a message over and says where it went. A message of the same name replaces itself in
    /// a folder; a server may see it again after a crash, under the same Message-ID.
    ///
    /// # Errors
    /// Why the server or the disk refused it.
    pub async fn send(&self, message: &Message, name: &str) -> Result<String> {
        match self {
            Transport::Smtp(server) => {
                let sent = tokio::time::timeout(MESSAGE, server.send(message.clone())).await;
                sent.context("the server took too long")??;
                let to: Vec<String> =
                    message.envelope().to().iter().map(ToString::to_string).collect();
                Ok(to.join(", "))
            }
            Transport::Folder(folder) => {
                let path = folder.join(format!("{name}.eml"));
                write(folder, &path, &message.formatted())
                    .await
                    .with_context(|| format!("cannot write {}", path.display()))?;
                Ok(path.display().to_string())
            }
        }
    }
}

/// Whole or not at all, also when the machine stops half-way.
async fn write(folder: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    tokio::fs::create_dir_all(folder).await?;
    // Each writer has a file of its own: two may write the same message after a lease ran out.
    let draft = path.with_extension(format!("{:016x}.part", rand::random::<u64>()));
    let mut file = tokio::fs::File::create(&draft).await?;
    file.write_all(bytes).await?;
    file.sync_all().await?;
    tokio::fs::rename(&draft, path).await?;
    tokio::fs::File::open(folder).await?.sync_all().await
}

/// `smtp://user@host:587?tls=required|opportunistic|none&ca=FILE` or `smtps://user@host`.
fn smtp(text: &str, password_file: Option<&Path>) -> Result<AsyncSmtpTransport<Tokio1Executor>> {
    let url = Url::parse(text).context("is no address")?;
    let host = url.host_str().context("names no host")?.to_owned();
    let (mut mode, mut authority) = (None, None);
    for (key, value) in url.query_pairs() {
        match &*key {
            "tls" => mode = Some(value.into_owned()),
            "ca" => authority = Some(PathBuf::from(&*value)),
            other => bail!("has the unknown setting `{other}`; tls and ca are known"),
        }
    }
    let wrapped = match url.scheme() {
        "smtp" => false,
        "smtps" => true,
        other => bail!("begins with `{other}:`; smtp: and smtps: are known"),
    };
    let tls = tls(wrapped, mode.as_deref(), &host, authority.as_deref())?;
    let port = url.port().unwrap_or(match (&tls, wrapped) {
        (_, true) => 465,
        (Tls::None, false) => 25,
        (_, false) => 587,
    });
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host)
        .port(port)
        .tls(tls)
        .timeout(Some(COMMAND));
    if url.password().is_some() {
        bail!("holds a password; put it into the file of SCALEWATCH_SMTP_PASSWORD_FILE");
    }
    if !url.username().is_empty() {
        let path = password_file.context("names a user without SCALEWATCH_SMTP_PASSWORD_FILE")?;
        let password = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the password file {}", path.display()))?;
        let user = percent_decoded(url.username())?;
        builder = builder
            .credentials(Credentials::new(user, password.trim_end_matches(['\r', '\n']).into()));
    }
    Ok(builder.build())
}

fn tls(wrapped: bool, mode: Option<&str>, host: &str, authority: Option<&Path>) -> Result<Tls> {
    let mut parameters = TlsParameters::builder(host.to_owned());
    if let Some(path) = authority {
        let pem = std::fs::read(path)
            .with_context(|| format!("cannot read the certificate {}", path.display()))?;
        let certificate = Certificate::from_pem(&pem)
            .with_context(|| format!("{} holds no certificate", path.display()))?;
        parameters = parameters.add_root_certificate(certificate);
    }
    let parameters = parameters.build().context("cannot set up TLS")?;
    match (wrapped, mode) {
        (true, None) => Ok(Tls::Wrapper(parameters)),
        (true, Some(_)) => bail!("is smtps:, which takes no tls= setting"),
        (false, None | Some("required")) => Ok(Tls::Required(parameters)),
        (false, Some("opportunistic")) => Ok(Tls::Opportunistic(parameters)),
        (false, Some("none")) => Ok(Tls::None),
        (false, Some(other)) => {
            bail!("has tls={other}; required, opportunistic and none are known")
        }
    }
}

fn percent_decoded(text: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits: Vec<u8> = rest.by_ref().take(2).collect();
            let digits = std::str::from_utf8(&digits).ok().filter(|digits| digits.len() == 2);
            let digits = digits.context("has a broken user name")?;
            bytes.push(u8::from_str_radix(digits, 16).context("has a broken user name")?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).context("has a user name that is no text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        format!("{:#}", smtp(url, None).map(|_| ()).unwrap_err())
    }

    #[test]
    fn a_setting_that_would_be_ignored_is_refused() {
        assert!(refusal("http://mail").contains("http:"));
        assert!(refusal("smtp://mail?tls=maybe").contains("tls=maybe"));
        assert!(refusal("smtp://mail?starttls=1").contains("starttls"));
        assert!(refusal("smtps://mail?tls=none").contains("smtps"));
        assert!(refusal("smtp://me@mail").contains("SCALEWATCH_SMTP_PASSWORD_FILE"));
    }

    #[test]
    fn a_password_in_the_address_is_refused_and_not_repeated() {
        let refused = refusal("smtp://me:secret@mail");
        assert!(refused.contains("SCALEWATCH_SMTP_PASSWORD_FILE"), "{refused}");
        assert!(!refused.contains("secret"), "{refused}");
    }

    #[test]
    fn user_names_may_hold_an_at_sign() {
        assert_eq!(percent_decoded("me%40example.org").unwrap(), "me@example.org");
        assert!(percent_decoded("me%4").is_err());
    }
}
