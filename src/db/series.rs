//! Series: one metric at one task count of a curve.

use std::collections::BTreeMap;

use sqlx::types::Json;

use super::types::word;
use super::{Failure, Pool};
use crate::model::{CurveId, MachineId, ProjectId, Series, SeriesId, Visible};

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
           from series
           where id = coalesce((select series_id from series_alias where id = $1), $1)
             and not derived"#,
        id as SeriesId
    );
    row.fetch_optional(pool).await?.map(Series::try_from).transpose()
}

/// Which series a list holds; none filters nothing.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this curve.
    pub curve: Option<CurveId>,
    /// On this machine.
    pub machine: Option<MachineId>,
    /// Of this project.
    pub project: Option<ProjectId>,
    /// Of this workload.
    pub workload: Option<String>,
    /// Of this metric.
    pub metric: Option<String>,
    /// At this task count.
    pub tasks: Option<i32>,
    /// After this series: the last one of the page before.
    pub after: Option<SeriesId>,
}

/// A series with the curve it lies on.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The series.
    pub series: Series,
    /// Workload id.
    pub workload: String,
    /// Workload version.
    pub version: i32,
    /// Parameters, task count left out.
    pub parameters: BTreeMap<String, String>,
    /// The machine's id in addresses.
    pub machine_public_id: String,
    /// The machine's name.
    pub machine_name: String,
    /// The project's name.
    pub project_name: String,
}

/// Measured series of what is visible in the order they were first seen; at most `limit`.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    pool: &Pool,
    visible: &Visible,
    filter: &Filter,
    limit: i64,
) -> Result<Vec<Listed>, Failure> {
    let rows = sqlx::query!(
        r#"select s.id as "id: SeriesId", s.curve_id as "curve: CurveId",
               s.machine_id as "machine: MachineId", s.tasks, s.metric, s.unit, s.direction,
               s.is_primary as "primary", c.workload, c.workload_version as version,
               c.parameters as "parameters: Json<BTreeMap<String, String>>",
               m.public_id as machine_public_id, m.name as machine_name, p.name as project_name
           from series s
           join curve c on c.id = s.curve_id
           join machine m on m.id = s.machine_id
           join project p on p.id = c.project_id
           where not s.derived
             and ($1::bigint is null or s.curve_id = $1)
             and ($2::bigint is null or s.machine_id = $2)
             and ($3::bigint is null or c.project_id = $3)
             and ($4::text is null or c.workload = $4)
             and ($5::text is null or s.metric = $5)
             and ($6::integer is null or s.tasks = $6)
             and ($7::bigint is null or s.id > $7)
             and ($9::bigint[] is null or c.project_id = any($9))
           order by s.id limit $8"#,
        filter.curve as Option<CurveId>,
        filter.machine as Option<MachineId>,
        filter.project as Option<ProjectId>,
        filter.workload,
        filter.metric,
        filter.tasks,
        filter.after as Option<SeriesId>,
        limit,
        visible.projects() as Option<&[ProjectId]>
    );
    let listed = rows.fetch_all(pool).await?.into_iter().map(|row| {
        let series = Row {
            id: row.id,
            curve: row.curve,
            machine: row.machine,
            tasks: row.tasks,
            metric: row.metric,
            unit: row.unit,
            direction: row.direction,
            primary: row.primary,
        };
        Ok(Listed {
            series: series.try_into()?,
            workload: row.workload,
            version: row.version,
            parameters: row.parameters.0,
            machine_public_id: row.machine_public_id,
            machine_name: row.machine_name,
            project_name: row.project_name,
        })
    });
    listed.collect()
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
