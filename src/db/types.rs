//! How nouns of the model cross into SQL: ids as the integers they wrap.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};

use crate::model;

macro_rules! ids {
    ($($name:ident),* $(,)?) => {$(
        impl Type<Postgres> for model::$name {
            fn type_info() -> PgTypeInfo {
                <i64 as Type<Postgres>>::type_info()
            }
        }

        impl PgHasArrayType for model::$name {
            fn array_type_info() -> PgTypeInfo {
                <i64 as PgHasArrayType>::array_type_info()
            }
        }

        impl<'r> Decode<'r, Postgres> for model::$name {
            fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
                <i64 as Decode<Postgres>>::decode(value).map(model::$name)
            }
        }

        impl Encode<'_, Postgres> for model::$name {
            fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
                <i64 as Encode<Postgres>>::encode_by_ref(&self.0, buffer)
            }
        }
    )*};
}

ids! {
    ProjectId, BranchId, RevisionId, MachineId, TokenId, EnvironmentId, CurveId, SeriesId, StepId,
    IncidentId, JobId, PersonId, SessionId, SubmissionId, WebhookId,
}

/// A stored word that the constraint of its column allows, read back as the noun it names.
pub(super) fn word<T>(
    column: &'static str,
    word: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, sqlx::Error> {
    parse(word).ok_or_else(|| sqlx::Error::ColumnDecode {
        index: column.to_owned(),
        source: format!("`{word}` is not a word of this column").into(),
    })
}
