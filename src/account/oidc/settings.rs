//! What is set of the provider that people may sign in by.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use url::Url;

use crate::model::{Role, Secret};
use crate::outward::is_loopback;

/// The provider and what is believed of whom it tells. All of it is `SCALEWATCH_OIDC_…`.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `ISSUER`: its address, without which there is no signing in by a provider.
    pub issuer: String,
    /// `NAME`: what the button says; default the host of the issuer.
    pub name: String,
    /// `CLIENT_ID`: as which it knows us.
    pub client_id: String,
    /// `CLIENT_SECRET_FILE`, else `CLIENT_SECRET`; none for a public client.
    pub client_secret: Option<Secret>,
    /// `REDIRECT_URL`: where it sends people back to; default `/login/provider/back` here.
    pub redirect_url: Option<String>,
    /// `SCOPES`: asked for beside `openid`; default `email`.
    pub scopes: Vec<String>,
    /// `DOMAINS`: what the e-mail address must end in; `*` stands for every one.
    pub domains: Vec<String>,
    /// `CLAIMS`: what the token must say, `name=value` each.
    pub claims: Vec<(String, String)>,
    /// `NEW_PEOPLE`: whether who signs in for the first time is added.
    pub adds_people: bool,
    /// `LINK_BY_EMAIL`: whether who signs in for the first time is the person of that name.
    pub links_by_email: bool,
    /// `GROUPS_CLAIM`: the claim that lists groups; default `groups`.
    pub groups_claim: String,
    /// `ROLES`: what groups give, `group=project:role` or `group=admin` each. Where there are any,
    /// roles in these projects are the provider's to give and to take.
    pub roles: Vec<Mapped>,
}

/// What a group gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    /// As the provider calls it.
    pub group: String,
    /// What it gives.
    pub gives: Gives,
}

/// A right that a group gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gives {
    /// Every right in every project, and over people.
    SiteAdmin,
    /// A role in a project of this name.
    Role(String, Role),
}

const PREFIX: &str = "SCALEWATCH_OIDC_";

impl Settings {
    /// What is set; none where there is no issuer. `set` gives the value of a variable.
    ///
    /// # Errors
    /// A variable whose value cannot be read or makes no sense beside the others, by its name.
    pub fn from_lookup(set: &impl Fn(&str) -> Option<String>) -> Result<Option<Settings>> {
        let set = |name: &str| set(&format!("{PREFIX}{name}")).map(|value| value.trim().to_owned());
        let Some(issuer) = set("ISSUER") else { return Ok(None) };
        let host = checked_url("ISSUER", &issuer)?;
        let redirect_url = set("REDIRECT_URL");
        if let Some(url) = &redirect_url {
            checked_url("REDIRECT_URL", url)?;
        }
        let settings = Settings {
            name: set("NAME").unwrap_or(host),
            client_id: set("CLIENT_ID").with_context(|| {
                format!("{PREFIX}ISSUER is set and {PREFIX}CLIENT_ID is not: who are we to it?")
            })?,
            client_secret: client_secret(set("CLIENT_SECRET_FILE"), set("CLIENT_SECRET"))?,
            redirect_url,
            scopes: set("SCOPES").map_or_else(|| vec!["email".into()], |list| words(&list, ' ')),
            domains: words(&set("DOMAINS").unwrap_or_default().to_ascii_lowercase(), ','),
            claims: claims(&set("CLAIMS").unwrap_or_default())?,
            adds_people: one_of("NEW_PEOPLE", set("NEW_PEOPLE"), ["refuse", "add"])?,
            links_by_email: one_of("LINK_BY_EMAIL", set("LINK_BY_EMAIL"), ["never", "verified"])?,
            groups_claim: set("GROUPS_CLAIM").unwrap_or_else(|| "groups".into()),
            roles: roles(&set("ROLES").unwrap_or_default())?,
            issuer,
        };
        settings.refuse_everybody()?;
        Ok(Some(settings))
    }

    /// An open provider gives an account to everybody who asks for one.
    fn refuse_everybody(&self) -> Result<()> {
        let names_who = !self.domains.is_empty() || !self.claims.is_empty();
        ensure!(
            names_who || !self.adds_people,
            "{PREFIX}NEW_PEOPLE is `add`, so say who: {PREFIX}DOMAINS or {PREFIX}CLAIMS \
             ({PREFIX}DOMAINS=* adds everybody the provider knows)"
        );
        let names_domains = !self.domains.is_empty() && !self.domains.iter().any(|one| one == "*");
        ensure!(
            names_domains || !self.links_by_email,
            "{PREFIX}LINK_BY_EMAIL is `verified`, so say in {PREFIX}DOMAINS of which domains the \
             provider may speak; `*` is not enough"
        );
        Ok(())
    }

    /// Where the provider sends people back to.
    pub fn redirect_url(&self, public_url: &str) -> String {
        let ours = || format!("{public_url}/login/provider/back");
        self.redirect_url.clone().unwrap_or_else(ours)
    }

    /// Whether an e-mail address is of an allowed domain.
    pub fn allows(&self, email: &str) -> bool {
        let domain = email.rsplit_once('@').map(|(_, domain)| domain.to_ascii_lowercase());
        let fits = |one: &String| one == "*" || domain.as_ref() == Some(one);
        self.domains.is_empty() || self.domains.iter().any(fits)
    }
}

/// The host of an address that nobody on the way can read.
fn checked_url(name: &str, text: &str) -> Result<String> {
    let parsed = Url::parse(text).ok();
    let host = parsed.as_ref().and_then(Url::host);
    let (Some(url), Some(host)) = (&parsed, host) else {
        bail!("{PREFIX}{name} is `{text}`, not an address such as https://login.example.org");
    };
    let is_safe = match url.scheme() {
        "https" => true,
        "http" => is_loopback(&host),
        _ => false,
    };
    ensure!(is_safe, "{PREFIX}{name} is `{text}`: it must begin with https, or be on loopback");
    Ok(host.to_string())
}

fn client_secret(file: Option<String>, value: Option<String>) -> Result<Option<Secret>> {
    let text = match file.map(PathBuf::from) {
        None => value,
        Some(file) => {
            let read = std::fs::read_to_string(&file).with_context(|| {
                format!("cannot read {}, named by {PREFIX}CLIENT_SECRET_FILE", file.display())
            })?;
            Some(read.trim().to_owned())
        }
    };
    Ok(text.map(|text| Secret::from_client(&text)))
}

fn words(list: &str, between: char) -> Vec<String> {
    list.split(between).map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
}

fn claims(list: &str) -> Result<Vec<(String, String)>> {
    let pair = |one: String| match one.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => bail!("{PREFIX}CLAIMS holds `{one}`, not name=value"),
    };
    words(list, ',').into_iter().map(pair).collect()
}

fn roles(list: &str) -> Result<Vec<Mapped>> {
    let mapped = |one: String| -> Result<Mapped> {
        let wrong =
            || format!("{PREFIX}ROLES holds `{one}`, not group=project:role or group=admin");
        let (group, right) = one.rsplit_once('=').with_context(wrong)?;
        let gives = match right.rsplit_once(':') {
            None if right == "admin" => Gives::SiteAdmin,
            None => bail!("{}", wrong()),
            Some((project, role)) => {
                Gives::Role(project.to_owned(), Role::parse(role).with_context(wrong)?)
            }
        };
        ensure!(!group.is_empty(), "{}", wrong());
        Ok(Mapped { group: group.to_owned(), gives })
    };
    words(list, ',').into_iter().map(mapped).collect()
}

/// Whether it is the second of two words; the first where it is unset.
fn one_of(name: &str, value: Option<String>, [no, yes]: [&str; 2]) -> Result<bool> {
    match value.as_deref() {
        None => Ok(false),
        Some(word) if word == no => Ok(false),
        Some(word) if word == yes => Ok(true),
        Some(other) => bail!("{PREFIX}{name} is `{other}`, neither {no} nor {yes}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&str, &str)]) -> Result<Settings> {
        let both = [("ISSUER", "https://id.example.org"), ("CLIENT_ID", "scalewatch")];
        let all: Vec<(&str, &str)> = both.into_iter().chain(set.iter().copied()).collect();
        let lookup = |name: &str| {
            let found = all.iter().rev().find(|(key, _)| name == format!("{PREFIX}{key}"));
            found.map(|(_, value)| (*value).to_owned()).filter(|value| !value.is_empty())
        };
        Settings::from_lookup(&lookup).map(|settings| settings.expect("there is an issuer"))
    }

    #[test]
    fn an_issuer_and_a_client_are_enough_and_add_nobody() {
        let settings = read(&[]).unwrap();
        assert_eq!((&*settings.name, &*settings.groups_claim), ("id.example.org", "groups"));
        assert!(!settings.adds_people && !settings.links_by_email && settings.allows("a@b"));
        assert_eq!(settings.redirect_url("https://x"), "https://x/login/provider/back");
        assert!(Settings::from_lookup(&|_: &str| None).unwrap().is_none());
    }

    #[test]
    fn domains_are_compared_whole_and_in_small_letters() {
        let settings = read(&[("DOMAINS", "Example.org, lab.example")]).unwrap();
        for (email, allowed) in [
            ("ada@example.org", true),
            ("ada@EXAMPLE.ORG", true),
            ("bob@lab.example", true),
            ("eve@evil-example.org", false),
            ("eve@example.org.evil", false),
            ("eve@sub.example.org", false),
            ("eve@example.org@evil", false),
            ("example.org", false),
        ] {
            assert_eq!(settings.allows(email), allowed, "{email}");
        }
    }

    #[test]
    fn groups_give_roles_by_words() {
        let list = "perf=linux:triager, ops=admin,a=b=x:y:viewer";
        let gives: Vec<_> = roles(list).unwrap().into_iter().map(|m| (m.group, m.gives)).collect();
        assert_eq!(gives[0], ("perf".into(), Gives::Role("linux".into(), Role::Triager)));
        assert_eq!(gives[1], ("ops".into(), Gives::SiteAdmin));
        assert_eq!(gives[2], ("a=b".into(), Gives::Role("x:y".into(), Role::Viewer)));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_its_name() {
        for (name, value, told) in [
            ("ISSUER", "id.example.org", "not an address"),
            ("ISSUER", "http://id.example.org", "must begin with https"),
            ("REDIRECT_URL", "http://perf.example.org/x", "must begin with https"),
            ("CLIENT_ID", "", "CLIENT_ID"),
            ("CLIENT_SECRET_FILE", "/nowhere/at/all", "cannot read /nowhere"),
            ("CLAIMS", "hd", "not name=value"),
            ("ROLES", "perf=linux", "not group=project:role"),
            ("ROLES", "perf=linux:king", "not group=project:role"),
            ("NEW_PEOPLE", "yes", "neither refuse nor add"),
            ("NEW_PEOPLE", "add", "say who"),
            ("LINK_BY_EMAIL", "verified", "say in"),
        ] {
            let refused = read(&[(name, value)]).unwrap_err().to_string();
            assert!(refused.contains(told), "{name}={value}: {refused}");
        }
        let all = [("DOMAINS", "*"), ("LINK_BY_EMAIL", "verified")];
        assert!(read(&all).unwrap_err().to_string().contains("not enough"));
        assert!(read(&[("DOMAINS", "*"), ("NEW_PEOPLE", "add")]).unwrap().adds_people);
    }

    #[test]
    fn a_secret_is_not_shown_with_the_settings() {
        let settings = read(&[("CLIENT_SECRET", "hush-hush")]).unwrap();
        assert!(!format!("{settings:?}").contains("hush-hush"));
    }
}
