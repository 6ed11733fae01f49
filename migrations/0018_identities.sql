-- People who sign in by a provider of identities (OpenID Connect).

-- Who a person is at a provider: its name for them, which it never gives to anybody else.
create table identity (
    issuer text not null,
    subject text not null,
    person_id bigint not null references person (id) on delete cascade,
    -- As last told, for people to read; nobody is known again by it.
    email text not null,
    linked_at timestamptz not null,
    last_used_at timestamptz,
    primary key (issuer, subject),
    constraint identity_is_one_of_an_issuer unique (person_id, issuer)
);

-- Sign-ins under way: begun here, and not come back from the provider yet. Taken away by coming back,
-- so that none comes back twice.
create table sign_in (
    -- SHA-256 of the state that the provider hands back.
    state bytea primary key,
    -- SHA-256 of the cookie of the browser that began it.
    browser bytea not null,
    -- What the provider has to put into its token.
    nonce text not null,
    -- What the code is exchanged with (PKCE).
    verifier text not null,
    -- Where to go on to.
    next text not null,
    -- Who asked to be connected; null where somebody signs in.
    person_id bigint references person (id) on delete cascade,
    expires_at timestamptz not null
);
create index sign_in_by_age on sign_in (expires_at);
