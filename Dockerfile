# syntax=docker/dockerfile:1
# Both programs in one image, built from the committed .sqlx without a database; and, as target
# `mail`, a mail catcher for trying things out.

FROM rust:1.95-bookworm AS build
WORKDIR /build
COPY Cargo.toml Cargo.lock build.rs ./
COPY .sqlx .sqlx
COPY migrations migrations
COPY runner runner
COPY src src
COPY static static
COPY templates templates
# Cargo wants to see what the manifest names, though no test or benchmark is built here.
COPY tests tests
COPY benches benches
ENV SQLX_OFFLINE=true
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target \
    cargo build --release --locked --workspace --bins \
    && install -D -t /built target/release/scalewatch target/release/scalewatch-runner

FROM debian:bookworm-slim AS mail
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3-aiosmtpd \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 mail-catcher \
    && install -d -o mail-catcher /mail
USER mail-catcher
EXPOSE 1025
# One file a message in /mail/box/new.
CMD ["python3", "-m", "aiosmtpd", "-n", "-l", "0.0.0.0:1025", "-c", "aiosmtpd.handlers.Mailbox", "/mail/box"]

FROM debian:bookworm-slim AS scalewatch
RUN useradd --system --uid 10001 --home-dir /data scalewatch \
    && install -d -o scalewatch /data /enrol
COPY --from=build /built /usr/local/bin
USER scalewatch
ENV SCALEWATCH_DATA=/data \
    SCALEWATCH_RUNNER_STATE=/data/runner \
    SCALEWATCH_LISTEN=0.0.0.0:8420
VOLUME /data
EXPOSE 8420
CMD ["scalewatch", "serve", "--migrate"]
