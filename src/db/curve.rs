//! Curves: the points of one workload on one machine that differ only in task count.

use std::collections::BTreeMap;

use sqlx::types::Json;

use super::{Failure, Pool};
use crate::model::{Curve, CurveId, MachineId, ProjectId, RevisionId, Visible};

/// Which curves a list holds; none filters nothing.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this machine.
    pub machine: Option<MachineId>,
    /// Of this project.
    pub project: Option<ProjectId>,
    /// Of this workload.
    pub workload: Option<String>,
    /// Measured at this revision.
    pub revision: Option<RevisionId>,
    /// After this curve: the last one of the page before.
    pub after: Option<CurveId>,
}

/// Curves of what is visible in the order they were first seen; at most `limit`.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    pool: &Pool,
    visible: &Visible,
    filter: &Filter,
    limit: i64,
) -> Result<Vec<Curve>, Failure> {
    let rows = sqlx::query_as!(
        Row,
        r#"select c.id as "id: CurveId", c.machine_id as "machine: MachineId",
               m.public_id as machine_public_id, m.name as machine_name,
               c.project_id as "project: ProjectId", p.name as project_name, c.workload,
               c.workload_version as version,
               c.parameters as "parameters: Json<BTreeMap<String, String>>",
               array(select distinct s.tasks from series s
                     where s.machine_id = c.machine_id and s.curve_id = c.id
                           and not s.derived order by s.tasks)
                   as "tasks!"
           from curve c
           join machine m on m.id = c.machine_id
           join project p on p.id = c.project_id
           where ($1::bigint is null or c.machine_id = $1)
             and ($2::bigint is null or c.project_id = $2)
             and ($3::text is null or c.workload = $3)
             and ($4::bigint is null or c.id > $4)
             and ($6::bigint is null or exists (
                 select from run r join point t on t.machine_id = r.machine_id and t.run_id = r.id
                 where r.revision_id = $6 and r.machine_id = c.machine_id and t.curve_id = c.id))
             and ($7::bigint[] is null or c.project_id = any($7))
           order by c.id limit $5"#,
        filter.machine as Option<MachineId>,
        filter.project as Option<ProjectId>,
        filter.workload,
        filter.after as Option<CurveId>,
        limit,
        filter.revision as Option<RevisionId>,
        visible.projects() as Option<&[ProjectId]>
    );
    Ok(rows.fetch_all(pool).await?.into_iter().map(Curve::from).collect())
}

/// The curve of this row, or the one it was joined with.
///
/// # Errors
/// When the database does not answer.
pub async fn find(pool: &Pool, id: CurveId) -> Result<Option<Curve>, Failure> {
    let joined = sqlx::query_scalar!(
        r#"select curve_id as "curve: CurveId" from curve_alias where id = $1"#,
        id as CurveId
    );
    let id = joined.fetch_optional(pool).await?.unwrap_or(id);
    let just_before = Filter { after: Some(CurveId(id.0.saturating_sub(1))), ..Filter::default() };
    let next = list(pool, &Visible::ALL, &just_before, 1).await?.pop();
    Ok(next.filter(|curve| curve.id == id))
}

struct Row {
    id: CurveId,
    machine: MachineId,
    machine_public_id: String,
    machine_name: String,
    project: ProjectId,
    project_name: String,
    workload: String,
    version: i32,
    parameters: Json<BTreeMap<String, String>>,
    tasks: Vec<i32>,
}

impl From<Row> for Curve {
    fn from(row: Row) -> Curve {
        Curve {
            id: row.id,
            machine: row.machine,
            machine_public_id: row.machine_public_id,
            machine_name: row.machine_name,
            project: row.project,
            project_name: row.project_name,
            workload: row.workload,
            version: row.version,
            parameters: row.parameters.0,
            tasks: row.tasks,
        }
    }
}
