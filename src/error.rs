//! What can go wrong, by meaning. `api` and `pages` each render it their way; `Internal` is logged
//! once at the edge and answers a number to quote, never its text.

/// Result of everything a request can reach.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Every way a request can fail.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such thing.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// No token, or one that is unknown, expired or revoked.
    #[error("{0}")]
    Unauthorised(&'static str),
    /// A good token without the right to do this.
    #[error("{0}")]
    Forbidden(&'static str),
    /// A field breaks a limit; `code` is stable.
    #[error("{field}: {problem}")]
    Invalid {
        /// Stable snake-case code, e.g. `invalid_field`, `unknown_machine`.
        code: &'static str,
        /// Path of the field.
        field: String,
        /// What is wrong, with the limit.
        problem: String,
    },
    /// The body is not what it says it is.
    #[error("{detail}")]
    Malformed {
        /// Stable snake-case code, e.g. `malformed_json`.
        code: &'static str,
        /// What is wrong and where.
        detail: String,
    },
    /// A query parameter that is unknown or cannot be read.
    #[error("{parameter}: {problem}")]
    Query {
        /// Name of the parameter.
        parameter: String,
        /// What is wrong, with what is allowed.
        problem: String,
    },
    /// The body's type or encoding is not one we read.
    #[error("{0}")]
    UnsupportedMedia(String),
    /// The path exists, the method does not.
    #[error("this path does not answer {0}")]
    MethodNotAllowed(String),
    /// Larger than the limit.
    #[error("the body is larger than {limit} bytes")]
    TooLarge {
        /// The limit, bytes after decompression.
        limit: usize,
    },
    /// As much is being stored as the service can take; the same again a little later will do.
    #[error("the service is busy; nothing was stored, send it again in {after_s} s")]
    Busy {
        /// Seconds to wait.
        after_s: u32,
    },
    /// The database cannot be reached now.
    #[error("the database does not answer now; nothing was changed, try again in {after_s} s")]
    Unavailable {
        /// Seconds to wait.
        after_s: u32,
    },
    /// Contradicts what is stored.
    #[error("{detail}")]
    Conflict {
        /// Stable snake-case code, e.g. `run_reused`.
        code: &'static str,
        /// Path of the field that contradicts.
        field: String,
        /// What it contradicts.
        detail: String,
    },
    /// More than may be asked for in a while.
    #[error("{detail}")]
    TooMany {
        /// What there was too much of.
        detail: &'static str,
        /// Seconds after which it may be tried again.
        retry_after_s: u64,
    },
    /// Ours, not the client's.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

impl Error {
    /// A field that breaks a limit, under the code `invalid_field`.
    pub fn invalid(field: impl Into<String>, problem: impl Into<String>) -> Error {
        Error::Invalid { code: "invalid_field", field: field.into(), problem: problem.into() }
    }

    /// A query parameter that cannot be read.
    pub fn query(parameter: impl Into<String>, problem: impl Into<String>) -> Error {
        Error::Query { parameter: parameter.into(), problem: problem.into() }
    }

    /// Whether the database refused what refers to a row that is gone.
    pub fn is_lost_reference(&self) -> bool {
        let Error::Internal(error) = self else { return false };
        error
            .downcast_ref::<sqlx::Error>()
            .and_then(sqlx::Error::as_database_error)
            .is_some_and(|refusal| refusal.is_foreign_key_violation())
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Error {
        if !is_outage(&error) {
            return Error::Internal(error.into());
        }
        tracing::warn!(%error, "the database does not answer");
        Error::Unavailable { after_s: 2 }
    }
}

/// Whether the database is away, going away, coming up or out of connections.
fn is_outage(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => true,
        sqlx::Error::Database(database) => {
            let code = database.code().unwrap_or_default();
            matches!(&*code, "57P01" | "57P02" | "57P03" | "53300" | "08006")
        }
        _ => false,
    }
}

impl From<wire::Invalid> for Error {
    fn from(invalid: wire::Invalid) -> Error {
        Error::Invalid { code: "invalid_field", field: invalid.field, problem: invalid.problem }
    }
}
