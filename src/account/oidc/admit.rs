//! From an identity to a person. Somebody is known again by issuer and subject alone; an e-mail
//! address only ever decides about the first time.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Gives, Identity, Refusal, Settings, Stopped};
use crate::account::{By, people};
use crate::db::{self, Connection};
use crate::error::{Error, Result};
use crate::model::{Person, PersonName, Role};

/// The address of somebody whom the settings let in.
///
/// # Errors
/// `Unverified`, `NotAllowed`; `NotBelieved` for a subject that cannot be one.
pub(super) fn checked<'a>(settings: &Settings, of: &'a Identity) -> Result<&'a str, Refusal> {
    // The longest that the standards have; what is longer is no name.
    let is_text = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && !text.contains(char::is_control)
    };
    if !is_text(&of.subject, 255) {
        return Err(Refusal::NotBelieved);
    }
    let email = of.email.as_deref().filter(|email| of.is_verified && is_text(email, 254));
    let email = email.ok_or(Refusal::Unverified)?;
    let says = |(name, value): &(String, String)| {
        of.claims.get(name).is_some_and(|claim| texts(claim).iter().any(|text| text == value))
    };
    match settings.allows(email) && settings.claims.iter().all(says) {
        true => Ok(email),
        false => Err(Refusal::NotAllowed),
    }
}

/// A claim as texts: itself, or each of its list.
fn texts(claim: &Value) -> Vec<String> {
    match claim {
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::String(text) => vec![text.clone()],
        other => vec![other.to_string()],
    }
}

/// The person of an identity: known, or added or found by the verified address where that is set.
/// Roles are then as the groups give them.
///
/// # Errors
/// `Disabled`, `Unknown`, `Taken`.
pub(super) async fn person(
    tx: &mut Connection,
    by: &By<'_>,
    settings: &Settings,
    identity: &Identity,
    email: &str,
) -> Result<Person, Stopped> {
    let known = db::identity::find_person(&mut *tx, &settings.issuer, &identity.subject).await?;
    let person = match known {
        Some(person) => person,
        None => first_time(tx, by, settings, identity, email).await?,
    };
    if person.disabled_at.is_some() {
        return Err(Refusal::Disabled.into());
    }
    db::identity::mark_used(tx, &settings.issuer, &identity.subject, email, by.now).await?;
    let person = give_roles(tx, by, settings, identity, person).await?;
    Ok(person)
}

async fn first_time(
    tx: &mut Connection,
    by: &By<'_>,
    settings: &Settings,
    identity: &Identity,
    email: &str,
) -> Result<Person, Stopped> {
    let name = PersonName::parse(email).ok_or(Refusal::NotAllowed)?;
    let person = match db::person::find_by_name(&mut *tx, &name).await? {
        // Whoever holds the address at the provider becomes the person here: only where that is
        // set, and never one who may everything.
        Some(person) if settings.links_by_email && !person.is_admin => person,
        Some(_) => return Err(Refusal::Taken.into()),
        None if settings.adds_people => people::add(tx, by, name.as_str(), false).await?,
        None => return Err(Refusal::Unknown.into()),
    };
    connect(tx, by, settings, &person, identity, email).await?;
    Ok(person)
}

/// Keeps that a person is known by an identity.
///
/// # Errors
/// `Elsewhere` where the identity is somebody's already, or the person has another one.
pub(super) async fn connect(
    tx: &mut Connection,
    by: &By<'_>,
    settings: &Settings,
    person: &Person,
    identity: &Identity,
    email: &str,
) -> Result<(), Stopped> {
    let new = db::identity::New {
        issuer: &settings.issuer,
        subject: &identity.subject,
        person: person.id,
        email,
        linked_at: by.now,
    };
    if !db::identity::insert(tx, &new).await? {
        return Err(Refusal::Elsewhere.into());
    }
    let became = json!({ "provider": settings.name, "email": email });
    by.did(tx, "identity_connected", &about(person), (None, Some(became))).await?;
    Ok(())
}

/// Takes away what a person is known by. The caller commits.
///
/// # Errors
/// `NotFound` where there is nothing.
pub async fn forget(tx: &mut Connection, by: &By<'_>, person: &Person) -> Result<()> {
    let gone = db::identity::delete_of(tx, person.id).await?;
    if gone.is_empty() {
        return Err(Error::NotFound("connected account"));
    }
    let was = json!({ "email": gone });
    by.did(tx, "identity_disconnected", &about(person), (Some(was), None)).await
}

/// Gives and takes what groups give, in the projects that the settings name alone.
async fn give_roles(
    tx: &mut Connection,
    by: &By<'_>,
    settings: &Settings,
    identity: &Identity,
    person: Person,
) -> Result<Person> {
    let claim = identity.claims.get(&settings.groups_claim);
    let groups: BTreeSet<String> = claim.map(texts).unwrap_or_default().into_iter().collect();
    let mut admin = None;
    let mut roles: BTreeMap<&str, Option<Role>> = BTreeMap::new();
    for mapped in &settings.roles {
        let is_member = groups.contains(&mapped.group);
        match &mapped.gives {
            Gives::SiteAdmin => admin = Some(admin.unwrap_or_default() || is_member),
            Gives::Role(project, role) => {
                let held = roles.entry(project).or_default();
                *held = (*held).max(is_member.then_some(*role));
            }
        }
    }
    for (name, role) in roles {
        // A project that has not reported yet has no roles to give.
        if let Some(project) = db::project::find_by_name(&mut *tx, name).await? {
            people::set_role(tx, by, &person, &project, role).await?;
        }
    }
    let Some(admin) = admin else { return Ok(person) };
    people::set_admin(tx, by, &person, admin).await?;
    Ok(Person { is_admin: admin, ..person })
}

fn about(person: &Person) -> String {
    format!("person {}", person.name)
}
