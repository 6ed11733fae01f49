//! What a reader sees when a page cannot be shown: what happened, and a way back.

use askama::Template;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};

use super::view::{Layout, Section};
use crate::api;
use crate::error::Error;

/// An error on its way to a page.
#[derive(Debug)]
pub struct Failure(Error);

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.into())
    }
}

/// The error page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "pages/failure.html")]
pub struct FailureView {
    /// Frame.
    pub layout: Layout,
    /// What happened, short.
    pub heading: String,
    /// What happened.
    pub detail: String,
    /// What to do.
    pub advice: String,
    /// Number under which the log holds the cause.
    pub number: Option<String>,
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = api::status(&self.0);
        let retry_after = api::retry_after(&self.0);
        let view = FailureView::new(self.0);
        let body = view.render().unwrap_or_else(|_| "The page could not be shown.".into());
        let mut answer = (status, Html(body)).into_response();
        if let Some(seconds) = retry_after {
            answer.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        answer
    }
}

impl FailureView {
    /// The page for an error; what is ours is logged under the number shown.
    pub fn new(error: Error) -> FailureView {
        let view = |heading: &str, detail: String, advice: &str, number| FailureView {
            layout: Layout::new(heading, Section::None),
            heading: heading.into(),
            detail,
            advice: advice.into(),
            number,
        };
        match error {
            Error::NotFound(what) => view(
                "Not found",
                format!("There is no such {what} here."),
                "The address may be mistyped, it was removed, or it is shown to those alone who have a \
                 role in its project.",
                None,
            ),
            Error::Internal(cause) => view(
                "The page could not be shown",
                "Something failed here. What was stored is kept, nothing was changed.".into(),
                "Try again in a moment.",
                Some(api::log(&cause)),
            ),
            error @ (Error::Busy { .. } | Error::Unavailable { .. }) => view(
                "Not now",
                format!("{error}."),
                "What was stored is kept. Try again in a moment.",
                None,
            ),
            error @ (Error::Unauthorised(_) | Error::Forbidden(_)) => view(
                "Not allowed",
                format!("{error}."),
                "Nothing was changed. Log in as somebody who may do this, or ask an admin of the \
                 project for the role.",
                None,
            ),
            Error::TooMany { detail, retry_after_s } => view(
                "Too many tries",
                format!("{detail}."),
                &format!("Try again in {}.", wait_words(retry_after_s)),
                None,
            ),
            error @ (Error::Conflict { .. } | Error::Invalid { .. }) => view(
                "Not done",
                format!("{error}."),
                "Nothing was changed. Go back and look at it as it stands now.",
                None,
            ),
            other => view(
                "This address asks for something that cannot be shown",
                format!("{other}."),
                "Nothing was changed.",
                None,
            ),
        }
    }
}

/// `40 s`, `15 min`.
fn wait_words(seconds: u64) -> String {
    if seconds <= 90 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) }
}
