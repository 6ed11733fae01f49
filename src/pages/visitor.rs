//! Who looks at a page or posts a form of it. Every form is read by [`Posted`], which takes none
//! that was not shown by us to this very browser.

use axum::extract::{Form, FromRequest, FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::{Html, IntoResponse, Response};
use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::{Cookie, SameSite};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::failure::Failure;
use crate::account::form::FormKey;
use crate::account::{By, Client, Viewer, Who, oidc, session};
use crate::api::who::{self, SESSION_COOKIE};
use crate::app::App;
use crate::error::{Error, Result};
use crate::model::Secret;

/// The cookie behind the forms of a browser without a session.
const FORM_COOKIE: &str = "scalewatch_form";

/// The cookie of a browser that is at the provider of identities.
const SIGN_IN_COOKIE: &str = "scalewatch_sign_in";

/// Who looks, and from where.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// Who.
    pub viewer: Viewer,
    /// What the forms shown to them carry.
    pub form: FormKey,
    /// Where from.
    pub client: Client,
    /// Path and query of what they look at.
    pub address: String,
    /// What [`Visitor::going`] gave the browser.
    pub sign_in: Option<Secret>,
    by_tls: bool,
}

impl Visitor {
    async fn of(parts: &Parts, app: &App) -> Result<Visitor> {
        let viewer = who::viewer(parts, app).await?;
        let jar = CookieJar::from_headers(&parts.headers);
        let cookie = match viewer.who() {
            Who::Person(..) => jar.get(SESSION_COOKIE),
            _ => jar.get(FORM_COOKIE),
        };
        let key = |cookie: &Cookie<'_>| FormKey::of(Secret::from_client(cookie.value()));
        Ok(Visitor {
            viewer,
            form: cookie.map_or_else(FormKey::fresh, key),
            client: who::client(parts, app),
            sign_in: jar.get(SIGN_IN_COOKIE).map(|one| Secret::from_client(one.value())),
            address: parts.uri.path_and_query().map_or("/".into(), ToString::to_string),
            by_tls: who::is_by_tls(parts, app),
        })
    }

    /// What audit lines begin with.
    pub fn by<'a>(&'a self, app: &App) -> By<'a> {
        By { viewer: &self.viewer, origin: &self.client.address, now: app.clock.now() }
    }

    /// Where to log in, and from there back to what they look at.
    pub fn login_address(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("next", &self.address);
        match self.address.as_str() {
            "/" => "/login".into(),
            _ => format!("/login?{}", query.finish()),
        }
    }

    /// A page with a form: the browser is given the cookie behind it where it has none.
    pub fn shown(&self, view: &impl askama::Template) -> Result<Response, Failure> {
        let page = Html(view.render().map_err(anyhow::Error::from)?);
        if !self.form.is_fresh {
            return Ok(page.into_response());
        }
        let cookie = self.cookie(FORM_COOKIE, self.form.secret().reveal().to_owned());
        Ok((CookieJar::new().add(cookie), page).into_response())
    }

    /// The cookie that makes a browser known again.
    pub fn logged_in(&self, secret: &Secret) -> CookieJar {
        let mut cookie = self.cookie(SESSION_COOKIE, secret.reveal().to_owned());
        cookie.set_max_age(session::LONGEST);
        CookieJar::new().add(cookie)
    }

    /// What takes that cookie away.
    pub fn logged_out(&self) -> CookieJar {
        let mut cookie = self.cookie(SESSION_COOKIE, String::new());
        cookie.make_removal();
        CookieJar::new().add(cookie)
    }

    /// The cookie by which a browser that goes to the provider of identities is known when it comes
    /// back; kept as long as that may take.
    pub fn going(&self, secret: &Secret) -> CookieJar {
        let mut cookie = self.cookie(SIGN_IN_COOKIE, secret.reveal().to_owned());
        cookie.set_max_age(oidc::PATIENCE);
        CookieJar::new().add(cookie)
    }

    fn cookie(&self, name: &'static str, value: String) -> Cookie<'static> {
        Cookie::build((name, value))
            .path("/")
            .http_only(true)
            .same_site(SameSite::Lax)
            .secure(self.by_tls)
            .build()
    }
}

impl FromRequestParts<App> for Visitor {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Visitor, Failure> {
        Ok(Visitor::of(parts, app).await?)
    }
}

/// A form of ours, posted by the browser that it was shown to. Its fields are texts.
#[derive(Debug)]
pub struct Posted<T> {
    /// Who posted it.
    pub visitor: Visitor,
    /// What it says.
    pub form: T,
}

#[derive(Deserialize)]
struct Signed<T> {
    form_word: Option<String>,
    #[serde(flatten)]
    form: T,
}

impl<T: DeserializeOwned> FromRequest<App> for Posted<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &App) -> Result<Posted<T>, Failure> {
        let (parts, body) = request.into_parts();
        refuse_other_sites(&parts.headers)?;
        let visitor = Visitor::of(&parts, app).await?;
        let request = Request::from_parts(parts, body);
        let Form(signed) =
            Form::<Signed<T>>::from_request(request, app).await.map_err(|error| {
                let detail = format!("the form cannot be read: {}", error.body_text());
                Error::Malformed { code: "malformed_form", detail }
            })?;
        if !signed.form_word.is_some_and(|word| visitor.form.fits(&word)) {
            return Err(Error::Forbidden(
                "this form was not shown to this browser, or before it logged in; open the page anew",
            )
            .into());
        }
        Ok(Posted { visitor, form: signed.form })
    }
}

/// A browser says where a form came from; one of another site is none of ours.
fn refuse_other_sites(headers: &HeaderMap) -> Result<()> {
    let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    match site {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(Error::Forbidden("this form was sent from another site")),
    }
}

/// A place on this service to go on to: a path, never another host; else the overview.
pub fn next_place(next: Option<&str>) -> &str {
    let is_ours = |next: &&str| {
        next.starts_with('/')
            && !next.starts_with("//")
            && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    next.filter(is_ours).unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use super::next_place;

    #[test]
    fn nobody_is_led_to_another_host_after_logging_in() {
        assert_eq!(next_place(Some("/incidents/3?state=open")), "/incidents/3?state=open");
        for away in ["//example.org", "https://example.org", "/\\example.org", "/a\nb", "", "x"] {
            assert_eq!(next_place(Some(away)), "/", "{away:?}");
        }
        assert_eq!(next_place(None), "/");
    }
}
