//! How far a streaming replica has come. Positions are bytes of the write-ahead log since its beginning.

use super::{Failure, Pool};

/// Up to where the primary has written.
///
/// # Errors
/// When the database does not answer.
pub async fn written(primary: &Pool) -> Result<i64, Failure> {
    sqlx::query_scalar!(r#"select (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint as "position!""#)
        .fetch_one(primary)
        .await
}

/// What a replica says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Up to where it has come; none where it is no replica.
    pub replayed: Option<i64>,
    /// Seconds since the last change that it has was made; none where it has had none yet.
    pub last_change_s: Option<f64>,
    /// Number of the cluster that it is a copy of.
    pub system: i64,
}

/// How far this server has come.
///
/// # Errors
/// When it does not answer.
pub async fn find_progress(replica: &Pool) -> Result<Progress, Failure> {
    sqlx::query_as!(
        Progress,
        r#"select case when pg_is_in_recovery()
                      then (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint end as replayed,
               extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8
                   as last_change_s,
               (select system_identifier from pg_control_system()) as "system!""#
    )
    .fetch_one(replica)
    .await
}

/// Number of a cluster, which its replicas share.
///
/// # Errors
/// When the database does not answer.
pub async fn find_system(pool: &Pool) -> Result<i64, Failure> {
    sqlx::query_scalar!(r#"select system_identifier as "system!" from pg_control_system()"#)
        .fetch_one(pool)
        .await
}
