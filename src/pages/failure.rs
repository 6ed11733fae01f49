//! What a reader sees when a page cannot be shown: what happened, and a way back.

use askama::Template;
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
        let view = FailureView::new(self.0);
        let body = view.render().unwrap_or_else(|_| "The page could not be shown.".into());
        (status, Html(body)).into_response()
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
                "The address may be mistyped, or it was removed.",
                None,
            ),
            Error::Internal(cause) => view(
                "The page could not be shown",
                "Something failed here. What was stored is kept, nothing was changed.".into(),
                "Try again in a moment.",
                Some(api::log(&cause)),
            ),
            error @ (Error::Unauthorised(_) | Error::Forbidden(_)) => view(
                "Not allowed",
                format!("{error}."),
                "Nothing was changed. Go back and give a token that may do this; \
                 `scalewatch admin token create` makes one.",
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
