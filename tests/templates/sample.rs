//! Samples of what many pages show.

use scalewatch::chart::{CurveLine, CurvePlot, CurvePoint, Size, svg};
use scalewatch::pages::incidents::{IncidentRow, IncidentRows};
use scalewatch::pages::triage::{BulkForm, Way};
use scalewatch::pages::view::{
    CommitMark, Evidence, Facts, Figure, Layout, Line, RunRow, RunRows, Section, Value, When,
};

use crate::support::noon;

/// How many of everything, and what every text says.
#[derive(Clone, Copy)]
pub(super) struct Sample<'a>(pub usize, pub &'a str);

impl Sample<'_> {
    pub(super) fn text(self) -> String {
        self.1.to_owned()
    }

    pub(super) fn many<T>(self, one: impl Fn(usize) -> T) -> Vec<T> {
        (0..self.0).map(one).collect()
    }

    pub(super) fn pairs(self) -> Vec<(String, String)> {
        self.many(|_| (self.text(), self.text()))
    }

    pub(super) fn layout(self) -> Layout {
        let me = (self.0 > 0).then(|| ("/account".into(), self.text()));
        Layout { me, ..Layout::new(self.text(), Section::Curves) }
    }

    pub(super) fn when(self) -> When {
        When::new(noon(), noon())
    }

    pub(super) fn commit(self) -> CommitMark {
        CommitMark::new(self.1, self.1)
    }

    pub(super) fn facts(self) -> Facts {
        Facts { caption: self.text(), key_title: "fact", facts: self.pairs() }
    }

    pub(super) fn figure(self) -> Figure {
        let point = |index| CurvePoint { tasks: index as u32 + 1, value: 3.5, interval: None };
        let line = CurveLine { label: self.text(), points: self.many(point) };
        let plot = CurvePlot { y_title: self.text(), lines: vec![line], ..CurvePlot::default() };
        let sizes = (Size { width: 600, height: 300 }, Size { width: 300, height: 200 });
        Figure::two(self.text(), sizes, |size| svg::curve(&plot, size))
    }

    pub(super) fn evidence(self) -> Evidence {
        let line = |index| Line {
            what: self.text(),
            left: Value::new(0.25),
            relation: "≤".into(),
            right: Value::new(5.0),
            holds: index % 2 == 0,
            decides: index == 0,
        };
        Evidence {
            title: self.text(),
            lines: self.many(line),
            set_aside: self.many(|_| self.text()),
            used: self.many(|_| "1.5".into()),
        }
    }

    pub(super) fn runs(self) -> RunRows {
        let row = |_| RunRow {
            id: "00000000-0000-4000-8000-000000000000".into(),
            short_id: "00000000".into(),
            commit: self.commit(),
            project: self.text(),
            machine_id: "abc".into(),
            machine_name: self.text(),
            points: "1 point".into(),
            finished: self.when(),
        };
        RunRows { caption: self.text(), rows: self.many(row) }
    }

    pub(super) fn incident_rows(self) -> IncidentRows {
        let row = |index| IncidentRow {
            id: index as i64,
            what: self.text(),
            class: "regression",
            change: self.text(),
            good: self.text(),
            bad: self.text(),
            machines: self.text(),
            state: "new".into(),
            severity: "slight",
            severity_words: self.text(),
            changed: self.when(),
            pick: (index > 0).then_some("new"),
        };
        IncidentRows {
            caption: self.text(),
            rows: self.many(row),
            bulk: (self.0 > 1).then(|| BulkForm {
                word: self.text(),
                list: self.text(),
                plain: self.many(|_| Way { to: "confirmed", verb: "Confirm" }),
                reasons: self.many(|_| "noise"),
            }),
        }
    }
}
