//! The provider: what it publishes about itself, kept for an hour, and what it tells of who comes
//! back from it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use anyhow::Context as _;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreErrorResponseType,
    CoreGenderClaim, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm,
    CoreProviderMetadata, CoreRevocableToken, CoreRevocationErrorResponse,
    CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AdditionalClaims, AuthType, AuthorizationCode, Client, ClientId, ClientSecret, CsrfToken,
    EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet, IdTokenClaims,
    IdTokenFields, IssuerUrl, Nonce, OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier,
    RedirectUrl, RequestTokenError, Scope, StandardErrorResponse, StandardTokenResponse,
    TokenResponse as _, UserInfoClaims,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::{Duration, OffsetDateTime};
use tokio::sync::Mutex;

use super::fetch::fetch;
use super::{Identity, Refusal, Settings, Stopped};
use crate::app::App;
use crate::model::Secret;

/// How long what the provider publishes is kept.
const KEPT: Duration = Duration::hours(1);

/// Keys are asked for anew because of a token with an unknown one at most so often.
const ROTATION: Duration = Duration::minutes(1);

/// How far a provider's clock may go ahead of ours.
const AHEAD: Duration = Duration::minutes(5);

/// What the provider published last, with when it was asked.
#[derive(Default)]
pub struct Provider(Mutex<Option<(CoreProviderMetadata, OffsetDateTime)>>);

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Provider")
    }
}

/// Claims beyond the standard's.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct MoreClaims {
    #[serde(flatten)]
    all: BTreeMap<String, Value>,
}

impl AdditionalClaims for MoreClaims {}

type Token = StandardTokenResponse<
    IdTokenFields<
        MoreClaims,
        EmptyExtraTokenFields,
        CoreGenderClaim,
        CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm,
    >,
    CoreTokenType,
>;

type Known = Client<
    MoreClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    Token,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

type Claims = IdTokenClaims<MoreClaims, CoreGenderClaim>;

/// A sign-in as it is begun.
pub(super) struct Begun {
    /// Where the browser goes.
    pub address: String,
    /// What comes back with it.
    pub state: Secret,
    /// What the token has to hold.
    pub nonce: String,
    /// What the code is exchanged with.
    pub verifier: String,
}

/// Makes the address at which somebody proves who they are.
///
/// # Errors
/// `Refusal::Away` where the provider does not answer.
pub(super) async fn begin(app: &App, settings: &Settings) -> Result<Begun, Stopped> {
    let metadata = published(app, settings, KEPT).await?;
    let client = client(app, settings, metadata)?;
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let flow = CoreAuthenticationFlow::AuthorizationCode;
    let mut request = client.authorize_url(flow, CsrfToken::new_random, Nonce::new_random);
    for scope in &settings.scopes {
        request = request.add_scope(Scope::new(scope.clone()));
    }
    let (address, state, nonce) = request.set_pkce_challenge(challenge).url();
    Ok(Begun {
        address: address.into(),
        state: Secret::from_client(state.secret()),
        nonce: nonce.secret().clone(),
        verifier: verifier.into_secret(),
    })
}

/// Exchanges a code, and reads from the token who it is.
///
/// # Errors
/// `Refusal::Away` where the provider does not answer, `Refusal::NotBelieved` where it does not
/// take the code or what it tells does not hold.
pub(super) async fn identify(
    app: &App,
    settings: &Settings,
    code: &str,
    nonce: &str,
    verifier: &str,
) -> Result<Identity, Stopped> {
    let metadata = published(app, settings, KEPT).await?;
    let known = client(app, settings, metadata)?;
    let exchange = known
        .exchange_code(AuthorizationCode::new(code.to_owned()))
        .context("the provider publishes no token endpoint")
        .map_err(not_believed)?;
    let exchange = exchange.set_pkce_verifier(PkceCodeVerifier::new(verifier.to_owned()));
    let token = exchange.request_async(&fetch).await.map_err(|error| match error {
        RequestTokenError::Request(error) => away(error),
        // Parse errors carry what was read, and with it tokens.
        RequestTokenError::Parse(error, _) => not_believed(error),
        other => not_believed(other),
    })?;
    let nonce = Nonce::new(nonce.to_owned());
    let now = app.clock.now();
    let claims = match verified(&known, &token, &nonce, now) {
        Ok(claims) => claims.clone(),
        // A key may be newer than what is kept.
        Err(_) => {
            let metadata = published(app, settings, ROTATION).await?;
            let renewed = client(app, settings, metadata)?;
            verified(&renewed, &token, &nonce, now).map_err(not_believed)?.clone()
        }
    };
    told(&known, &token, claims).await
}

/// What the provider publishes, as it was at most `age` ago.
async fn published(
    app: &App,
    settings: &Settings,
    age: Duration,
) -> Result<CoreProviderMetadata, Stopped> {
    let now = app.clock.now();
    let mut kept = app.provider.0.lock().await;
    if let Some((metadata, at)) = &*kept
        && now - *at < age
    {
        return Ok(metadata.clone());
    }
    let issuer = IssuerUrl::new(settings.issuer.clone()).map_err(away)?;
    let metadata = CoreProviderMetadata::discover_async(issuer, &fetch).await.map_err(away)?;
    *kept = Some((metadata.clone(), now));
    Ok(metadata)
}

fn client(
    app: &App,
    settings: &Settings,
    metadata: CoreProviderMetadata,
) -> Result<Known, Stopped> {
    use openidconnect::core::CoreClientAuthMethod::{ClientSecretBasic, ClientSecretPost};
    let methods = metadata.token_endpoint_auth_methods_supported();
    let by_body = methods.is_some_and(|methods| {
        methods.contains(&ClientSecretPost) && !methods.contains(&ClientSecretBasic)
    });
    let auth_type = if by_body { AuthType::RequestBody } else { AuthType::BasicAuth };
    let redirect = settings.redirect_url(&app.config.public_url);
    let redirect = RedirectUrl::new(redirect).context("the redirect URL cannot be read");
    let secret = settings.client_secret.as_ref();
    let client = Known::from_provider_metadata(
        metadata,
        ClientId::new(settings.client_id.clone()),
        secret.map(|secret| ClientSecret::new(secret.reveal().to_owned())),
    );
    let redirect = redirect.map_err(crate::error::Error::from)?;
    Ok(client.set_redirect_uri(redirect).set_auth_type(auth_type))
}

/// The claims of a token of this provider, for us, signed, in time, and made for this sign-in.
fn verified<'a>(
    client: &Known,
    token: &'a Token,
    nonce: &Nonce,
    now: OffsetDateTime,
) -> anyhow::Result<&'a Claims> {
    let id_token = token.id_token().context("the answer holds no ID token")?;
    let latest = SystemTime::from(now + AHEAD);
    let verifier = client
        .id_token_verifier()
        .set_time_fn(move || SystemTime::from(now).into())
        .set_issue_time_verifier_fn(move |issued| match SystemTime::from(issued) <= latest {
            true => Ok(()),
            false => Err("the token is of the future".into()),
        });
    let claims = id_token.claims(&verifier, nonce)?;
    if let Some(expected) = claims.access_token_hash() {
        let algorithm = id_token.signing_alg()?;
        let key = id_token.signing_key(&verifier)?;
        let actual =
            openidconnect::AccessTokenHash::from_token(token.access_token(), algorithm, key)?;
        anyhow::ensure!(actual == *expected, "the access token is not the ID token's");
    }
    Ok(claims)
}

/// Who it is: by the token, and where that says no address, by the provider's page on users.
async fn told(client: &Known, token: &Token, claims: Claims) -> Result<Identity, Stopped> {
    let mut identity = Identity {
        subject: claims.subject().to_string(),
        email: claims.email().map(|email| email.to_string()),
        is_verified: claims.email_verified() == Some(true),
        claims: claims.additional_claims().all.clone(),
    };
    let asks = identity.email.is_none() && client.user_info_url().is_some();
    if asks {
        let request = client
            .user_info(token.access_token().clone(), Some(claims.subject().clone()))
            .map_err(not_believed)?;
        let more: UserInfoClaims<MoreClaims, CoreGenderClaim> =
            request.request_async(&fetch).await.map_err(not_believed)?;
        identity.email = more.email().map(|email| email.to_string());
        identity.is_verified = more.email_verified() == Some(true);
        // What the signed token says counts.
        for (name, value) in &more.additional_claims().all {
            identity.claims.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    Ok(identity)
}

fn away(error: impl Into<anyhow::Error>) -> Stopped {
    tracing::warn!(error = format!("{:#}", error.into()), "the provider of identities is away");
    Stopped::Refused(Refusal::Away)
}

fn not_believed(error: impl Into<anyhow::Error>) -> Stopped {
    tracing::warn!(error = format!("{:#}", error.into()), "a sign-in was not believed");
    Stopped::Refused(Refusal::NotBelieved)
}
