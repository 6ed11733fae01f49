//! People: logging in, sessions, forms, rights, and what is kept of what they do.

mod audit;
mod commands;
mod forms;
mod login;
mod oidc;
mod owner;
mod people;
mod private;
mod proxy;
mod sessions;
mod tokens;
