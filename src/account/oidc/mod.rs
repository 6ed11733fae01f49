//! Signing in by a provider of identities (OpenID Connect): the browser is sent there with a state, a
//! nonce and a PKCE challenge that are kept in the database, comes back with a code, and the code is
//! exchanged for a signed token that says who it is. Each sign-in comes back once, within ten minutes,
//! and in the browser that began it.

mod admit;
mod fetch;
mod provider;
mod settings;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use time::Duration;

use super::rate::Limit;
use super::{By, Client, Viewer, Who, login};
use crate::app::App;
use crate::db;
use crate::error::Error;
use crate::model::{Person, PersonId, Secret};
pub use admit::forget;
pub use provider::Provider;
pub use settings::{Gives, Mapped, Settings};

/// How long somebody may take at the provider.
pub const PATIENCE: Duration = Duration::minutes(10);

/// Sign-ins begun from an address.
const BEGUN: Limit = Limit {
    most: 100,
    window: Duration::minutes(15),
    refusal: "there were too many sign-ins from this address; wait before the next one",
};

/// Who somebody is, as the provider says.
#[derive(Debug, Clone)]
struct Identity {
    /// Its name for them.
    subject: String,
    /// Their e-mail address.
    email: Option<String>,
    /// Whether it says that the address is theirs.
    is_verified: bool,
    /// What else it says.
    claims: BTreeMap<String, Value>,
}

/// Why somebody is not let in, as they are told. Details are logged, not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The provider does not answer.
    Away,
    /// Not begun in this browser, come back already, or too long ago.
    Stale,
    /// The provider did not let them in, or they stopped there.
    Declined,
    /// What the provider tells does not hold.
    NotBelieved,
    /// No e-mail address that the provider says is theirs.
    Unverified,
    /// Of no allowed domain, or without a claim that is asked for.
    NotAllowed,
    /// Known as nobody here, and nobody is added.
    Unknown,
    /// Somebody here has the name, and is not known to be the same.
    Taken,
    /// Refused by an admin.
    Disabled,
    /// The identity is somebody else's here.
    Elsewhere,
}

impl Refusal {
    /// The refusal as kept with what was done.
    pub const fn word(self) -> &'static str {
        match self {
            Refusal::Away => "provider away",
            Refusal::Stale => "stale",
            Refusal::Declined => "declined",
            Refusal::NotBelieved => "not believed",
            Refusal::Unverified => "unverified",
            Refusal::NotAllowed => "not allowed",
            Refusal::Unknown => "unknown",
            Refusal::Taken => "name taken",
            Refusal::Disabled => "disabled",
            Refusal::Elsewhere => "connected elsewhere",
        }
    }

    /// What somebody is told who comes from the provider of this name.
    pub fn words(self, name: &str) -> String {
        match self {
            Refusal::Away => {
                format!("{name} does not answer now. Nothing was changed; try again in a moment.")
            }
            Refusal::Stale => {
                "This sign-in was not begun in this browser, was used already, or took \
                               longer than ten minutes. Begin it anew."
                    .into()
            }
            Refusal::Declined => format!("{name} did not let you in, or you stopped there."),
            Refusal::NotBelieved => format!(
                "What {name} answered could not be verified, so nobody was logged in. Begin anew; an \
                 admin finds the reason in the log."
            ),
            Refusal::Unverified => format!(
                "{name} names no e-mail address of yours that it has verified. Verify it there, then \
                 begin anew."
            ),
            Refusal::NotAllowed => format!(
                "Your account at {name} is not one that this service lets in. An admin says which are."
            ),
            Refusal::Unknown => {
                "Nobody here is connected with that account, and people are not added \
                                 by themselves. An admin adds you."
                    .into()
            }
            Refusal::Taken => format!(
                "There is a person of that name here, not yet connected with {name}. If it is you, log \
                 in with your password and connect it on your account page; else ask an admin."
            ),
            Refusal::Disabled => "An admin has disabled this person.".into(),
            Refusal::Elsewhere => format!(
                "That account at {name} is connected with another person here, or this person with \
                 another account."
            ),
        }
    }
}

/// Why a sign-in did not come about.
#[derive(Debug)]
pub enum Stopped {
    /// They are not let in.
    Refused(Refusal),
    /// Something failed here.
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Stopped {
    fn from(error: E) -> Stopped {
        Stopped::Failed(error.into())
    }
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Stopped {
        Stopped::Refused(refusal)
    }
}

/// Where a sign-in that came back leads.
#[derive(Debug)]
pub struct Done {
    /// The session that began; none where somebody was connected.
    pub session: Option<Secret>,
    /// Where to go on to.
    pub next: String,
}

/// The settings of the provider.
///
/// # Errors
/// `NotFound` where there is none.
pub fn settings(app: &App) -> Result<&Settings, Error> {
    app.config.oidc.as_ref().ok_or(Error::NotFound("provider to sign in by"))
}

/// Begins a sign-in of the browser that keeps `cookie`; or, of somebody who is logged in, connecting
/// them. The address to send it to.
///
/// # Errors
/// `Refusal::Away`; `TooMany` from one address.
pub async fn begin(
    app: &App,
    client: &Client,
    cookie: &Secret,
    next: &str,
    person: Option<&Person>,
) -> Result<String, Stopped> {
    let settings = settings(app)?;
    let now = app.clock.now();
    if BEGUN.take(app, &format!("sign-in from {}", client.address)).await? {
        db::identity::delete_sign_ins_before(&app.db, now).await?;
    }
    let begun = provider::begin(app, settings).await?;
    let new = db::identity::SignIn {
        nonce: begun.nonce,
        verifier: begun.verifier,
        next: next.to_owned(),
        person: person.map(|person| person.id),
    };
    db::identity::insert_sign_in(&app.db, &begun.state, cookie, &new, now + PATIENCE).await?;
    Ok(begun.address)
}

/// What the provider sent the browser back with.
#[derive(Debug, Default)]
pub struct Back<'a> {
    /// What we gave it.
    pub state: &'a str,
    /// What is exchanged for the token.
    pub code: Option<&'a str>,
    /// Who it is itself, where it says so.
    pub issuer: Option<&'a str>,
}

/// Lets in who came back, in the browser that keeps `cookie` and is logged in as `viewer`.
///
/// # Errors
/// Every [`Refusal`], each with its line of what was done.
pub async fn finish(
    app: &App,
    client: &Client,
    viewer: &Viewer,
    cookie: Option<&Secret>,
    back: &Back<'_>,
) -> Result<Done, Stopped> {
    let done = come_back(app, client, viewer, cookie, back).await;
    if let Err(Stopped::Refused(refusal)) = &done {
        let by = By { viewer, origin: &client.address, now: app.clock.now() };
        let about = format!("sign-in by {}", settings(app)?.name);
        let mut connection = app.db.acquire().await?;
        let why = Some(json!({ "why": refusal.word() }));
        by.did(&mut connection, "login_refused", &about, (None, why)).await?;
    }
    done
}

async fn come_back(
    app: &App,
    client: &Client,
    viewer: &Viewer,
    cookie: Option<&Secret>,
    back: &Back<'_>,
) -> Result<Done, Stopped> {
    let settings = settings(app)?;
    let now = app.clock.now();
    let cookie = cookie.ok_or(Refusal::Stale)?;
    let state = Secret::from_client(back.state);
    let begun = db::identity::take_sign_in(&app.db, &state, cookie, now).await?;
    let begun = begun.ok_or(Refusal::Stale)?;
    if back.issuer.is_some_and(|issuer| issuer != settings.issuer) {
        return Err(Refusal::NotBelieved.into());
    }
    let code = back.code.ok_or(Refusal::Declined)?;
    let identity = provider::identify(app, settings, code, &begun.nonce, &begun.verifier).await?;
    let email = admit::checked(settings, &identity)?;
    let mut tx = app.db.begin().await?;
    let session = match begun.person {
        Some(person) => {
            connect(app, &mut tx, client, viewer, person, (&identity, email)).await?;
            None
        }
        None => {
            let by = Viewer::new(Who::Provider(settings.name.clone()));
            let by = By { viewer: &by, origin: &client.address, now };
            let person = admit::person(&mut tx, &by, settings, &identity, email).await?;
            let how = json!({ "by": settings.name });
            Some(login::begin(app, &mut tx, person, client, how).await?)
        }
    };
    tx.commit().await?;
    Ok(Done { session, next: begun.next })
}

/// Connects who is logged in, who has to be the one who asked for it.
async fn connect(
    app: &App,
    tx: &mut db::Connection,
    client: &Client,
    viewer: &Viewer,
    person: PersonId,
    (identity, email): (&Identity, &str),
) -> Result<(), Stopped> {
    let person = viewer.as_person().filter(|this| this.id == person).ok_or(Refusal::Stale)?;
    let by = By { viewer, origin: &client.address, now: app.clock.now() };
    let settings = settings(app)?;
    admit::connect(tx, &by, settings, person, identity, email).await
}

/// Takes away what a person is known by at the provider. The caller commits.
///
/// # Errors
/// `NotFound` where there is nothing, `Conflict` where they could not log in any more.
pub async fn disconnect(
    app: &App,
    tx: &mut db::Connection,
    by: &By<'_>,
    person: &Person,
) -> Result<(), Error> {
    if !person.has_password || !app.config.password_login {
        return Err(Error::Conflict {
            code: "last_way_in",
            field: "identity".into(),
            detail: "it is the only way in for this person; a password comes first".into(),
        });
    }
    forget(tx, by, person).await
}
