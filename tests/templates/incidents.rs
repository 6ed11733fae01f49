//! Samples of incidents and of why they stand.

use scalewatch::pages::before_after::BeforeAfter;
use scalewatch::pages::evidence::{CounterRow, StepEvidence};
use scalewatch::pages::incident::{CommitRow, EventRow, IncidentView};
use scalewatch::pages::incidents::IncidentsView;
use scalewatch::pages::moved::{MovedGroup, MovedRow};
use scalewatch::pages::quality::{QualityRow, QualityTable, QualityView};
use scalewatch::pages::triage::{May, TriageForm, Way};
use scalewatch::pages::view::{StateChoice, Value};
use scalewatch::pages::why::{Neighbour, StepView, WhyView};

use super::sample::Sample;

impl Sample<'_> {
    pub(super) fn incidents(self) -> IncidentsView {
        let choice =
            |index| StateChoice { name: "open", href: "/incidents".into(), chosen: index == 0 };
        IncidentsView {
            layout: self.layout(),
            choices: self.many(choice),
            incidents: self.incident_rows(),
        }
    }

    pub(super) fn quality(self) -> QualityView {
        let row = |index| QualityRow {
            name: self.text(),
            href: (index > 0).then(|| "/machines/abc".into()),
            words: self.text(),
            is_enough: index > 0,
            confirmed: 3,
            invalid: 2,
            undecided: 1,
        };
        let table =
            |id| QualityTable { id, heading: "By rule", column: "rule", rows: self.many(row) };
        QualityView {
            layout: self.layout(),
            words: self.text(),
            enough: 5,
            tables: ["rules", "machines"].map(table).into_iter().take(self.0).collect(),
        }
    }

    pub(super) fn moved(self) -> MovedGroup {
        let row = |_| MovedRow {
            href: "/curves/1".into(),
            metric: self.text(),
            unit: "ops/s, higher".into(),
            tasks: self.text(),
            before: Value::new(3.0),
            after: Value::new(2.0),
            change: self.text(),
            class: "regression",
            bad: self.text(),
        };
        MovedGroup {
            href: "/curves/1".into(),
            workload: self.text(),
            parameters: self.text(),
            machine_id: "abc".into(),
            machine_name: self.text(),
            rows: self.many(row),
        }
    }

    pub(super) fn incident(self) -> IncidentView {
        let curve = |_| BeforeAfter {
            title: self.text(),
            href: "/curves/1".into(),
            compare: "/compare".into(),
            figure: self.figure(),
            bends: self.many(|_| self.text()),
            modes: (self.0 > 0).then(|| self.text()),
            floor: (self.0 > 1).then(|| self.text()),
            tasks_words: "4 tasks".into(),
            evidence: StepEvidence {
                counters: self.many(|_| CounterRow {
                    name: self.text(),
                    before: Value::new(1.0),
                    after: Value::new(2.0),
                    change: self.text(),
                    sure: "told apart",
                }),
                flame: (self.0 > 1).then(|| "/runs/abc/profiles/x?base=abc".into()),
            },
        };
        let commit = |_| CommitRow { commit: self.commit(), order: self.text(), part: "first bad" };
        let event = |_| EventRow {
            at: self.when(),
            kind: self.text(),
            detail: self.text(),
            note: Some(self.text()),
        };
        IncidentView {
            layout: self.layout(),
            id: 1,
            project: self.text(),
            branch: self.text(),
            heading: self.text(),
            class: "regression",
            words: self.text(),
            state: "new".into(),
            severity: (self.0 > 0).then(|| self.text()),
            confirmation: (self.0 > 0).then(|| self.text()),
            confirmation_job: (self.0 > 1).then_some(7),
            merged_into: (self.0 > 1).then_some(2),
            triage: TriageForm {
                id: 1,
                from: "new",
                plain: self.many(|_| Way { to: "confirmed", verb: "Confirm" }),
                reasons: self.many(|_| "noise"),
                can_be_fixed: self.0 > 0,
                may: match self.0 {
                    0 => May::No,
                    1 => May::LogIn("/login".into()),
                    _ => May::Decide("abc".into()),
                },
            },
            opened: self.when(),
            changed: self.when(),
            moved: self.many(|_| self.moved()),
            curves: self.many(curve),
            good: self.text(),
            bad: self.text(),
            commits_words: self.text(),
            commits: self.many(commit),
            environment_words: self.text(),
            events: self.many(event),
            mails: self.many(|_| self.text()),
        }
    }

    pub(super) fn why(self) -> WhyView {
        let neighbour = || Neighbour { words: self.text(), evidence: self.evidence() };
        let step = |index| StepView {
            title: self.text(),
            href: "/curves/1".into(),
            class: "regression",
            words: self.text(),
            retracted: index == 0,
            evidence: self.evidence(),
            neighbour: (index > 0).then(neighbour),
        };
        WhyView {
            layout: self.layout(),
            id: 1,
            heading: self.text(),
            rule: self.text(),
            steps: self.many(step),
        }
    }
}
