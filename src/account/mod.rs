//! Who somebody is and what they may do: passwords, sessions, roles, how often one may try, and
//! what was done by whom. No HTTP here: [`crate::api`] and [`crate::pages`] read headers and
//! cookies, the command line its arguments, and all do it by these functions. [`oidc`] alone asks
//! somebody else, the provider of identities.

pub mod audit;
pub mod form;
pub mod local;
pub mod login;
pub mod oidc;
pub mod password;
pub mod people;
pub mod rate;
pub mod session;
pub mod tokens;
pub mod viewer;

pub use audit::By;
pub use viewer::{Viewer, Who};

/// Where a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Its address; `unknown` where there is none.
    pub address: String,
    /// What the browser says it is, shortened.
    pub user_agent: String,
}
