//! Samples of the pages that begin a way: overview, search, machine, revision.

use scalewatch::pages::branches::{BranchRow, BranchesView};
use scalewatch::pages::heat::{HeatCell, HeatView};
use scalewatch::pages::machine::{CacheRow, EnvironmentRow, FloorRow, MachineView};
use scalewatch::pages::overview::{MachineRow, OverviewView};
use scalewatch::pages::revision::{MeasuredRow, RevisionView};
use scalewatch::pages::search::{RevisionRow, SearchView, WorkloadRow};

use super::sample::Sample;

impl Sample<'_> {
    pub(super) fn overview(self) -> OverviewView {
        let machine = |_| MachineRow {
            id: "abc".into(),
            name: self.text(),
            hardware: self.text(),
            cores: 4,
            threads: 8,
            last_seen: (self.0 > 1).then(|| self.when()),
        };
        OverviewView {
            layout: self.layout(),
            heading: self.text(),
            machines_count: "1 machine".into(),
            curves_count: "1 curve".into(),
            runs_count: "1 run".into(),
            due: self.0 as i64,
            has_runs: self.0 > 0,
            public_url: self.text(),
            incidents: self.incident_rows(),
            heat: self.heat(),
            machines: self.many(machine),
            runs: self.runs(),
        }
    }

    pub(super) fn heat(self) -> HeatView {
        let cell = |index| HeatCell {
            class: "regression heat-2".into(),
            href: (index > 0).then(|| "/incidents/1".into()),
            words: self.text(),
            title: self.text(),
            unstable: index > 1,
        };
        HeatView {
            machines: self.pairs(),
            rows: self.many(|_| (self.text(), self.many(cell))),
            unstable_from: self.text(),
        }
    }

    pub(super) fn search(self) -> SearchView {
        let revision = |index| RevisionRow {
            id: index as i64,
            commit: self.commit(),
            place: self.text(),
            position: "7".into(),
            committed: (index > 0).then(|| self.when()),
        };
        let workload =
            |_| WorkloadRow { workload: self.text(), href: "/curves".into(), words: self.text() };
        SearchView {
            layout: self.layout().searched_for(self.1),
            query: self.text(),
            incidents: self.incident_rows(),
            revisions: self.many(revision),
            workloads: self.many(workload),
            machines: self.pairs(),
            runs: self.runs(),
        }
    }

    pub(super) fn revision(self) -> RevisionView {
        let curve = |index| MeasuredRow {
            workload: self.text(),
            parameters: self.text(),
            machine_id: "abc".into(),
            machine_name: self.text(),
            href: "/curves/1".into(),
            compare: (index > 0).then(|| "/compare".into()),
        };
        RevisionView {
            layout: self.layout(),
            subject: self.text(),
            commit: self.text(),
            project: self.text(),
            branch: self.text(),
            branches: "/projects/linux/branches".into(),
            left: self.0 > 1,
            position: (self.0 > 0).then_some(7),
            committed: (self.0 > 0).then(|| self.when()),
            parents: self.many(|_| self.text()),
            before: (self.0 > 0).then(|| (1, self.commit())),
            after: (self.0 > 1).then(|| (2, self.commit())),
            incidents: self.incident_rows(),
            curves: self.many(curve),
            caption: self.text(),
            runs: self.runs(),
        }
    }

    pub(super) fn branches(self) -> BranchesView {
        let row = |_| BranchRow {
            name: self.text(),
            order: "first-parent position",
            left: self.many(|index| (index as i64, self.commit())),
        };
        BranchesView {
            layout: self.layout(),
            project: self.text(),
            action: "/projects/linux/branches".into(),
            form_word: (self.0 > 1).then(|| "word".into()),
            branches: self.many(row),
        }
    }

    pub(super) fn machine(self) -> MachineView {
        let environment = |_| EnvironmentRow { since: self.when(), runs: 3, changes: self.text() };
        MachineView {
            layout: self.layout(),
            merges: (self.0 > 1).then(|| "word".into()),
            id: "abc".into(),
            name: self.text(),
            topology: self.text(),
            registered: self.when(),
            last_seen: (self.0 > 1).then(|| self.when()),
            agent: (self.0 > 0).then(|| (self.when(), self.text())),
            job: (self.0 > 1).then(|| (7, self.text())),
            drawing: (self.0 > 0).then(|| self.figure()),
            caches: self.many(|_| CacheRow {
                name: self.text(),
                size: "32 MiB".into(),
                shared_by: 8,
                instances: 2,
            }),
            identity: self.facts(),
            environments: self.many(environment),
            newest: self.facts(),
            floors: self.many(|_| self.floor()),
            curves: self.pairs(),
            runs: self.runs(),
        }
    }

    pub(super) fn floor(self) -> FloorRow {
        FloorRow {
            workload: self.text(),
            metric: self.text(),
            floor: self.text(),
            source: "A/A runs",
            observations: self.text(),
            seen: self.when(),
            counts: self.0 > 1,
        }
    }
}
