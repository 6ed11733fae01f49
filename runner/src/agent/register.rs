//! Makes this machine known to a service and keeps the upload token it gives.

use super::{Answer, Client, Later, Refusal, Registration, StateDir, Token};

/// Why this machine is not registered.
#[derive(Debug)]
pub enum NotRegistered {
    /// The service said no.
    Refused(Refusal),
    /// No answer, or not now.
    Unreachable(String),
    /// The answer could not be used or kept.
    Failed(anyhow::Error),
}

/// Registers `machine` and stores what the service answered. Doing it twice is harmless: the
/// service knows the machine by its identity and gives a new token.
///
/// # Errors
/// See [`NotRegistered`]; an older registration is kept then.
pub fn register(
    state: &StateDir,
    client: &Client,
    machine: &wire::Machine,
) -> Result<Registration, NotRegistered> {
    let failed = |error: anyhow::Error| NotRegistered::Failed(error);
    let body = serde_json::to_vec(machine).map_err(|error| failed(error.into()))?;
    let registered = match client.post::<wire::Registered>("/api/v1/machines", &body) {
        Answer::Accepted(registered) => registered,
        Answer::Refused(refusal) | Answer::Unauthorised(refusal) => {
            return Err(NotRegistered::Refused(refusal));
        }
        Answer::Later(Later { words, .. }) | Answer::Unreachable(words) => {
            return Err(NotRegistered::Unreachable(words));
        }
    };
    let registration = Registration {
        server: client.server().clone(),
        machine: registered.machine,
        token: Token::new(&registered.token).map_err(failed)?,
    };
    state.store(&registration).map_err(failed)?;
    Ok(registration)
}
