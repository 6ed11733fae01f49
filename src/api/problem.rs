//! Problems (RFC 9457) as the document of the API describes them: every code there is, and the
//! answers an operation may refuse with.

use std::collections::BTreeMap;

use utoipa::IntoResponses;
use utoipa::openapi::{Content, Ref, RefOr, Response};

/// A code that programs may rely on: it keeps its name and its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// As it stands in the answer.
    pub code: &'static str,
    /// The HTTP statuses it comes with.
    pub statuses: &'static [u16],
    /// What happened, short.
    pub title: &'static str,
    /// What it means and what to do.
    pub meaning: &'static str,
}

const fn code(
    code: &'static str,
    statuses: &'static [u16],
    title: &'static str,
    meaning: &'static str,
) -> Code {
    Code { code, statuses, title, meaning }
}

/// Every code, by status.
pub const CODES: &[Code] = &[
    code(
        "invalid_parameter",
        &[400],
        "A parameter cannot be used",
        "The query parameter in `field` is unknown, missing, given twice or out of its range.",
    ),
    code(
        "malformed_path",
        &[400],
        "The path is not text",
        "The path's percent-encoding does not spell UTF-8.",
    ),
    code(
        "malformed_json",
        &[400],
        "The body is not JSON",
        "`detail` says at which line and column. NaN and Infinity are not JSON.",
    ),
    code(
        "malformed_gzip",
        &[400],
        "The body is not gzip",
        "Content-Encoding says gzip and the body is something else, or breaks off.",
    ),
    code(
        "malformed_zstd",
        &[400],
        "The body is not zstd",
        "Content-Encoding says zstd and the body is something else, breaks off, or asks for too much memory.",
    ),
    code(
        "too_many_lines",
        &[400],
        "The body has too many lines",
        "Lines up to the most were taken. Send the others in another request.",
    ),
    code(
        "body_incomplete",
        &[400],
        "The body broke off",
        "The connection ended before the body did. Send it again.",
    ),
    code(
        "unauthorised",
        &[401],
        "A token is needed",
        "No token was sent, or one that is unknown, expired or revoked.",
    ),
    code(
        "forbidden",
        &[403],
        "The token may not do this",
        "Its scope is another one, it belongs to another machine or is limited to other projects, or its \
         person may not.",
    ),
    code(
        "not_found",
        &[404],
        "There is no such thing",
        "What the path or a parameter names is not here; `detail` says which.",
    ),
    code(
        "method_not_allowed",
        &[405],
        "This path does not answer this method",
        "The header Allow has those it answers.",
    ),
    code(
        "run_reused",
        &[409],
        "The run's UUID is taken",
        "Another report was stored under this UUID. Nothing was changed; a new run needs a new UUID.",
    ),
    code(
        "machine_merged",
        &[409],
        "They are one machine already",
        "Both ids lead to the same machine; one was merged into the other.",
    ),
    code(
        "machine_hardware_differs",
        &[409],
        "The machines' hardware differs",
        "`detail` says in what. Say `force` where it is the same all the same, for instance after an upgrade.",
    ),
    code(
        "branch_known",
        &[409],
        "The name of a branch is taken",
        "Another branch of the project has this name, or had it and still answers to it.",
    ),
    code(
        "branch_in_use",
        &[409],
        "A job measures the branch",
        "`detail` names it. Cancel it, or wait until it is over.",
    ),
    code(
        "machines_busy",
        &[409],
        "Both machines have a job in hand",
        "A machine has one job at most. Cancel one, or wait until it is over.",
    ),
    code(
        "project_subject_changed",
        &[409],
        "The project is known with another subject",
        "A project tests one subject (kernel, program or model) for ever.",
    ),
    code(
        "revision_moved",
        &[409],
        "The revision is known at another place",
        "The commit was reported before with another position or committer time on this branch, or has left it. \
         After a history was rewritten tell its order: POST /api/v1/projects/{name}/branches/{branch}/order.",
    ),
    code(
        "metric_redefined",
        &[409],
        "The metric is known with another unit or direction",
        "A new meaning needs a new name or a new version of the workload.",
    ),
    code(
        "machine_identity_changed",
        &[409, 422],
        "The machine is known with another identity",
        "Other hardware is another machine and registers under an id of its own.",
    ),
    code(
        "incident_changed",
        &[409],
        "The incident changed meanwhile",
        "It no longer stands where it was seen. Look at it again, then decide.",
    ),
    code(
        "transition_not_allowed",
        &[409],
        "No way leads to this state",
        "`detail` lists the states that can be reached from where the incident stands.",
    ),
    code(
        "key_reused",
        &[409],
        "The key is taken",
        "Another request came under this Idempotency-Key. A new request needs a new key.",
    ),
    code(
        "job_stands_otherwise",
        &[409],
        "The job does not stand where this could be done",
        "It is over already, or not over yet; `detail` says where it stands.",
    ),
    code(
        "lease_lost",
        &[409],
        "The job is no longer this agent's",
        "Its lease ran out, or it was cancelled. Its runs are kept; take another job.",
    ),
    code(
        "body_too_large",
        &[413],
        "The body is too large",
        "`limit` has the most bytes there may be, before and after decompression.",
    ),
    code(
        "unsupported_media_type",
        &[415],
        "The body is of a type that is not read",
        "Bodies are application/json (a batch: application/x-ndjson), plain or with Content-Encoding: gzip or zstd.",
    ),
    code(
        "invalid_field",
        &[422],
        "A field breaks a limit",
        "`field` has its path, `detail` the limit. Nothing of the body was kept.",
    ),
    code(
        "unknown_machine",
        &[422],
        "The machine is not registered",
        "Register it first: `scalewatch-runner register`.",
    ),
    code(
        "machine_retired",
        &[422],
        "The machine was retired",
        "Its reports are refused until it registers again.",
    ),
    code(
        "busy",
        &[429],
        "There is no room for another upload",
        "As much is being stored as the service can take. Nothing was stored; send it again after the seconds in Retry-After.",
    ),
    code(
        "unknown_commit",
        &[422],
        "The commit is not known here",
        "A range is of revisions that were measured before; `field` names its end.",
    ),
    code(
        "unknown_run",
        &[422],
        "The run was not uploaded",
        "A job is done when the service holds its runs: upload them first.",
    ),
    code(
        "too_many_requests",
        &[429],
        "Too many requests",
        "More than may be asked for in a while; the header Retry-After has the seconds to wait.",
    ),
    code(
        "internal",
        &[500],
        "Something failed in the service",
        "`detail` has a number under which the service's log holds the cause. Send it again later.",
    ),
    code(
        "database_unavailable",
        &[503],
        "The database does not answer",
        "It is away or coming up. Nothing was changed; try again after the seconds in Retry-After.",
    ),
];

/// What is known of a code.
pub fn find(code: &str) -> Option<&'static Code> {
    CODES.iter().find(|one| one.code == code)
}

/// Groups of refusals for `responses(…)` of an operation.
macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident: $($status:literal)*;)*) => {$(
        $(#[$doc])*
        pub enum $name {}

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [$($status),*].into_iter().map(refusal).collect()
            }
        }
    )*};
}

refusals! {
    /// Of every operation that reads, and that the client holds the answer already.
    Read: 304 400 401 403 404 429 500 503;
    /// Of every operation that takes a token and a body.
    Write: 400 401 403 413 415 422 429 500 503;
    /// Nothing of that name.
    NotFound: 404;
    /// Beyond what can be stored at once.
    Room: 429;
    /// Of every operation that takes a token and no body.
    Act: 401 403 404 409 500 503;
    /// Contradicts what is stored.
    Conflict: 409;
}

/// The answer with this status.
fn refusal(status: u16) -> (String, RefOr<Response>) {
    if status == 304 {
        let words = "The client holds the answer already, as `If-None-Match` says.";
        return (status.to_string(), RefOr::T(Response::new(words)));
    }
    let codes = CODES.iter().filter(|one| one.statuses.contains(&status));
    let codes = codes.map(|one| format!("`{}`", one.code)).collect::<Vec<_>>().join(", ");
    let mut response = Response::new(format!("A problem; `code` is one of {codes}."));
    let content = Content::new(Some(Ref::from_schema_name("Problem")));
    response.content.insert(wire::Problem::MEDIA_TYPE.to_owned(), content);
    (status.to_string(), RefOr::T(response))
}
