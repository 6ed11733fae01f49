//! Samples of curves and of comparisons.

use scalewatch::pages::compare::{CompareView, PointRow};
use scalewatch::pages::curve::{
    Cell, CurveView, Extent, HistoryRow, LawCells, LawRow, LawsView, MetricTable, RevisionOption,
    RunFigures, ScalingChange, ScalingRow, ScalingView, TableRow, TaskChoice, VerdictLine,
};
use scalewatch::pages::curves::{CurveRow, CurvesView};
use scalewatch::pages::project_compare::{self, CurveGroup, ProjectCompareView};
use scalewatch::pages::view::{ChangeRow, EnvironmentChanges, Value};

use super::sample::Sample;

impl Sample<'_> {
    pub(super) fn curves(self) -> CurvesView {
        let row = |index| CurveRow {
            id: index as i64,
            workload: self.text(),
            parameters: self.text(),
            project: self.text(),
            machine_id: "abc".into(),
            machine_name: self.text(),
            tasks: "1, 2".into(),
        };
        CurvesView {
            layout: self.layout(),
            filters: self.pairs(),
            caption: self.text(),
            rows: self.many(row),
        }
    }

    pub(super) fn curve(self) -> CurveView {
        let verdict = VerdictLine {
            class: "regression",
            words: self.text(),
            why: "/compare".into(),
            sides: self.text(),
        };
        let option = |index| RevisionOption {
            commit: "abc".into(),
            label: self.text(),
            is_base: index == 0,
            is_head: index == 1,
        };
        let task = |index| TaskChoice {
            tasks: index as i32,
            href: "/curves/1".into(),
            chosen: index == 0,
        };
        CurveView {
            layout: self.layout(),
            id: 1,
            workload: self.text(),
            version: 1,
            parameters: self.pairs(),
            project: self.text(),
            machine_id: "abc".into(),
            machine_name: self.text(),
            verdict: (self.0 > 1).then_some(verdict),
            revisions: self.many(option),
            extent: Extent { from: 2, to: 4, log: self.0 > 1, counts: vec![1, 2, 4] },
            failed_runs: self.pairs(),
            tasks: 4,
            tasks_words: "4 tasks".into(),
            primary_title: self.text(),
            main_figure: self.figure(),
            beside: self.many(|_| self.figure()),
            scaling: self.scaling(),
            laws: self.laws(),
            small_figures: self.many(|_| self.figure()),
            tables: self.many(|_| self.table()),
            task_choices: self.many(task),
            history: self.figure(),
            modes: (self.0 > 0).then(|| self.text()),
            floor: (self.0 > 0).then(|| self.text()),
            history_rows: self.many(|index| self.history_row(index)),
            what: (self.0 > 1).then_some("A control."),
            environment: self.facts(),
        }
    }

    pub(super) fn table(self) -> MetricTable {
        let cell = |_| {
            (self.0 != 1).then(|| Cell { median: Value::new(3.0), interval: "–".into(), n: 10 })
        };
        let row = |index| TableRow {
            tasks: index as u32,
            cells: vec![cell(0), cell(1)],
            change: "−1.0 %".into(),
        };
        MetricTable {
            metric: self.text(),
            sides: vec![self.text(), self.text()],
            rows: self.many(row),
        }
    }

    pub(super) fn history_row(self, index: usize) -> HistoryRow {
        let values = RunFigures {
            median: Value::new(1.0),
            min: Value::new(1.0),
            max: Value::new(1.0),
            n: 10,
        };
        HistoryRow {
            commit: self.commit(),
            values: (index > 0).then_some(values),
            run: "abc".into(),
            run_short: "abc".into(),
            finished: self.when(),
        }
    }

    pub(super) fn laws(self) -> LawsView {
        let row = |index: usize| LawRow {
            commit: self.commit(),
            tasks: self.text(),
            figures: (index > 0).then(|| vec![self.text(); 4]),
            refusal: self.text(),
        };
        LawsView { figures: self.many(|_| self.figure()), rows: self.many(row) }
    }

    pub(super) fn scaling(self) -> ScalingView {
        let law = |_| LawCells {
            contention: self.text(),
            coherency: self.text(),
            knee: self.text(),
            peak: self.text(),
            shape: "bending",
            misfit: self.text(),
            outliers: self.text(),
        };
        let row = |index: usize| ScalingRow {
            side: self.text(),
            law: (index == 0).then(|| law(index)),
            refusal: self.text(),
        };
        let change = |_| ScalingChange { class: "regression", words: self.text() };
        ScalingView { rows: self.many(row), changes: self.many(change) }
    }

    pub(super) fn compare(self) -> CompareView {
        let row = |index| PointRow {
            tasks: index as u32,
            tasks_words: self.text(),
            base: Value::maybe(None),
            head: Value::new(3.0),
            change: self.text(),
            verdict: "no change".into(),
            class: "undecided",
            mmtests: "–".into(),
            lkp: "–".into(),
            lkp_verdict: "not enough data",
            open: index == 0,
            evidence: self.evidence(),
        };
        let change = |_| ChangeRow {
            key: self.text(),
            base: self.text(),
            head: self.text(),
            known: self.text(),
        };
        CompareView {
            layout: self.layout(),
            id: 1,
            workload: self.text(),
            parameters: self.pairs(),
            project: self.text(),
            machine_id: "abc".into(),
            machine_name: self.text(),
            base: self.commit(),
            head: self.commit(),
            class: "undecided",
            words: self.text(),
            metric: self.text(),
            mean: "Hmean",
            rule: self.text(),
            floor: self.text(),
            environment_words: "The same on both sides.",
            across: (self.0 > 0).then(|| "/compare?curve=1&environments=across".into()),
            environment_changes: EnvironmentChanges { changes: self.many(change) },
            set_aside: self.many(|_| self.text()),
            figure: self.figure(),
            lines_figure: self.figure(),
            rows: self.many(row),
        }
    }

    pub(super) fn project_compare(self) -> ProjectCompareView {
        let point = |index: usize| project_compare::PointRow {
            tasks: index as u32 + 1,
            base: Value::new(3.0),
            head: Value::maybe(None),
            change: self.text(),
            verdict: self.text(),
            class: "regression",
        };
        ProjectCompareView {
            layout: self.layout(),
            project: self.text(),
            base: (self.text(), self.text()),
            head: (self.text(), self.text()),
            class: "",
            words: self.text(),
            rule: self.text(),
            curves: self.many(|_| CurveGroup {
                href: "/compare".into(),
                workload: self.text(),
                parameters: self.text(),
                machine_id: "0123456789abcdef".into(),
                machine_name: self.text(),
                metric: self.text(),
                words: self.text(),
                rows: self.many(point),
            }),
            unpaired: self.many(|_| [0; 4].map(|_| self.text())),
        }
    }
}
