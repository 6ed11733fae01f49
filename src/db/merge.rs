//! Everything that one machine measured becomes another's: set by set, in the caller's transaction,
//! which holds the lock of both. Rows of the two large tables change their partition.

use time::OffsetDateTime;

use super::{Connection, Failure};
use crate::model::{CurveId, MachineId, ProjectId, StepId};

/// From one machine into another.
#[derive(Debug, Clone, Copy)]
pub struct Merge {
    /// Whose rows move.
    pub from: MachineId,
    /// Where they move.
    pub into: MachineId,
    /// Now.
    pub at: OffsetDateTime,
}

/// How much was moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Runs that are the other machine's now.
    pub runs: u64,
    /// Curves that both had, and that are one now.
    pub joined: u64,
    /// Curves that were judged anew, or will be.
    pub curves: u64,
    /// Tokens that upload for the other machine now.
    pub tokens: u64,
}

impl Merge {
    /// Waits for reports and judgements of both machines that are under way, and keeps new ones
    /// waiting. A report that waits for a machine that is gone afterwards fails, and is sent again.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn lock(&self, connection: &mut Connection) -> Result<(), Failure> {
        let both = [self.from, self.into];
        super::branch::hold_reports(connection).await?;
        sqlx::query!(
            "select curve_id from due where machine_id = any($1) order by machine_id, curve_id
             for update",
            &both as &[MachineId]
        )
        .fetch_all(&mut *connection)
        .await?;
        sqlx::query!(
            "select id from machine where id = any($1) order by id for update",
            &both as &[MachineId]
        )
        .fetch_all(connection)
        .await
        .map(drop)
    }

    /// A run whose UUID both have.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find_run_of_both(
        &self,
        connection: &mut Connection,
    ) -> Result<Option<uuid::Uuid>, Failure> {
        sqlx::query_scalar!(
            "select a.id from run a join run b on b.id = a.id
             where a.machine_id = $1 and b.machine_id = $2 order by a.id limit 1",
            self.from as MachineId,
            self.into as MachineId
        )
        .fetch_optional(connection)
        .await
    }

    /// Whether both have a job in hand; a machine has one at most.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn are_both_busy(&self, connection: &mut Connection) -> Result<bool, Failure> {
        let both = [self.from, self.into];
        sqlx::query_scalar!(
            r#"select count(*) > 1 as "busy!" from job
               where machine_id = any($1) and state in ('claimed', 'preparing', 'running')"#,
            &both as &[MachineId]
        )
        .fetch_one(connection)
        .await
    }

    /// A metric that the two measure in another unit or direction: workload and metric.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find_other_metric(
        &self,
        connection: &mut Connection,
    ) -> Result<Option<(String, String)>, Failure> {
        let row = sqlx::query!(
            "select c.workload, s.metric
             from curve c
             join curve k on k.machine_id = $2 and k.project_id = c.project_id
               and k.workload = c.workload and k.workload_version = c.workload_version
               and k.parameters_digest = c.parameters_digest
             join series s on s.machine_id = $1 and s.curve_id = c.id
             join series t on t.machine_id = $2 and t.curve_id = k.id and t.tasks = s.tasks
               and t.metric = s.metric and t.derived = s.derived
             where c.machine_id = $1 and (s.unit, s.direction) <> (t.unit, t.direction)
             order by 1, 2 limit 1",
            self.from as MachineId,
            self.into as MachineId
        );
        Ok(row.fetch_optional(connection).await?.map(|row| (row.workload, row.metric)))
    }

    /// Says which curves and series of the one are which of the other, by what they measure. How many
    /// curves both have.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn pair(&self, connection: &mut Connection) -> Result<u64, Failure> {
        let joined = sqlx::query!(
            "insert into curve_alias (id, curve_id)
             select c.id, k.id
             from curve c
             join curve k on k.machine_id = $2 and k.project_id = c.project_id
               and k.workload = c.workload and k.workload_version = c.workload_version
               and k.parameters_digest = c.parameters_digest
             where c.machine_id = $1",
            self.from as MachineId,
            self.into as MachineId
        );
        let joined = joined.execute(&mut *connection).await?.rows_affected();
        sqlx::query!(
            "insert into series_alias (id, series_id)
             select s.id, t.id
             from series s
             join curve_alias a on a.id = s.curve_id
             join series t on t.machine_id = $2 and t.curve_id = a.curve_id and t.tasks = s.tasks
               and t.metric = s.metric and t.derived = s.derived
             where s.machine_id = $1",
            self.from as MachineId,
            self.into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        // What was joined with these before is joined with what they are joined with.
        sqlx::query!(
            "update curve_alias old set curve_id = a.curve_id
             from curve_alias a where a.id = old.curve_id"
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!(
            "update series_alias old set series_id = a.series_id
             from series_alias a where a.id = old.series_id"
        )
        .execute(connection)
        .await?;
        Ok(joined)
    }

    /// Steps of the one that the other has as well, with their projects: one place never holds two.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn list_steps_of_both(
        &self,
        connection: &mut Connection,
    ) -> Result<Vec<(ProjectId, CurveId, StepId)>, Failure> {
        let rows = sqlx::query!(
            r#"select t.id as "step: StepId", c.id as "curve: CurveId",
                      c.project_id as "project: ProjectId"
               from step t
               join series_alias a on a.id = t.series_id
               join step u on u.machine_id = $2 and u.series_id = a.series_id
                 and u.environment_id = t.environment_id
                 and u.bad_revision_id = t.bad_revision_id and u.retracted_at is null
               join series s on s.id = t.series_id
               join curve c on c.id = s.curve_id
               where t.machine_id = $1 and t.retracted_at is null
               order by c.project_id, t.id"#,
            self.from as MachineId,
            self.into as MachineId
        );
        let rows = rows.fetch_all(connection).await?;
        Ok(rows.into_iter().map(|row| (row.project, row.curve, row.step)).collect())
    }

    /// Moves runs with all that was measured in them. How many.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn move_runs(&self, connection: &mut Connection) -> Result<u64, Failure> {
        let (from, into) = (self.from, self.into);
        let runs = sqlx::query!(
            "insert into run (machine_id, id, revision_id, environment_id, body_digest, started_at,
                              finished_at, received_at, thinned_at)
             select $2, id, revision_id, environment_id, body_digest, started_at, finished_at,
                    received_at, thinned_at
             from run where machine_id = $1",
            from as MachineId,
            into as MachineId
        );
        let runs = runs.execute(&mut *connection).await?.rows_affected();
        sqlx::query!(
            "update point p
             set machine_id = $2,
                 curve_id = coalesce((select a.curve_id from curve_alias a where a.id = p.curve_id),
                                     p.curve_id)
             where p.machine_id = $1",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!(
            "update measurement m
             set machine_id = $2,
                 series_id = coalesce((select a.series_id from series_alias a where a.id = m.series_id),
                                      m.series_id)
             where m.machine_id = $1",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!(
            "update run_artefact set machine_id = $2 where machine_id = $1",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!(
            "update job_run set machine_id = $2 where machine_id = $1",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!("delete from run where machine_id = $1", from as MachineId)
            .execute(connection)
            .await?;
        Ok(runs)
    }

    /// Moves curves, their series and steps, and marks every one that gained runs as due. Which.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn move_curves(&self, connection: &mut Connection) -> Result<Vec<CurveId>, Failure> {
        let (from, into) = (self.from, self.into);
        let curves: Vec<CurveId> = sqlx::query_scalar!(
            r#"select coalesce(a.curve_id, c.id) as "curve!: CurveId"
               from curve c left join curve_alias a on a.id = c.id
               where c.machine_id = $1 order by 1"#,
            from as MachineId
        )
        .fetch_all(&mut *connection)
        .await?;
        sqlx::query!(
            "update step t
             set machine_id = $2,
                 series_id = coalesce((select a.series_id from series_alias a where a.id = t.series_id),
                                      t.series_id)
             where t.machine_id = $1",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!(
            "update refuted_suspect set machine_id = $2 where machine_id = $1",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        self.move_judgements(connection).await?;
        for table in [
            sqlx::query!("delete from due where machine_id = $1", from as MachineId),
            sqlx::query!("delete from due_range where machine_id = $1", from as MachineId),
            sqlx::query!("delete from judged where machine_id = $1", from as MachineId),
        ] {
            table.execute(&mut *connection).await?;
        }
        sqlx::query!(
            "delete from series s using series_alias a where s.machine_id = $1 and a.id = s.id",
            from as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!(
            "update series s
             set machine_id = $2,
                 curve_id = coalesce((select a.curve_id from curve_alias a where a.id = s.curve_id),
                                     s.curve_id)
             where s.machine_id = $1",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!(
            "delete from curve c using curve_alias a where c.machine_id = $1 and a.id = c.id",
            from as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!(
            "update curve set machine_id = $2 where machine_id = $1",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!(
            "insert into due (machine_id, curve_id, marked_at)
             select $1, curve, $3 from unnest($2::bigint[]) as curve
             on conflict (machine_id, curve_id) do update set whole = true",
            into as MachineId,
            &curves as &[CurveId],
            self.at
        )
        .execute(connection)
        .await?;
        Ok(curves)
    }

    /// What follows from measurements: of curves that are joined it is found anew.
    async fn move_judgements(&self, connection: &mut Connection) -> Result<(), Failure> {
        let (from, into) = (self.from, self.into);
        for joined in [
            sqlx::query!(
                "delete from scaling s using curve_alias a where s.machine_id = $1 and a.id = s.curve_id",
                from as MachineId
            ),
            sqlx::query!(
                "delete from build_noise n using curve_alias a
             where n.machine_id = $1 and a.id = n.curve_id",
                from as MachineId
            ),
            sqlx::query!(
                "delete from environment_effect e using curve_alias a
             where e.machine_id = $1 and a.id = e.curve_id",
                from as MachineId
            ),
            sqlx::query!(
                "update scaling set machine_id = $2 where machine_id = $1",
                from as MachineId,
                into as MachineId
            ),
            sqlx::query!(
                "update build_noise set machine_id = $2 where machine_id = $1",
                from as MachineId,
                into as MachineId
            ),
            sqlx::query!(
                "update environment_effect set machine_id = $2 where machine_id = $1",
                from as MachineId,
                into as MachineId
            ),
        ] {
            joined.execute(&mut *connection).await?;
        }
        // Of two A/A runs the later one counts.
        sqlx::query!(
            "insert into noise_floor (machine_id, workload, metric, relative, pairs, measured_at)
             select $2, workload, metric, relative, pairs, measured_at
             from noise_floor where machine_id = $1
             on conflict (machine_id, workload, metric) do update
                 set relative = excluded.relative, pairs = excluded.pairs,
                     measured_at = excluded.measured_at
                 where noise_floor.measured_at < excluded.measured_at",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!("delete from noise_floor where machine_id = $1", from as MachineId)
            .execute(connection)
            .await
            .map(drop)
    }

    /// Moves jobs and tokens. How many tokens.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn move_work(&self, connection: &mut Connection) -> Result<u64, Failure> {
        let (from, into) = (self.from, self.into);
        sqlx::query!(
            "update job
             set wanted_machine_id = case when wanted_machine_id = $1 then $2
                                          else wanted_machine_id end,
                 machine_id = case when machine_id = $1 then $2 else machine_id end
             where wanted_machine_id = $1 or machine_id = $1",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        // An agent says what it is whenever it asks for a job.
        sqlx::query!("delete from agent where machine_id = $1", from as MachineId)
            .execute(&mut *connection)
            .await?;
        sqlx::query!(
            "insert into project_served (machine_id, project_id, served_at)
             select $2, project_id, served_at from project_served where machine_id = $1
             on conflict (machine_id, project_id) do update
                 set served_at = greatest(project_served.served_at, excluded.served_at)",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!("delete from project_served where machine_id = $1", from as MachineId)
            .execute(&mut *connection)
            .await?;
        let tokens = sqlx::query!(
            "update token set machine_id = $2 where machine_id = $1",
            from as MachineId,
            into as MachineId
        );
        Ok(tokens.execute(connection).await?.rows_affected())
    }

    /// Removes the machine that has nothing any more; its id leads to the other.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn finish(&self, connection: &mut Connection) -> Result<(), Failure> {
        let (from, into) = (self.from, self.into);
        sqlx::query!(
            "update machine_alias set machine_id = $2 where machine_id = $1",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!(
            "insert into machine_alias (public_id, machine_id, identity, merged_at)
             select public_id, $2, identity, $3 from machine where id = $1",
            from as MachineId,
            into as MachineId,
            self.at
        )
        .execute(&mut *connection)
        .await?;
        // The same hardware: known since the first of both, retired where both are.
        sqlx::query!(
            "update machine m
             set registered_at = least(m.registered_at, f.registered_at),
                 last_seen_at = greatest(m.last_seen_at, f.last_seen_at),
                 retired_at = case when f.retired_at is null then null else m.retired_at end
             from machine f where m.id = $2 and f.id = $1",
            from as MachineId,
            into as MachineId
        )
        .execute(&mut *connection)
        .await?;
        sqlx::query!("delete from machine where id = $1", from as MachineId)
            .execute(connection)
            .await
            .map(drop)
    }
}
