//! Samples of accounts, of the description of the API, and of what is refused.

use scalewatch::pages::account::{AccountView, SessionRow};
use scalewatch::pages::api::{
    ApiView, CodeRow, Content, Field, Group, Operation, Parameter, Schema, Type,
};
use scalewatch::pages::audit::{AuditView, DeedRow};
use scalewatch::pages::failure::FailureView;
use scalewatch::pages::login::{LoginView, WelcomeView};
use scalewatch::pages::people::{PeopleView, PersonRow};
use scalewatch::pages::provider::{GoingView, ProviderPart};
use scalewatch::pages::tokens::{TokenForm, TokenRow};

use super::sample::Sample;

impl Sample<'_> {
    pub(super) fn login(self) -> LoginView {
        LoginView {
            layout: self.layout(),
            form_word: "abc".into(),
            next: "/".into(),
            name: self.text(),
            refusal: (self.0 > 0).then(|| self.text()),
            passwords: self.0 != 1,
            provider: (self.0 > 0).then(|| (self.text(), "/login/provider?next=%2F".into())),
        }
    }

    pub(super) fn going(self) -> GoingView {
        GoingView {
            layout: self.layout(),
            name: self.text(),
            href: "https://id.example.org/authorize?a=b&c=d".into(),
        }
    }

    pub(super) fn welcome(self) -> WelcomeView {
        WelcomeView {
            layout: self.layout(),
            form_word: "abc".into(),
            code: self.text(),
            name: self.text(),
            shortest: 10,
        }
    }

    pub(super) fn account(self) -> AccountView {
        let session = |index| SessionRow {
            id: index as i64,
            browser: self.text(),
            address: "192.0.2.1".into(),
            created: self.when(),
            seen: self.when(),
            is_this: index == 0,
        };
        let token = |index| TokenRow {
            id: index as i64,
            name: self.text(),
            scope: self.text(),
            state: self.text(),
            used: (index > 0).then(|| self.when()),
            is_over: index == 1,
        };
        AccountView {
            layout: self.layout(),
            form_word: "abc".into(),
            name: self.text(),
            is_owner: self.0 == 0,
            is_admin: self.0 == 1,
            gives_roles: self.0 > 1,
            roles: self.pairs(),
            has_password: self.0 > 1,
            shortest: 10,
            provider: (self.0 > 0).then(|| ProviderPart {
                name: self.text(),
                connected: (self.0 > 1).then(|| (self.text(), Some(self.when()))),
                can_leave: true,
            }),
            sessions: self.many(session),
            secret: (self.0 > 1).then(|| (self.text(), self.text())),
            tokens: self.many(token),
            token_form: TokenForm {
                scopes: self.many(|_| "read"),
                projects: self.many(|_| self.text()),
                machines: self.pairs(),
            },
        }
    }

    pub(super) fn people(self) -> PeopleView {
        let person = |index| PersonRow {
            name: self.text(),
            rights: self.text(),
            state: "can log in",
            last_login: (index > 0).then(|| self.when()),
            is_admin: index == 0,
            is_disabled: index == 1,
            is_self: index == 2,
        };
        PeopleView {
            layout: self.layout(),
            form_word: "abc".into(),
            is_site_admin: self.0 > 1,
            link: (self.0 > 0).then(|| (self.text(), self.text())),
            people: self.many(person),
            projects: self.many(|index| (self.text(), index == 0)),
            roles: self.many(|_| "viewer"),
        }
    }

    pub(super) fn audit(self) -> AuditView {
        let row = |_| DeedRow {
            at: self.when(),
            who: self.text(),
            origin: self.text(),
            what: self.text(),
            about: self.text(),
            change: self.text(),
        };
        AuditView {
            layout: self.layout(),
            rows: self.many(row),
            older: (self.0 > 1).then(|| "/admin/audit?before=3".into()),
        }
    }

    pub(super) fn api(self) -> ApiView {
        let kind = || Type {
            before: self.text(),
            schema: (self.0 > 0).then(|| self.text()),
            after: self.text(),
        };
        let parameter = |_| Parameter {
            name: self.text(),
            place: self.text(),
            kind: kind(),
            required: self.0 == 1,
            words: self.text(),
        };
        let content = |_| Content {
            name: self.text(),
            words: self.text(),
            types: self.many(|_| (self.text(), kind())),
        };
        let operation = |id: String| Operation {
            id,
            method: self.text(),
            path: self.text(),
            summary: self.text(),
            words: self.text(),
            scope: (self.0 > 1).then(|| self.text()),
            parameters: self.many(parameter),
            contents: self.many(content),
            refusals: self.text(),
        };
        let group = |i| Group {
            name: self.text(),
            words: self.text(),
            operations: self.many(|j| operation(format!("operation-{i}-{j}"))),
        };
        let code = |i| CodeRow {
            code: format!("code-{i}"),
            statuses: self.text(),
            title: self.text(),
            meaning: self.text(),
        };
        let field = |_| Field {
            name: self.text(),
            kind: kind(),
            required: self.0 == 1,
            words: self.text(),
        };
        let schema = |i| Schema {
            name: format!("{}{i}", self.1),
            words: self.text(),
            kind: (self.0 == 1).then(kind),
            fields: self.many(field),
        };
        ApiView {
            layout: self.layout(),
            words: self.many(|_| self.text()),
            groups: self.many(group),
            codes: self.many(code),
            schemas: self.many(schema),
        }
    }

    pub(super) fn failure(self) -> FailureView {
        FailureView {
            layout: self.layout(),
            heading: self.text(),
            detail: self.text(),
            advice: self.text(),
            number: (self.0 > 0).then(|| "0123abcd".into()),
        }
    }
}
