//! Every view with nothing, one and many of everything, and with markup in every text.

use askama::Template;
use scalewatch::chart::{CurveLine, CurvePlot, CurvePoint, Size, svg};
use scalewatch::pages::account::{AccountView, SessionRow};
use scalewatch::pages::api::{
    ApiView, CodeRow, Content, Field, Group, Operation, Parameter, Schema, Type,
};
use scalewatch::pages::audit::{AuditView, DeedRow};
use scalewatch::pages::before_after::BeforeAfter;
use scalewatch::pages::compare::{CompareView, PointRow};
use scalewatch::pages::curve::{
    Cell, CurveView, HistoryRow, LawCells, LawRow, LawsView, MetricTable, RevisionOption,
    RunFigures, ScalingChange, ScalingRow, ScalingView, TableRow, TaskChoice, VerdictLine,
};
use scalewatch::pages::curves::{CurveRow, CurvesView};
use scalewatch::pages::evidence::{CounterRow, StepEvidence};
use scalewatch::pages::failure::FailureView;
use scalewatch::pages::heat::{HeatCell, HeatView};
use scalewatch::pages::incident::{CommitRow, EventRow, IncidentView};
use scalewatch::pages::incidents::{IncidentRow, IncidentRows, IncidentsView, StateChoice};
use scalewatch::pages::job::{JobView, TurnRow};
use scalewatch::pages::jobs::{self, JobRow, JobRows, JobsView};
use scalewatch::pages::login::{LoginView, WelcomeView};
use scalewatch::pages::machine::{EnvironmentRow, FloorRow, MachineView};
use scalewatch::pages::moved::{MovedGroup, MovedRow};
use scalewatch::pages::overview::{MachineRow, OverviewView};
use scalewatch::pages::people::{PeopleView, PersonRow};
use scalewatch::pages::project_compare::{self, CurveGroup, ProjectCompareView};
use scalewatch::pages::revision::{MeasuredRow, RevisionView};
use scalewatch::pages::run::{self, FailedRow, PointView, RunView, SummaryRow, WindowRow};
use scalewatch::pages::search::{RevisionRow, SearchView, WorkloadRow};
use scalewatch::pages::tokens::{TokenForm, TokenRow};
use scalewatch::pages::triage::{May, TriageForm, Way};
use scalewatch::pages::view::{
    ChangeRow, CommitMark, EnvironmentChanges, Evidence, Facts, Figure, Layout, Line, RunRow,
    RunRows, Section, Value, When,
};
use scalewatch::pages::why::{Neighbour, StepView, WhyView};

use crate::support::noon;

/// How many of everything, and what every text says.
#[derive(Clone, Copy)]
struct Sample<'a>(usize, &'a str);

const MARKUP: &str = "<script>alert(\"x\")</script>&'";

#[test]
fn every_page_renders_with_nothing_one_and_many() {
    for n in [0, 1, 7] {
        for (name, html) in every_page(Sample(n, "plain")) {
            assert_well_formed(name, &html);
            assert!(html.contains("plain"), "{name}");
        }
    }
}

#[test]
fn markup_in_any_text_is_shown_and_never_obeyed() {
    for (name, html) in every_page(Sample(2, MARKUP)) {
        assert_well_formed(name, &html);
        assert!(!html.contains("<script>"), "{name}");
        assert!(html.contains("&#60;script&#62;"), "{name} shows it");
    }
}

/// Tags that are opened are closed; tables have captions and headers scopes; ids are unique;
/// nothing needs a style attribute.
fn assert_well_formed(name: &str, html: &str) {
    for tag in ["table", "tr", "section", "details", "figure", "svg", "form", "main", "ul"] {
        let opened =
            html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "<{tag}> in {name}");
    }
    assert_eq!(html.matches("<table").count(), html.matches("<caption").count(), "{name}");
    assert_eq!(
        html.matches("<th ").count() + html.matches("<th>").count(),
        html.matches("scope=\"").count(),
        "{name}"
    );
    assert!(!html.contains("style="), "{name}");
    let mut ids: Vec<_> =
        html.split(" id=\"").skip(1).filter_map(|s| s.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(all, ids.len(), "{name} repeats an id");
    assert!(html.contains("<main id=\"content\">") && html.contains("href=\"#content\""), "{name}");
}

fn every_page(sample: Sample<'_>) -> Vec<(&'static str, String)> {
    let rendered = |view: &dyn askama::DynTemplate| view.dyn_render().expect("the view renders");
    vec![
        ("overview", rendered(&sample.overview())),
        ("curves", rendered(&sample.curves())),
        ("curve", rendered(&sample.curve())),
        ("compare", rendered(&sample.compare())),
        ("incidents", rendered(&sample.incidents())),
        ("incident", rendered(&sample.incident())),
        ("why", rendered(&sample.why())),
        ("machine", rendered(&sample.machine())),
        ("revision", rendered(&sample.revision())),
        ("jobs", rendered(&sample.jobs())),
        ("job", rendered(&sample.job())),
        ("project compare", rendered(&sample.project_compare())),
        ("run", rendered(&sample.run())),
        ("search", rendered(&sample.search())),
        ("api", rendered(&sample.api())),
        ("login", rendered(&sample.login())),
        ("welcome", rendered(&sample.welcome())),
        ("account", rendered(&sample.account())),
        ("people", rendered(&sample.people())),
        ("audit", rendered(&sample.audit())),
        ("failure", sample.failure().render().expect("the view renders")),
    ]
}

impl Sample<'_> {
    fn text(self) -> String {
        self.1.to_owned()
    }

    fn many<T>(self, one: impl Fn(usize) -> T) -> Vec<T> {
        (0..self.0).map(one).collect()
    }

    fn pairs(self) -> Vec<(String, String)> {
        self.many(|_| (self.text(), self.text()))
    }

    fn layout(self) -> Layout {
        let me = (self.0 > 0).then(|| ("/account".into(), self.text()));
        Layout { me, ..Layout::new(self.text(), Section::Curves) }
    }

    fn when(self) -> When {
        When::new(noon(), noon())
    }

    fn commit(self) -> CommitMark {
        CommitMark::new(self.1, self.1)
    }

    fn facts(self) -> Facts {
        Facts { caption: self.text(), key_title: "fact", facts: self.pairs() }
    }

    fn figure(self) -> Figure {
        let point = |index| CurvePoint { tasks: index as u32 + 1, value: 3.5, interval: None };
        let line = CurveLine { label: self.text(), points: self.many(point) };
        let plot = CurvePlot { y_title: self.text(), lines: vec![line], ..CurvePlot::default() };
        let sizes = (Size { width: 600, height: 300 }, Size { width: 300, height: 200 });
        Figure::two(self.text(), sizes, |size| svg::curve(&plot, size))
    }

    fn evidence(self) -> Evidence {
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

    fn runs(self) -> RunRows {
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

    fn incident_rows(self) -> IncidentRows {
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
        };
        IncidentRows { caption: self.text(), rows: self.many(row) }
    }

    fn heat(self) -> HeatView {
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

    fn search(self) -> SearchView {
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

    fn revision(self) -> RevisionView {
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

    fn overview(self) -> OverviewView {
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

    fn curves(self) -> CurvesView {
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

    fn table(self) -> MetricTable {
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

    fn floor(self) -> FloorRow {
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

    fn history_row(self, index: usize) -> HistoryRow {
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

    fn curve(self) -> CurveView {
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

    fn laws(self) -> LawsView {
        let row = |index: usize| LawRow {
            commit: self.commit(),
            tasks: self.text(),
            figures: (index > 0).then(|| vec![self.text(); 4]),
            refusal: self.text(),
        };
        LawsView { figures: self.many(|_| self.figure()), rows: self.many(row) }
    }

    fn scaling(self) -> ScalingView {
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

    fn compare(self) -> CompareView {
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

    fn incidents(self) -> IncidentsView {
        let choice =
            |index| StateChoice { name: "open", href: "/incidents".into(), chosen: index == 0 };
        IncidentsView {
            layout: self.layout(),
            choices: self.many(choice),
            incidents: self.incident_rows(),
        }
    }

    fn moved(self) -> MovedGroup {
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

    fn incident(self) -> IncidentView {
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

    fn why(self) -> WhyView {
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

    fn jobs(self) -> JobsView {
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
            choices: self.many(|index| jobs::StateChoice {
                name: "open",
                href: "/jobs?state=open".into(),
                chosen: index == 0,
            }),
            filters: self.pairs(),
            jobs: JobRows { caption: self.text(), rows: self.many(row) },
            older: (self.0 > 1).then(|| "/jobs?after=7".into()),
        }
    }

    fn job(self) -> JobView {
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

    fn project_compare(self) -> ProjectCompareView {
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

    fn machine(self) -> MachineView {
        let environment = |_| EnvironmentRow { since: self.when(), runs: 3, changes: self.text() };
        MachineView {
            layout: self.layout(),
            id: "abc".into(),
            name: self.text(),
            topology: self.text(),
            registered: self.when(),
            last_seen: (self.0 > 1).then(|| self.when()),
            agent: (self.0 > 0).then(|| (self.when(), self.text())),
            job: (self.0 > 1).then(|| (7, self.text())),
            identity: self.facts(),
            environments: self.many(environment),
            newest: self.facts(),
            floors: self.many(|_| self.floor()),
            curves: self.pairs(),
            runs: self.runs(),
        }
    }

    fn run_curve(self) -> run::CurveView {
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

    fn run(self) -> RunView {
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

    fn api(self) -> ApiView {
        let kind = || Type {
            before: self.text(),
            schema: (self.0 > 0).then(|| self.text()),
            after: self.text(),
        };
        let parameter = |_| Parameter {
            name: self.text(),
            place: self.text(),
            kind: kind(),
            required: self.0 == 1,
            words: self.text(),
        };
        let content = |_| Content {
            name: self.text(),
            words: self.text(),
            types: self.many(|_| (self.text(), kind())),
        };
        let operation = |id: String| Operation {
            id,
            method: self.text(),
            path: self.text(),
            summary: self.text(),
            words: self.text(),
            scope: (self.0 > 1).then(|| self.text()),
            parameters: self.many(parameter),
            contents: self.many(content),
            refusals: self.text(),
        };
        let group = |i| Group {
            name: self.text(),
            words: self.text(),
            operations: self.many(|j| operation(format!("operation-{i}-{j}"))),
        };
        let code = |i| CodeRow {
            code: format!("code-{i}"),
            statuses: self.text(),
            title: self.text(),
            meaning: self.text(),
        };
        let field = |_| Field {
            name: self.text(),
            kind: kind(),
            required: self.0 == 1,
            words: self.text(),
        };
        let schema = |i| Schema {
            name: format!("{}{i}", self.1),
            words: self.text(),
            kind: (self.0 == 1).then(kind),
            fields: self.many(field),
        };
        ApiView {
            layout: self.layout(),
            words: self.many(|_| self.text()),
            groups: self.many(group),
            codes: self.many(code),
            schemas: self.many(schema),
        }
    }

    fn login(self) -> LoginView {
        LoginView {
            layout: self.layout(),
            form_word: "abc".into(),
            next: "/".into(),
            name: self.text(),
            refusal: (self.0 > 0).then(|| self.text()),
        }
    }

    fn welcome(self) -> WelcomeView {
        WelcomeView {
            layout: self.layout(),
            form_word: "abc".into(),
            code: self.text(),
            name: self.text(),
            shortest: 10,
        }
    }

    fn account(self) -> AccountView {
        let session = |index| SessionRow {
            id: index as i64,
            browser: self.text(),
            address: "192.0.2.1".into(),
            created: self.when(),
            seen: self.when(),
            is_this: index == 0,
        };
        let token = |index| TokenRow {
            id: index as i64,
            name: self.text(),
            scope: self.text(),
            state: self.text(),
            used: (index > 0).then(|| self.when()),
            is_over: index == 1,
        };
        AccountView {
            layout: self.layout(),
            form_word: "abc".into(),
            name: self.text(),
            is_owner: self.0 == 0,
            is_admin: self.0 == 1,
            gives_roles: self.0 > 1,
            roles: self.pairs(),
            has_password: self.0 > 1,
            shortest: 10,
            sessions: self.many(session),
            secret: (self.0 > 1).then(|| (self.text(), self.text())),
            tokens: self.many(token),
            token_form: TokenForm {
                scopes: self.many(|_| "read"),
                projects: self.many(|_| self.text()),
                machines: self.pairs(),
            },
        }
    }

    fn people(self) -> PeopleView {
        let person = |index| PersonRow {
            name: self.text(),
            rights: self.text(),
            state: "can log in",
            last_login: (index > 0).then(|| self.when()),
            is_admin: index == 0,
            is_disabled: index == 1,
            is_self: index == 2,
        };
        PeopleView {
            layout: self.layout(),
            form_word: "abc".into(),
            is_site_admin: self.0 > 1,
            link: (self.0 > 0).then(|| (self.text(), self.text())),
            people: self.many(person),
            projects: self.many(|index| (self.text(), index == 0)),
            roles: self.many(|_| "viewer"),
        }
    }

    fn audit(self) -> AuditView {
        let row = |_| DeedRow {
            at: self.when(),
            who: self.text(),
            origin: self.text(),
            what: self.text(),
            about: self.text(),
            change: self.text(),
        };
        AuditView {
            layout: self.layout(),
            rows: self.many(row),
            older: (self.0 > 1).then(|| "/admin/audit?before=3".into()),
        }
    }

    fn failure(self) -> FailureView {
        FailureView {
            layout: self.layout(),
            heading: self.text(),
            detail: self.text(),
            advice: self.text(),
            number: (self.0 > 0).then(|| "0123abcd".into()),
        }
    }
}
