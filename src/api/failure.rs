//! [`Error`] as an answer of the API. What is ours is logged here, once, under a number that the
//! client can quote; its text stays here.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use wire::Problem;

use super::problem;
use crate::error::Error;

/// An error on its way out.
#[derive(Debug)]
pub struct Failure(pub Error);

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.into())
    }
}

impl Failure {
    /// What is said; also where it is a part of an answer.
    pub fn problem(self) -> Problem {
        problem_of(status(&self.0), self.0)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = status(&self.0);
        let retry_after = retry_after(&self.0);
        let mut answer = (status, Json(self.problem())).into_response();
        let media_type = HeaderValue::from_static(Problem::MEDIA_TYPE);
        answer.headers_mut().insert(header::CONTENT_TYPE, media_type);
        if status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer realm=\"scalewatch\"");
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
        }
        if let Some(seconds) = retry_after {
            answer.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        answer
    }
}

/// Seconds after which it may be tried again.
pub fn retry_after(error: &Error) -> Option<u64> {
    match error {
        Error::TooMany { retry_after_s, .. } => Some(*retry_after_s),
        Error::Busy { after_s } | Error::Unavailable { after_s } => Some(u64::from(*after_s)),
        _ => None,
    }
}

/// The HTTP status of an error, for the API and for pages.
pub fn status(error: &Error) -> StatusCode {
    match error {
        Error::NotFound(_) => StatusCode::NOT_FOUND,
        Error::Unauthorised(_) => StatusCode::UNAUTHORIZED,
        Error::Forbidden(_) => StatusCode::FORBIDDEN,
        Error::Invalid { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        Error::Malformed { .. } | Error::Query { .. } => StatusCode::BAD_REQUEST,
        Error::UnsupportedMedia(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Error::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
        Error::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        Error::Conflict { .. } => StatusCode::CONFLICT,
        Error::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
        Error::Busy { .. } => StatusCode::TOO_MANY_REQUESTS,
        Error::Unavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
        Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn problem_of(status: StatusCode, error: Error) -> Problem {
    let limit = match &error {
        Error::TooLarge { limit } => Some(*limit as u64),
        _ => None,
    };
    let sentence = error.to_string();
    let (code, detail, field) = match error {
        Error::NotFound(_) => ("not_found", sentence, None),
        Error::Unauthorised(_) => ("unauthorised", sentence, None),
        Error::Forbidden(_) => ("forbidden", sentence, None),
        Error::Invalid { code, field, problem } => (code, problem, Some(field)),
        Error::Malformed { code, .. } => (code, sentence, None),
        Error::Query { parameter, problem } => ("invalid_parameter", problem, Some(parameter)),
        Error::UnsupportedMedia(_) => ("unsupported_media_type", sentence, None),
        Error::MethodNotAllowed(_) => ("method_not_allowed", sentence, None),
        Error::TooLarge { .. } => ("body_too_large", sentence, None),
        Error::Busy { .. } => ("busy", sentence, None),
        Error::Unavailable { .. } => ("database_unavailable", sentence, None),
        Error::Conflict { code, field, .. } => (code, sentence, Some(field)),
        Error::TooMany { .. } => ("too_many_requests", sentence, None),
        Error::Internal(cause) => {
            ("internal", format!("something failed here; quote {} to us", log(&cause)), None)
        }
    };
    let reason = status.canonical_reason().unwrap_or_default();
    Problem {
        kind: format!("/api#{code}"),
        title: problem::find(code).map_or(reason, |known| known.title).to_owned(),
        status: status.as_u16(),
        code: code.to_owned(),
        detail,
        field,
        limit,
    }
}

/// Logs what failed here with its chain of causes, and returns the number to quote.
pub fn log(cause: &anyhow::Error) -> String {
    let number = format!("{:08x}", rand::random::<u32>());
    tracing::error!(number, cause = format!("{cause:#}"), "a request failed here");
    number
}
