//! What people said of incidents, counted.

use super::Pool;
use crate::model::quality::{Group, Tally};
use crate::model::{ProjectId, Visible};

/// Incidents of what is visible, counted by what people last said of them: over all, and by rule,
/// machine and workload of the steps they ever had. An incident over several machines counts once
/// for each. Those that another incident took over are left out.
///
/// Confirmed is what somebody confirmed, fixed or left as it is; acknowledging says nothing, and
/// reopening takes back *invalid* alone.
///
/// # Errors
/// When the database does not answer.
pub async fn list(pool: &Pool, visible: &Visible) -> sqlx::Result<Vec<Tally>> {
    let rows = sqlx::query!(
        r#"with judged as (
               select i.id, (
                   select e.detail->>'to' from incident_event e
                   where e.incident_id = i.id and e.kind = 'state_changed' and e.detail ? 'by'
                         and (e.detail->>'to' in ('confirmed', 'fixed', 'wont_fix', 'invalid')
                              or (e.detail->>'to' = 'reopened' and e.detail->>'from' = 'invalid'))
                   order by e.id desc limit 1
               ) as said
               from incident i
               where i.state <> 'merged' and ($1::bigint[] is null or i.project_id = any($1))
           ),
           part as (
               select id as incident_id, 'all' as kind, '' as key, '' as name from judged
               union
               select t.incident_id, one.kind, one.key, one.name
               from judged j join step t on t.incident_id = j.id
                    join series s on s.id = t.series_id join curve c on c.id = s.curve_id
                    join machine m on m.id = t.machine_id
                    cross join lateral (values
                        ('rule', case when s.derived then 'law' else 'level' end, ''),
                        ('machine', m.public_id, m.name),
                        ('workload', c.workload, '')
                    ) one (kind, key, name)
           )
           select p.kind as "kind!", p.key as "key!", p.name as "name!",
                  count(*) filter (where j.said in ('confirmed', 'fixed', 'wont_fix'))
                      as "confirmed!",
                  count(*) filter (where j.said = 'invalid') as "invalid!",
                  count(*) as "incidents!"
           from part p join judged j on j.id = p.incident_id
           group by 1, 2, 3 order by 1, count(*) desc, 3, 2"#,
        visible.projects() as Option<&[ProjectId]>
    )
    .fetch_all(pool)
    .await?;
    let count = |n: i64| n.unsigned_abs();
    Ok(rows
        .into_iter()
        .filter_map(|row| {
            Some(Tally {
                group: Group::parse(&row.kind)?,
                key: row.key,
                name: row.name,
                confirmed: count(row.confirmed),
                invalid: count(row.invalid),
                incidents: count(row.incidents),
            })
        })
        .collect())
}
