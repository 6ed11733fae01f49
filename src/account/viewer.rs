//! Who reads or does something, and what they may.

use crate::error::{Error, Result};
use crate::model::person::Roles;
use crate::model::{Person, ProjectId, Role, SessionId, Token, Visible};

/// Who it is.
#[derive(Debug, Clone)]
pub enum Who {
    /// Somebody who did not say.
    Nobody,
    /// Whoever sits at the machine that a service of one person runs on.
    Owner,
    /// Whoever may run commands on the service's machine.
    CommandLine,
    /// The provider that people sign in by, of this name: it adds people and gives roles.
    Provider(String),
    /// A person, in one of their sessions.
    Person(Person, SessionId),
    /// A program, by its token.
    Token(Token),
}

/// Somebody with their rights.
#[derive(Debug, Clone)]
pub struct Viewer {
    who: Who,
    roles: Roles,
    visible: Visible,
}

impl Viewer {
    /// Somebody without roles, who sees nothing or, with every right, everything.
    pub fn new(who: Who) -> Viewer {
        let all = matches!(who, Who::Owner | Who::CommandLine);
        let visible = if all { Visible::ALL } else { Visible::only([]) };
        Viewer { who, roles: Roles::new(), visible }
    }

    /// Somebody with their roles and what they may read.
    pub fn with(who: Who, roles: Roles, visible: Visible) -> Viewer {
        Viewer { who, roles, visible }
    }

    /// The projects they may read.
    pub fn visible(&self) -> &Visible {
        &self.visible
    }

    /// Tells who may not read a project that there is no such thing in it.
    ///
    /// # Errors
    /// `NotFound` of `what`: who may not read it learns nothing, not even that it is there.
    pub fn sees(&self, project: ProjectId, what: &'static str) -> Result<()> {
        if self.visible.shows(project) { Ok(()) } else { Err(Error::NotFound(what)) }
    }

    /// Who it is.
    pub fn who(&self) -> &Who {
        &self.who
    }

    /// As told in histories.
    pub fn name(&self) -> &str {
        match &self.who {
            Who::Nobody => "nobody",
            Who::Owner => "local owner",
            Who::CommandLine => "command line",
            Who::Provider(name) => name,
            Who::Person(person, _) => &person.name,
            Who::Token(token) => &token.name,
        }
    }

    /// The person, where it is one.
    pub fn as_person(&self) -> Option<&Person> {
        match &self.who {
            Who::Person(person, _) => Some(person),
            _ => None,
        }
    }

    /// Whether every right in every project and over people is theirs.
    pub fn is_site_admin(&self) -> bool {
        match &self.who {
            Who::Owner | Who::CommandLine => true,
            Who::Person(person, _) => person.is_admin,
            Who::Nobody | Who::Provider(_) | Who::Token(_) => false,
        }
    }

    /// Whether a role in a project, or a larger one, is theirs.
    pub fn may(&self, role: Role, project: ProjectId) -> bool {
        self.is_site_admin() || self.roles.get(&project).is_some_and(|held| *held >= role)
    }

    /// Whether a role, or a larger one, is theirs in any project.
    pub fn may_somewhere(&self, role: Role) -> bool {
        self.is_site_admin() || self.roles.values().any(|held| *held >= role)
    }

    /// Refuses who has no such role.
    ///
    /// # Errors
    /// `Unauthorised` where nobody is logged in, else `Forbidden`.
    pub fn require(&self, role: Role, project: ProjectId) -> Result<()> {
        if self.may(role, project) {
            return Ok(());
        }
        self.refuse(match role {
            Role::Viewer => "this takes the role viewer in the project",
            Role::Triager => "this takes the role triager in the project",
            Role::Maintainer => "this takes the role maintainer in the project",
            Role::Admin => "this takes the role admin in the project",
        })
    }

    /// Refuses who is no site admin.
    ///
    /// # Errors
    /// As [`Viewer::require`].
    pub fn require_site_admin(&self) -> Result<()> {
        if self.is_site_admin() { Ok(()) } else { self.refuse("this takes a site admin") }
    }

    fn refuse<T>(&self, what: &'static str) -> Result<T> {
        match self.who {
            Who::Nobody => Err(Error::Unauthorised("this takes somebody who is logged in")),
            _ => Err(Error::Forbidden(what)),
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::model::PersonId;

    fn person(is_admin: bool, roles: &[(i64, Role)]) -> Viewer {
        let person = Person {
            id: PersonId(1),
            name: "ada".into(),
            has_password: true,
            is_admin,
            created_at: datetime!(2026-01-01 0:00 UTC),
            last_login_at: None,
            disabled_at: None,
        };
        let roles = roles.iter().map(|(id, role)| (ProjectId(*id), *role)).collect();
        Viewer::with(Who::Person(person, SessionId(1)), roles, Visible::ALL)
    }

    #[test]
    fn a_role_includes_the_smaller_ones_in_its_project_alone() {
        let ada = person(false, &[(1, Role::Triager)]);
        for (role, project, may) in [
            (Role::Viewer, 1, true),
            (Role::Triager, 1, true),
            (Role::Maintainer, 1, false),
            (Role::Viewer, 2, false),
        ] {
            assert_eq!(ada.may(role, ProjectId(project)), may, "{role:?} in {project}");
        }
        assert!(matches!(ada.require(Role::Admin, ProjectId(1)), Err(Error::Forbidden(_))));
        assert!(matches!(ada.require_site_admin(), Err(Error::Forbidden(_))));
    }

    #[test]
    fn site_admins_and_the_local_owner_may_everything_and_nobody_nothing() {
        for all in [person(true, &[]), Viewer::new(Who::Owner), Viewer::new(Who::CommandLine)] {
            assert!(all.may(Role::Admin, ProjectId(7)) && all.is_site_admin());
        }
        let nobody = Viewer::new(Who::Nobody);
        let refused = nobody.require(Role::Viewer, ProjectId(7));
        assert!(matches!(refused, Err(Error::Unauthorised(_))));
    }
}
