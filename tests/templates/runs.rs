//! Samples of runs and jobs.

use scalewatch::pages::job::{JobView, TurnRow};
use scalewatch::pages::jobs::{JobForm, JobRow, JobRows, JobsView};
use scalewatch::pages::run::{self, FailedRow, PointView, RunView, SummaryRow, WindowRow};
use scalewatch::pages::view::{StateChoice, Value};

use super::sample::Sample;

impl Sample<'_> {
    pub(super) fn run(self) -> RunView {
        let failed = |_| FailedRow {
            curve: 1,
            workload: self.text(),
            tasks: 4,
            call: self.text(),
            errno: "28".into(),
            task: "1".into(),
            detail: self.text(),
        };
        RunView {
            layout: self.layout(),
            id: "abc".into(),
            short_id: "abc".into(),
            commit: self.commit(),
            project: self.text(),
            branch: self.text(),
            machine_id: "abc".into(),
            machine_name: self.text(),
            started: self.when(),
            took: "1.0 s".into(),
            received: self.when(),
            points_words: "1 point".into(),
            failed: self.many(failed),
            curves: self.many(|_| self.run_curve()),
            environment: self.facts(),
            artefacts: self.many(|_| self.text()),
        }
    }

    pub(super) fn run_curve(self) -> run::CurveView {
        let summary = |_| SummaryRow {
            tasks: 4,
            metric: self.text(),
            median: Value::new(1.0),
            min: Value::new(1.0),
            max: Value::new(1.0),
            sd: Value::maybe(None),
            n: 1,
        };
        let window = |index| WindowRow {
            number: index + 1,
            dt_ms: "1000.000".into(),
            ops_per_s: Value::new(1.0),
            ops_per_cpu_s: Value::maybe(None),
            ops: "1 2".into(),
            cpu_ms: "1 2".into(),
        };
        let point = |_| PointView {
            tasks_words: "4 tasks".into(),
            words: self.text(),
            windows: self.many(window),
        };
        run::CurveView {
            id: 1,
            workload: self.text(),
            version: 1,
            parameters: self.pairs(),
            figures: self.many(|_| self.figure()),
            summaries: self.many(summary),
            counters: run::CounterTable {
                tasks: vec![1, 4],
                rows: self.many(|_| (self.text(), vec![Value::new(1.0), Value::maybe(None)])),
            },
            profiles: self.many(|_| run::ProfileView {
                tasks_words: "4 tasks".into(),
                graph: "/runs/abc/profiles/x".into(),
                stacks: "/api/v1/runs/abc/artefacts/x".into(),
            }),
            points: self.many(point),
        }
    }

    pub(super) fn jobs(self) -> JobsView {
        let row = |index: usize| JobRow {
            id: index as i64,
            workloads: self.text(),
            commit: self.commit(),
            project: self.text(),
            machine: (index != 1).then(|| ("0123456789abcdef".into(), self.text())),
            label: self.text(),
            state: "running",
            class: "",
            progress: self.text(),
            created: self.when(),
        };
        JobsView {
            layout: self.layout(),
            choices: self.many(|index| StateChoice {
                name: "open",
                href: "/jobs?state=open".into(),
                chosen: index == 0,
            }),
            filters: self.pairs(),
            jobs: JobRows { caption: self.text(), rows: self.many(row) },
            older: (self.0 > 1).then(|| "/jobs?after=Nw".into()),
            form: (self.0 > 0).then(|| JobForm {
                form_word: "word".into(),
                projects: self.many(|_| self.text()),
                machines: self.pairs(),
            }),
        }
    }

    pub(super) fn job(self) -> JobView {
        JobView {
            layout: self.layout(),
            id: 7,
            project: self.text(),
            machine: (self.0 > 0).then(|| ("0123456789abcdef".into(), self.text())),
            label: (self.0 > 0).then(|| self.text()),
            state: "running",
            class: "",
            progress: self.text(),
            doing: self.text(),
            reason: (self.0 > 0).then(|| self.text()),
            incident: (self.0 > 1).then_some(3),
            compare: (self.0 > 1).then(|| "/compare".into()),
            submitted_by: self.text(),
            created: self.when(),
            claimed: (self.0 > 0).then(|| self.when()),
            ended: (self.0 > 1).then(|| self.when()),
            terms: self.many(|_| self.text()),
            plan: self.facts(),
            turns: self.many(|index| TurnRow {
                number: index + 1,
                side: "base",
                commit: self.commit(),
                run: (index > 0).then(|| ("/runs/1".into(), self.text())),
            }),
            log: if self.0 == 0 { String::new() } else { self.text() },
        }
    }
}
