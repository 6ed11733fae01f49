//! Incidents by what people decided about them, over the rules, machines and workloads of their
//! standing steps.

use super::types::word;
use super::{Failure, Pool};
use crate::model::quality::{Grouping, Quality};
use crate::model::{ProjectId, Visible};

/// Every group of visible incidents, of one project where one is given, by kind and name. One pass
/// over the steps of incidents.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    db: &Pool,
    visible: &Visible,
    project: Option<ProjectId>,
) -> Result<Vec<Quality>, Failure> {
    let rows = sqlx::query!(
        r#"select k.grouping as "grouping!", k.name as "name!",
                  count(distinct i.id) filter (where i.state in ('confirmed', 'wont_fix', 'fixed')
                                                     or i.reason = 'intended') as "real!",
                  count(distinct i.id) filter (where i.state = 'invalid'
                                                     and i.reason <> 'intended') as "false_alarms!",
                  count(distinct i.id) filter (where i.state in ('new', 'acknowledged', 'reopened',
                                                                 'returned')) as "open!"
           from incident i
           join step t on t.incident_id = i.id and t.retracted_at is null
           join series s on s.id = t.series_id
           join curve c on c.id = s.curve_id
           join machine m on m.id = t.machine_id
           cross join lateral (values
               ('all', ''),
               ('rule', coalesce(t.evidence->'inequalities'->(t.evidence->>'decided_by')::int->>'what',
                                 'none told')),
               ('machine', m.name),
               ('workload', c.workload)) as k (grouping, name)
           where i.state not in ('retracted', 'merged')
             and ($1::bigint[] is null or i.project_id = any($1))
             and ($2::bigint is null or i.project_id = $2)
           group by 1, 2 order by 1, 2"#,
        visible.projects() as Option<&[ProjectId]>,
        project as Option<ProjectId>
    );
    let rows = rows.fetch_all(db).await?.into_iter().map(|row| {
        Ok(Quality {
            grouping: word("grouping", &row.grouping, Grouping::parse)?,
            name: row.name,
            real: row.real,
            false_alarms: row.false_alarms,
            open: row.open,
        })
    });
    rows.collect()
}
