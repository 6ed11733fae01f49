//! Series: one metric at one task count of a curve.

use super::types::word;
use super::{Failure, Pool};
use crate::model::{CurveId, MachineId, Series, SeriesId};

/// The measured series of a curve: primary metric first, then by metric and task count.
///
/// # Errors
/// When the database does not answer.
pub async fn list_of_curve(pool: &Pool, curve: CurveId) -> Result<Vec<Series>, Failure> {
    let rows = sqlx::query_as!(
        Row,
        r#"select id as "id: SeriesId", curve_id as "curve: CurveId",
               machine_id as "machine: MachineId", tasks, metric, unit, direction,
               is_primary as "primary"
           from series
           where curve_id = $1 and machine_id = (select machine_id from curve where id = $1)
                 and not derived
           order by is_primary desc, metric, tasks"#,
        curve as CurveId
    );
    rows.fetch_all(pool).await?.into_iter().map(Series::try_from).collect()
}

/// The measured series of this row.
///
/// # Errors
/// When the database does not answer.
pub async fn find(pool: &Pool, id: SeriesId) -> Result<Option<Series>, Failure> {
    let row = sqlx::query_as!(
        Row,
        r#"select id as "id: SeriesId", curve_id as "curve: CurveId",
               machine_id as "machine: MachineId", tasks, metric, unit, direction,
               is_primary as "primary"
           from series where id = $1 and not derived"#,
        id as SeriesId
    );
    row.fetch_optional(pool).await?.map(Series::try_from).transpose()
}

pub(super) struct Row {
    pub id: SeriesId,
    pub curve: CurveId,
    pub machine: MachineId,
    pub tasks: i32,
    pub metric: String,
    pub unit: String,
    pub direction: String,
    pub primary: bool,
}

impl TryFrom<Row> for Series {
    type Error = Failure;

    fn try_from(row: Row) -> Result<Series, Failure> {
        Ok(Series {
            id: row.id,
            curve: row.curve,
            machine: row.machine,
            tasks: row.tasks,
            metric: row.metric,
            unit: word("unit", &row.unit, wire::Unit::parse)?,
            direction: word("direction", &row.direction, wire::Direction::parse)?,
            primary: row.primary,
        })
    }
}
